"""The parameters of a user function, as a stub writes them."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator
from enum import Enum
from typing import TYPE_CHECKING

from ..common.records import record, replace

if TYPE_CHECKING:
    from .stub_names import StubNames


class Passed(Enum):
    """How a parameter is given."""

    POSITION = "position"
    POSITION_OR_KEYWORD = "position or keyword"
    ALL_POSITIONS = "all positions"
    KEYWORD = "keyword"
    ALL_KEYWORDS = "all keywords"


@record(frozen=True, slots=True)
class Parameter:
    """A parameter of a function: `scale: float = 1.0`."""

    name: str
    kind: Passed
    type: str = ""
    """Its annotation as written; empty without one."""
    default: str = ""
    """The text of its default; empty without one."""

    def text(self, names: StubNames, module: str = "") -> str:
        """The parameter as a stub writes it. Its annotation is read in a module of the run."""
        stars = {Passed.ALL_POSITIONS: "*", Passed.ALL_KEYWORDS: "**"}.get(self.kind, "")
        type = names.text(self.type, module) if self.type else f"{names.aliases.use('_t')}.Any"
        if self.default == "None" and self.type and not _may_be_none(self.type):
            type = f"{type} | None"  # checkers report it where the function is; its callers can leave the argument out
        return f"{stars}{self.name}: {type}{f' = {self.default}' if self.default else ''}"


def _may_be_none(annotation: str) -> bool:
    """Whether None is of the type as far as the text of the annotation says."""
    tree = ast.parse(annotation, mode="eval")
    said = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    said |= {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    quoted = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    none = any(isinstance(node, ast.Constant) and node.value is None for node in ast.walk(tree))
    return none or not said.isdisjoint({"Any", "Optional", "object"}) or any("None" in text for text in quoted)


def parsed(parameters: str) -> tuple[Parameter, ...]:
    """The parameters of a function, from the text between its parentheses.

    >>> [(parameter.name, parameter.type) for parameter in parsed("x: int, *, mode: str = ', '")]
    [('x', 'int'), ('mode', 'str')]
    """
    if not parameters:
        return ()
    text = f"def f({parameters}): ..."
    (function,) = ast.parse(text).body
    assert isinstance(function, ast.FunctionDef)
    return tuple(_parameters(function.args, text))


def _parameters(found: ast.arguments, text: str) -> Iterator[Parameter]:
    """The parameters among the arguments of a function, in the order in which they are written."""

    def made(node: ast.arg, kind: Passed, default: ast.expr | None = None) -> Parameter:
        type = ast.get_source_segment(text, node.annotation) if node.annotation is not None else None
        given = ast.get_source_segment(text, default) if default is not None else None
        return Parameter(node.arg, kind, type or "", given or "")

    positional = [*found.posonlyargs, *found.args]
    defaults = [*[None] * (len(positional) - len(found.defaults)), *found.defaults]
    for index, (node, default) in enumerate(zip(positional, defaults, strict=True)):
        yield made(node, Passed.POSITION if index < len(found.posonlyargs) else Passed.POSITION_OR_KEYWORD, default)
    if found.vararg is not None:
        yield made(found.vararg, Passed.ALL_POSITIONS)
    for node, default in zip(found.kwonlyargs, found.kw_defaults, strict=True):
        yield made(node, Passed.KEYWORD, default)
    if found.kwarg is not None:
        yield made(found.kwarg, Passed.ALL_KEYWORDS)


def as_written(parameters: Iterable[Parameter], names: StubNames, module: str = "") -> list[str]:
    """The texts of some parameters, with the `/` and the `*` that they need between them."""
    texts: list[str] = []
    kinds = [parameter.kind for parameter in parameters]
    for parameter, before in zip(parameters, [None, *kinds], strict=False):
        if before is Passed.POSITION and parameter.kind is not Passed.POSITION:
            texts.append("/")
        if parameter.kind is Passed.KEYWORD and before not in (Passed.KEYWORD, Passed.ALL_POSITIONS):
            texts.append("*")
        texts.append(parameter.text(names, module))
    return [*texts, "/"] if kinds and kinds[-1] is Passed.POSITION else texts


def of_call(handler: Iterable[Parameter], type: str) -> tuple[Parameter, ...]:
    """The parameters of a call that runs a handler: an object of `type` by position; the rest is passed on by keyword."""
    parameters = tuple(handler)
    # The first two are the module and the object.
    positional = [found for found in parameters if found.kind in (Passed.POSITION, Passed.POSITION_OR_KEYWORD)]
    by_keyword = [
        *(found for found in positional[2:] if found.kind is Passed.POSITION_OR_KEYWORD),
        *(found for found in parameters if found.kind is Passed.KEYWORD),
    ]
    # A keyword of that name would be the module once more.
    keywords = [replace(found, kind=Passed.KEYWORD) for found in by_keyword if found.name != "self"]
    others = [found for found in parameters if found.kind is Passed.ALL_KEYWORDS]
    name = positional[1].name if len(positional) > 1 else "obj"
    taken = {"self", *(parameter.name for parameter in keywords)}
    obj = Parameter(_free(name, taken), Passed.POSITION, type)
    return (obj, *keywords, *(replace(other, name=_free(other.name, {*taken, obj.name})) for other in others))


def _free(name: str, taken: Collection[str]) -> str:
    """The name, with underscores where it is taken."""
    return next(found for count in range(len(taken) + 1) if (found := f"{name}{'_' * count}") not in taken)
