"""Texts of Python: annotations, expressions, literals and the values that they are written for."""

from __future__ import annotations

import ast
import re
import sys
import typing
from ast import literal_eval
from cmath import isfinite
from collections.abc import Iterator
from functools import lru_cache, partial
from inspect import formatannotation
from keyword import iskeyword

_PLACE = re.compile(r"[^\[\](){}|,'\"]*\.<\w+>\.")
"""The part before the name of a class in a function: `shop.model.make.<locals>.`."""

_LAYER = re.compile(r"torch\.nn\.(?:modules\.\w+|parameter)\.(?P<name>[A-Z]\w*)")
"""A class of torch.nn, under the name of the file that it is written in."""


def annotation_text(annotation: object) -> str:
    """The annotation as an expression, whatever the modules are called.

    >>> annotation_text(int | None)
    'int | None'
    """
    if isinstance(annotation, str):
        return annotation
    text = _LAYER.sub(_exported, _PLACE.sub("", formatannotation(annotation)))
    if not _is_expression(text):  # a module may have any name: `runpy.run_path` calls it `<run_path>`
        for module in filter(None, _modules(annotation)):
            text = text if _is_expression(module) else text.replace(f"{module}.", "")
    return text if _is_expression(text) else repr(text)


def _modules(annotation: object) -> Iterator[str]:
    """The names of the modules of the classes in an annotation."""
    yield str(getattr(annotation, "__module__", ""))
    for argument in typing.get_args(annotation):
        yield from _modules(argument)


def _exported(found: re.Match[str]) -> str:
    """`torch.nn.Linear` for `torch.nn.modules.linear.Linear`, where that is the same class."""
    layer = getattr(sys.modules.get("torch.nn"), found["name"], None)
    is_same = f"{getattr(layer, '__module__', '')}.{found['name']}" == found[0]
    return f"torch.nn.{found['name']}" if is_same else found[0]


@lru_cache(maxsize=256)
def _is_expression(text: str) -> bool:
    try:
        ast.parse(text, mode="eval")
    except SyntaxError:
        return False
    return True


_PLAIN = r"[\w .+\-*/%()\[\]<>=!,]{1,100}"
_OTHER_NUMBERS = r"\b\d+[^\W\d]|\b0\d"


@lru_cache(maxsize=1024)
def expression_text(text: str) -> str:
    """The canonical text of an expression that is valid Python.

    >>> expression_text("3*dim"), expression_text("( a+b )*2"), expression_text("dim")
    ('3 * dim', '(a + b) * 2', 'dim')

    Raises:
        SyntaxError: it is not.
    """
    return text if text.isidentifier() and not iskeyword(text) else ast.unparse(ast.parse(text, mode="eval"))


def is_plain(text: str) -> bool:
    """True if an expression has nothing in it that Python may read otherwise than the language of expressions does.

    >>> is_plain("3*dim"), is_plain("dim # half"), is_plain("0x10")
    (True, False, False)
    """
    if not text.isascii() or re.fullmatch(_PLAIN, text) is None or re.search(_OTHER_NUMBERS, text) is not None:
        return False
    return "," not in text or _has_tuples_in_parentheses(text)


def _has_tuples_in_parentheses(text: str) -> bool:
    """True if each comma stands in parentheses, as in `max(a, b)`: Python reads a tuple without them, too."""
    around: list[str] = []
    for character in text:
        if character in "([":
            around.append(character)
        elif character in ")]" and around:
            around.pop()
        elif character == "," and around[-1:] != ["("]:
            return False
    return True


_SCALARS = (type(None), bool, int, float, complex, str, bytes)


def literal_of(value: object) -> str | None:
    """The canonical literal of an immutable value; None if it has none.

    >>> literal_of(1e-3), literal_of((1, "a")), literal_of([]), literal_of(float("inf"))
    ('0.001', "(1, 'a')", None, None)
    """
    if not _is_constant(value):
        return None
    try:
        text = repr(value)
        if type(value) is tuple:
            literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None  # an integer with more digits than Python writes, or more nested tuples than it reads
    return text


def _is_constant(value: object) -> bool:
    if type(value) is tuple:
        return all(_is_constant(item) for item in value)
    if isinstance(value, float | complex) and not isfinite(value):
        return False  # its repr is a name
    return type(value) in _SCALARS


def double_quoted(literal: str) -> str:
    """The canonical text of a literal, a string in double quotes where that needs no escapes.

    >>> double_quoted("'train'"), double_quoted("0.001")
    ('"train"', '0.001')
    """
    if literal[:1] == "(" and type(value := literal_eval(literal)) is tuple:
        items = [double_quoted(repr(item)) for item in value]
        return f"({', '.join(items)}{',' if len(items) == 1 else ''})"
    return f'"{literal[1:-1]}"' if literal[:1] == "'" and '"' not in literal else literal


_MISSING = object()
_TORCH_HOMES = ("torch", "torch.nn", "torch.nn.init", "torch.nn.functional")


def written_as(value: object, text: str) -> bool:
    """True if `text`, as written in generated code, means this value.

    >>> written_as("train", "'train'")
    True
    """
    if text.startswith("functools.partial("):
        found = partial_of_torch(value)
        return found is not None and partial_text(*found) == text
    if not text.startswith("torch."):
        return literal_of(value) == text
    resolved: object = sys.modules["torch"]
    for part in text.split(".")[1:]:
        resolved = getattr(resolved, part, _MISSING)
    return resolved is value


def torch_name(value: object) -> str | None:
    """The public name of a torch object in one of `_TORCH_HOMES`; None if it is in none of them."""
    plain = getattr(value, "__name__", None) or str(value).removeprefix("torch.")
    if not isinstance(plain, str) or not plain.isidentifier():
        return None
    for home in _TORCH_HOMES:
        if getattr(sys.modules.get(home), plain, None) is value:
            return f"{home}.{plain}"
    return None


def partial_of_torch(value: object) -> tuple[str, tuple[tuple[str, str], ...]] | None:
    """The function and keywords of a `functools.partial` of a torch function with literal keywords; None for anything else."""
    if type(value) is not partial or value.args:
        return None
    name, keywords = torch_name(value.func), [(key, literal_of(given)) for key, given in value.keywords.items()]
    written = tuple((key, given) for key, given in keywords if given is not None)
    return None if name is None or len(written) < len(keywords) else (name, written)


def partial_text(function: str, keywords: tuple[tuple[str, str], ...]) -> str:
    """The canonical text of such a partial: `functools.partial(torch.nn.init.normal_, std=0.02)`."""
    return f"functools.partial({', '.join([function, *(f'{name}={given}' for name, given in keywords)])})"


_OF_NO_NODES = frozenset(
    {"ctx", "op", "ops", "id", "attr", "arg", "kind", "level", "simple", "type_comment", "kwd_attrs"}
)
_WITH_OTHERS = frozenset({"names", "keys", "kw_defaults"})
"""The lists of nodes that may hold strings or None too."""

_FIELDS: dict[type[ast.AST], tuple[str, ...]] = {ast.Constant: ()}
"""The fields that may hold nodes, for each kind of node that was met."""


def children_of(node: ast.AST) -> list[ast.AST]:
    """The nodes below one, without contexts and operators, which are half of the nodes of a tree."""
    kind = node.__class__
    if kind not in _FIELDS:
        _FIELDS[kind] = tuple(name for name in kind._fields if name not in _OF_NO_NODES)
    found: list[ast.AST] = []
    for name in _FIELDS[kind]:
        value = getattr(node, name, None)
        if isinstance(value, list):
            found += [each for each in value if isinstance(each, ast.AST)] if name in _WITH_OTHERS else value
        elif isinstance(value, ast.AST):
            found.append(value)
    return found


def below(tree: ast.AST) -> list[ast.AST]:
    """A node and the nodes below it, level by level, without contexts and operators."""
    found = [tree]
    for node in found:  # which grows
        found += children_of(node)
    return found
