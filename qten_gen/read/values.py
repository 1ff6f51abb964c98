"""Reads expressions: values, calls of specifiers, and the objects that they make."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple, Protocol, TypeGuard, runtime_checkable

from ..common.fingerprint_rows import DATACLASS_FIELD_DEFAULTS
from ..common.python_text import literal_of
from ..model import Argument, Choice, NodePath, Partial, SpecifierCall, Value, as_submodule, language
from . import dimensions
from .bindings import COMPREHENSION, dotted, string_value
from .dotted_names import Scope
from .syntax import characters, refuse_depth

_PARTIAL = "functools.partial"
_CONTAINERS = frozenset({"builtins.dict", "builtins.list", "builtins.tuple", "collections.OrderedDict", _PARTIAL})
DISPLAYS = ast.List | ast.Tuple | ast.Set | ast.Dict | ast.ListComp | ast.SetComp | ast.DictComp

_NO_OBJECTS = frozenset(
    {"data_ptr", "dim", "element_size", "item", "nelement", "numel", "numpy", "parameters", "size", "tolist"}
)
"""Methods of tensors and modules whose result is neither."""


def made(node: ast.expr, scope: Scope) -> Iterator[str]:
    """The qualified names of what an expression calls and keeps the result of, in containers and partials too.

    What a lambda calls is left out, because it makes an object for each call; its defaults are made once. The arguments of other
    functions are left out too, because those may use them up.
    """
    match node:
        case ast.List() | ast.Tuple() | ast.Set():
            for element in node.elts:
                yield from made(element, scope)
        case ast.Dict():
            for part in (*filter(None, node.keys), *node.values):
                yield from made(part, scope)
        case ast.Starred():
            yield from made(node.value, scope)
        case ast.ListComp() | ast.SetComp():
            yield from made(node.elt, scope)
        case ast.DictComp():
            yield from made(node.value, scope)
        case ast.Lambda():
            for default in (*node.args.defaults, *filter(None, node.args.kw_defaults)):
                yield from made(default, scope)
        case ast.Attribute(value=ast.Call() as call, attr="forward" | "__call__"):  # a bound method keeps its object
            yield from made(call, scope)
        case ast.IfExp():
            yield from made(node.body, scope)
            yield from made(node.orelse, scope)
        case ast.BoolOp():
            for value in node.values:
                yield from made(value, scope)
        case ast.NamedExpr():
            yield from made(node.value, scope)
        case ast.Call():
            yield from _of_call(node, scope)


def specifiers(node: ast.expr, scope: Scope) -> Iterator[str]:
    """The specifiers that an expression calls anywhere, except in a lambda, which runs later."""
    if isinstance(node, ast.Lambda | ast.Name | ast.Attribute | ast.Constant):
        return
    if isinstance(node, ast.Call) and (name := scope.resolve(dotted(node.func) or "")) in language.SPECIFIERS:
        yield name  # a specifier among its arguments is a part of it
        return
    for part in ast.iter_child_nodes(node):
        inside = part.value if isinstance(part, ast.keyword) else part
        if isinstance(inside, ast.expr):
            yield from specifiers(inside, scope)


def is_container(node: ast.expr, scope: Scope) -> bool:
    """True if the objects that an expression makes are inside a container or a partial."""
    if isinstance(node, ast.Call):
        return scope.resolve(dotted(node.func) or "") in _CONTAINERS
    return isinstance(node, DISPLAYS)


def is_callable(node: ast.expr, scope: Scope) -> bool:
    """True if what an expression makes may be called, as far as the text shows: a list, a dict, a tuple and the like may not."""
    if isinstance(node, ast.Call):
        return scope.resolve(dotted(node.func) or "") not in _CONTAINERS - {_PARTIAL}
    return not isinstance(node, DISPLAYS)


def _of_call(node: ast.Call, scope: Scope) -> Iterator[str]:
    name = dotted(node.func)
    resolved = scope.resolve(name or "")
    if resolved in _CONTAINERS:
        for argument in (*node.args, *(keyword.value for keyword in node.keywords)):
            yield from made(argument, scope)
    elif name is not None:
        yield resolved
    elif isinstance(node.func, ast.Attribute) and node.func.attr not in _NO_OBJECTS:
        yield from made(node.func.value, scope)


class CallArgument(NamedTuple):
    """An argument of a call, and the place of its value."""

    keyword: str | None
    """The keyword; None for a positional or an unpacked argument."""
    star: str
    """`*` or `**` for an unpacked argument; otherwise empty."""
    value: ast.expr
    place: NodePath


def call_arguments(node: ast.Call, place: NodePath) -> list[CallArgument]:
    """All arguments of a call. The syntax tree lists keywords apart, but `f(x=1, *rest)` is valid."""
    found = [*positional(node.args, place / "args"), *keywords(node.keywords, place / "keywords")]
    return sorted(found, key=lambda argument: (argument.value.lineno, argument.value.col_offset))


def positional(nodes: Iterable[ast.expr], place: NodePath) -> Iterator[CallArgument]:
    """The arguments without a keyword, of a call or of a class statement."""
    for index, node in enumerate(nodes):
        if isinstance(node, ast.Starred):
            yield CallArgument(None, "*", node.value, place / index / "value")
        else:
            yield CallArgument(None, "", node, place / index)


def keywords(nodes: Iterable[ast.keyword], place: NodePath) -> Iterator[CallArgument]:
    """The arguments with a keyword, and unpacked mappings."""
    for index, node in enumerate(nodes):
        yield CallArgument(node.arg, "" if node.arg else "**", node.value, place / index / "value")


def called(node: ast.expr) -> ast.expr:
    """The function of a call, such as a decorator with arguments; any other expression itself."""
    return node.func if isinstance(node, ast.Call) else node


@runtime_checkable
class Written(Protocol):
    """A node of a syntax tree that says where it is written."""

    lineno: int
    col_offset: int
    end_lineno: int | None
    end_col_offset: int | None


class Extent(NamedTuple):
    """Where something is written. Lines count from 1, columns are the characters before it; `end_column` is exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int


def text_of(node: ast.expr, lines: Sequence[str]) -> str:
    """The text of an expression on one line, without parentheses around it. If it was written on one line, it is unchanged."""
    text = segment(extent(node, lines), lines)
    if "\n" not in text:
        return text
    try:
        return ast.unparse(node)
    except ValueError:  # an integer with too many digits to be written
        return " ".join(text.split())


def extent(node: Written, lines: Sequence[str]) -> Extent:
    """Where a node is written, without parentheses around it."""
    line, last = node.lineno, node.end_lineno or node.lineno
    end = node.col_offset if node.end_col_offset is None else node.end_col_offset
    return Extent(line, characters(lines[line - 1], node.col_offset), last, characters(lines[last - 1], end))


def segment(where: Extent, lines: Sequence[str]) -> str:
    """The text that stands there, with its line breaks."""
    first, last = lines[where.line - 1], lines[where.end_line - 1]
    if where.line == where.end_line:
        return first[where.column : where.end_column]
    return "\n".join([first[where.column :], *lines[where.line : where.end_line - 1], last[: where.end_column]])


def value(node: ast.expr, place: NodePath, scope: Scope) -> Value:
    """Read a value. `const("zeros")` is the value of its argument."""
    if is_const(node, scope):
        arguments = call_arguments(node, place)
        if len(arguments) == 1:
            return value(arguments[0].value, arguments[0].place, scope)
    return plain_value(node, place, scope)


def is_const(node: ast.expr, scope: Scope) -> TypeGuard[ast.Call]:
    """True if an expression is a call of `const`."""
    return isinstance(node, ast.Call) and scope.resolve(dotted(node.func) or "") == language.CONST


def plain_value(node: ast.expr, place: NodePath, scope: Scope) -> Value:
    """Read a value where `const(...)` is an object like any other: as a class keyword, or in place of an expression."""
    if isinstance(node, ast.Call) and scope.resolve(dotted(node.func) or "") == language.CHOICE:
        return _choice(node, place, scope)
    name = scope.resolve(dotted(node) or "")
    return Value(
        text_of(node, scope.lines),
        literal=literal(node),
        torch_name=name if name.startswith("torch.") else None,
        partial=_partial(node, scope),
        name=name,
        contains=tuple(dict.fromkeys((*made(node, scope), *specifiers(node, scope)))),
        is_container=is_container(node, scope),
        is_callable=is_callable(node, scope),
        place=place,
    )


def _choice(node: ast.Call, place: NodePath, scope: Scope) -> Value:
    """`choice("act", {"relu": nn.ReLU})`. Options that are not written out, with literals for keys, are unknown."""
    text = text_of(node, scope.lines)
    arguments = call_arguments(node, place)
    if len(arguments) not in (1, 2) or any(each.keyword or each.star for each in arguments):
        return Value(text, choice=Choice(None, place=place), place=place)
    by = arguments[0]
    selector = string_value(by.value)
    shown = text_of(by.value, scope.lines) if selector is None else selector
    parsed = None if selector is None else dimensions.parse(selector)
    if len(arguments) == 1 or literal(arguments[1].value) == "None":
        return Value(text, choice=Choice(parsed, None, True, shown, by.place), place=place)
    given = arguments[1]
    options = _options(given.value, given.place, scope) if isinstance(given.value, ast.Dict) else None
    return Value(
        text,
        contains=tuple(made(given.value, scope)),
        is_container=True,
        choice=Choice(parsed, options, False, shown, by.place),
        place=place,
    )


def _options(node: ast.Dict, place: NodePath, scope: Scope) -> tuple[tuple[str, Value], ...] | None:
    """The options of a choice by the text of their keys; None where a key is not a literal."""
    found: list[tuple[str, Value]] = []
    for index, (key, option) in enumerate(zip(node.keys, node.values, strict=True)):
        text = None if key is None else literal(key)
        if text is None:
            return None
        found.append((text, value(option, place / "values" / index, scope)))
    return tuple(found)


def _partial(node: ast.expr, scope: Scope) -> Partial | None:
    """A `functools.partial` of a torch function with literal keywords; None for anything else."""
    if not isinstance(node, ast.Call) or scope.resolve(dotted(node.func) or "") != "functools.partial":
        return None
    function = scope.resolve(dotted(node.args[0]) or "") if len(node.args) == 1 else ""
    if not function.startswith("torch."):
        return None
    keywords = [(keyword.arg, literal(keyword.value)) for keyword in node.keywords]
    written = tuple((keyword, given) for keyword, given in keywords if keyword and given is not None)
    return Partial(function, written) if len(written) == len(keywords) else None


def literal(node: ast.expr) -> str | None:
    """The canonical text of an immutable Python literal; None for anything else.

    >>> [literal(ast.parse(text, mode="eval").body) for text in ("1e-3", "(1,'a')", "[]", "name")]
    ['0.001', "(1, 'a')", None, None]
    """
    try:
        return literal_of(ast.literal_eval(node))
    except (ValueError, TypeError, RecursionError):
        return None


_COMPUTED = ast.Call | ast.Lambda | COMPREHENSION | ast.NamedExpr | ast.Await | ast.Yield | ast.YieldFrom
_LARGEST_CONSTANT = 60
"""The number of nodes in the expressions that are kept as constants."""


def constant_text(node: ast.expr, scope: Scope) -> str | None:
    """The text of an expression that may be a constant, such as `2 * SIZE`; None for a call, a lambda and the like."""
    parts = [*islice(ast.walk(node), _LARGEST_CONSTANT + 1)]  # the rest of a large expression need not be walked over
    if len(parts) > _LARGEST_CONSTANT or any(isinstance(part, _COMPUTED) for part in parts):
        return None
    return text_of(node, scope.lines)


def specifier(node: ast.expr, place: NodePath, scope: Scope) -> SpecifierCall | None:
    """The field specifier that `node` calls; None if it does not call one."""
    if not isinstance(node, ast.Call):
        return None
    refuse_depth(place)
    name = scope.resolve(dotted(node.func) or "")
    if name == language.DATACLASS_FIELD:
        return _dataclass_field(node, place, scope)
    if name not in language.SPECIFIERS and name != language.VIRTUAL:
        return None
    given = (_argument(name, index, given, scope) for index, given in enumerate(call_arguments(node, place)))
    arguments = (argument for argument in given if not _is_left_out(name, argument))
    if name == language.SEQUENTIAL:
        return as_submodule(arguments, place)
    return SpecifierCall(name, tuple(arguments), place)


def check_call(node: ast.stmt, place: NodePath, scope: Scope) -> SpecifierCall | None:
    """The statement `check("dim % heads == 0")`; None for any other statement."""
    if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Call):
        return None
    if scope.resolve(dotted(node.value.func) or "") != language.CHECK:
        return None
    where = place / "value"
    given = enumerate(call_arguments(node.value, where))
    return SpecifierCall(language.CHECK, tuple(_argument(language.CHECK, i, one, scope) for i, one in given), where)


def _nested_call(given: CallArgument, scope: Scope) -> SpecifierCall | None:
    """A submodule among the arguments of another, or None."""
    found = specifier(given.value, given.place, scope)
    return found if found is not None and found.name == language.SUBMODULE else None


def _dataclass_field(node: ast.Call, place: NodePath, scope: Scope) -> SpecifierCall:
    """A call of `dataclasses.field` as one of ours, without arguments that say what holds anyway, such as `repr=True`."""
    found = (_argument(language.FIELD, i, given, scope) for i, given in enumerate(call_arguments(node, place)))
    arguments = tuple(argument for argument in found if not _is_usual(argument))
    return SpecifierCall(language.FIELD, arguments, place, of_dataclasses=True)


def _is_usual(argument: Argument) -> bool:
    """True if an argument of `dataclasses.field` says what holds anyway."""
    if argument.keyword not in DATACLASS_FIELD_DEFAULTS or not isinstance(argument.value, Value):
        return False
    return argument.value.literal == repr(DATACLASS_FIELD_DEFAULTS[argument.keyword])


def _is_left_out(specifier_name: str, argument: Argument) -> bool:
    """True if a keyword is given as None, as good as left out."""
    is_own = argument.keyword in _LEFT_OUT and argument.keyword in language.SPECIFIER_KEYWORDS[specifier_name]
    return is_own and isinstance(argument.value, Value) and argument.value.literal == "None"


_LEFT_OUT = frozenset({language.WHEN, language.REPEAT, language.ALIAS, "keys", "group", "value"})


def _argument(specifier_name: str, position: int, given: CallArgument, scope: Scope) -> Argument:
    """An argument of a specifier. Dimensions are parsed. Unpacked arguments are values whose text starts with a star."""
    keyword, place = given.keyword, given.place
    if given.star:
        return Argument(keyword, Value(given.star + text_of(given.value, scope.lines), place=place), place)
    takes_child = (
        specifier_name in (language.SUBMODULE, language.SEQUENTIAL)
        and keyword not in language.SPECIFIER_KEYWORDS[language.SUBMODULE]
    )
    if takes_child and (call := _nested_call(given, scope)) is not None:
        return Argument(keyword, call, place)
    text = None
    if language.takes_dimension(specifier_name, position, keyword):
        # To a child, only a string is an expression: a number is itself.
        is_passed_on = specifier_name == language.SUBMODULE and keyword != language.REPEAT
        text = string_value(given.value) if is_passed_on or keyword == language.WHEN else _dimension(given.value)
        if text is None and not is_passed_on and is_const(given.value, scope):
            return Argument(keyword, plain_value(given.value, place, scope), place)
    if text is None:
        return Argument(keyword, value(given.value, place, scope), place)
    return Argument(keyword, dimensions.parse(text), place, text)


def _dimension(node: ast.expr) -> str | None:
    """The text of a dimension written as a string or an integer; None for other values."""
    text = string_value(node)
    if text is None and isinstance(node, ast.Constant | ast.UnaryOp):
        number = literal(node)
        # Neither `True` nor `1.5` is a dimension.
        return number if number is not None and number.lstrip("-").isdigit() else None
    return text
