"""Reads values and field specifiers, which are on the right of a field."""

from __future__ import annotations

import ast

import libcst as cst

from ..common.literals import literal_of
from ..common.specifier_records import DATACLASS_FIELD_DEFAULTS
from ..model import Argument, NodePath, Partial, SpecifierCall, Value, language, takes_dimension
from . import dimensions
from .annotations import one_line, string_value, text_of
from .imports import dotted
from .made_objects import is_callable, is_container, made
from .names import Scope


def value(node: cst.BaseExpression, place: NodePath, scope: Scope) -> Value:
    """Read a value. `const("zeros")` is the value of its argument."""
    if isinstance(node, cst.Call) and scope.resolve(dotted(node.func) or "") == language.CONST and len(node.args) == 1:
        return value(node.args[0].value, place / "args" / 0 / "value", scope)
    text = one_line(text_of(node))
    name = scope.resolve(dotted(node) or "")
    torch_name = name if name.startswith("torch.") else None
    return Value(
        text,
        literal=literal(text),
        torch_name=torch_name,
        partial=_partial(node, scope),
        name=name,
        contains=tuple(made(node, scope)),
        is_container=is_container(node, scope),
        is_callable=is_callable(node, scope),
        place=place,
    )


def _partial(node: cst.BaseExpression, scope: Scope) -> Partial | None:
    """A `functools.partial` of a torch function with literal keywords; None for anything else."""
    if not isinstance(node, cst.Call) or not node.args:
        return None
    if scope.resolve(dotted(node.func) or "") != "functools.partial":
        return None
    function, *rest = node.args
    name = scope.resolve(dotted(function.value) or "")
    if function.keyword or function.star or not name.startswith("torch."):
        return None
    keywords = [(arg.keyword.value if arg.keyword else "", literal(text_of(arg.value))) for arg in rest]
    written = tuple((keyword, given) for keyword, given in keywords if keyword and given is not None)
    return Partial(name, written) if len(written) == len(keywords) else None


def literal(text: str) -> str | None:
    """The canonical text of an immutable Python literal; None for anything else.

    >>> literal("1e-3"), literal("(1,'a')"), literal("[]"), literal("name")
    ('0.001', "(1, 'a')", None, None)
    """
    try:
        return literal_of(ast.literal_eval(text))
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
        return None


def specifier(node: cst.BaseExpression, place: NodePath, scope: Scope) -> SpecifierCall | None:
    """The field specifier that `node` calls; None if it does not call one."""
    if not isinstance(node, cst.Call):
        return None
    name = scope.resolve(dotted(node.func) or "")
    if name == language.DATACLASS_FIELD:
        return _dataclass_field(node, place, scope)
    if name not in language.SPECIFIERS and name != language.VIRTUAL:
        return None
    arguments = (_argument(name, i, arg, place / "args" / i / "value", scope) for i, arg in enumerate(node.args))
    return SpecifierCall(name, tuple(arguments), place)


def _nested_call(node: cst.BaseExpression, place: NodePath, scope: Scope) -> SpecifierCall | None:
    """A submodule among the arguments of another, or None."""
    found = specifier(node, place, scope)
    return found if found is not None and found.name == language.SUBMODULE else None


def _dataclass_field(node: cst.Call, place: NodePath, scope: Scope) -> SpecifierCall:
    """A call of `dataclasses.field` as one of ours, without arguments that say what holds anyway, such as `repr=True`."""
    found = (_argument(language.FIELD, i, arg, place / "args" / i / "value", scope) for i, arg in enumerate(node.args))
    arguments = tuple(argument for argument in found if not _is_usual(argument))
    return SpecifierCall(language.FIELD, arguments, place, of_dataclasses=True)


def _is_usual(argument: Argument) -> bool:
    """Whether an argument of `dataclasses.field` says what holds anyway."""
    if argument.keyword not in DATACLASS_FIELD_DEFAULTS or not isinstance(argument.value, Value):
        return False
    return argument.value.literal == repr(DATACLASS_FIELD_DEFAULTS[argument.keyword])


def _argument(specifier_name: str, position: int, arg: cst.Arg, place: NodePath, scope: Scope) -> Argument:
    """An argument of a specifier. Dimensions are parsed. Unpacked arguments are values whose text starts with a star."""
    keyword = arg.keyword.value if arg.keyword else None
    if arg.star:
        return Argument(keyword, Value(arg.star + one_line(text_of(arg.value)), place=place), place)
    if specifier_name == language.SUBMODULE and (call := _nested_call(arg.value, place, scope)) is not None:
        return Argument(keyword, call, place)
    text = _dimension(arg.value) if takes_dimension(specifier_name, position, keyword) else None
    if text is None:
        return Argument(keyword, value(arg.value, place, scope), place)
    return Argument(keyword, dimensions.parse(text), place, text)


def _dimension(node: cst.BaseExpression) -> str | None:
    """The text of a dimension written as a string or an integer; None for other values."""
    text = string_value(node)
    if text is None and isinstance(node, cst.Integer | cst.UnaryOperation):
        number = literal(text_of(node))
        return number if number is not None and number.lstrip("-").isdigit() else None
    return text
