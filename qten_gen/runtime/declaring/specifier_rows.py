"""What the fingerprint of a Module covers of its fields, from the records of their specifiers: what `model.build_field` builds.

It gives up on values that a rule may refuse once they are objects, and the generator's reader decides.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum
from inspect import unwrap
from types import BuiltinFunctionType, FunctionType

import torch

from ...common import language
from ...common.expression_text import expression_text, is_plain
from ...common.literals import literal_of
from ...common.specifier_records import RecordedCall, recorded_call
from ...common.written_values import partial_of_torch, torch_name
from .annotated_kinds import NotCertain
from .summary import Row

VALUE: Row = ("Value",)
"""The row of a value. `freshness.is_fresh` compares the value itself with the generated text."""


def row(kind: str, required: Iterable[tuple[str, object]], given: Iterable[tuple[str, object, object]]) -> Row:
    """The row of a record: its required attributes, and those of the others that do not have their default."""
    return (kind, *required, *((name, value) for name, value, default in given if value != default))


def default_row(*, is_factory: bool) -> Row:
    """The row of a default."""
    return row("Default", [("value", VALUE)], [("factory", is_factory, False)])


def check_config_default(value: object, *, is_factory: bool) -> None:
    """Refuse what may be a mistake as the default of a constructor argument, now that it is an object.

    Raises:
        NotCertain: a rule has to look at it.
    """
    if is_factory:
        if not isinstance(value, type | FunctionType):
            raise NotCertain
    elif not is_harmless(value):
        raise NotCertain


def is_harmless(value: object) -> bool:
    """Whether a value can be shared, and holds no tensor or module: a literal, a class, a member of an enum, a name of torch."""
    if literal_of(value) is not None or isinstance(value, type | torch.dtype | torch.device):
        return True
    if isinstance(value, Enum):
        return not hasattr(type(value), "__dataclass_fields__") and recorded_call(value) is None
    return isinstance(value, FunctionType | BuiltinFunctionType) and torch_name(value) is not None


def expression(given: object) -> str:
    """The canonical text of an expression over constructor arguments.

    Raises:
        NotCertain: it is not one, or may not be one.
    """
    if type(given) is int:
        return str(given)
    if type(given) is not str or not is_plain(given):
        raise NotCertain
    try:
        return expression_text(given)
    except SyntaxError as error:
        raise NotCertain(given) from error


def specifier_row(name: str, call: RecordedCall, body: Mapping[str, object]) -> Row:
    """The row of a field with a specifier, children left out.

    Raises:
        NotCertain: an argument is one that a rule may refuse.
    """
    match call.name:
        case language.PARAM:
            return _parameter(name, call, body)
        case language.BUFFER:
            return _buffer(name, call, body)
        case language.DERIVED:
            return ("DerivedDecl", ("name", name), ("value", expression(call.args[0])))
    raise NotCertain


def virtual_row(name: str, call: RecordedCall) -> Row:
    """The row of a virtual tensor."""
    cached, sources, cast = call.kwargs["cached"], call.kwargs.get("sources"), call.kwargs["cast"]
    if (type(cached) is not bool and cached != language.MAY_BE_STALE) or type(cast) is not bool:
        raise NotCertain
    if sources is not None and not _are_strings(sources):
        raise NotCertain
    given = [("cached", cached, False), ("sources", sources, None), ("cast", cast, False)]
    return row("VirtualDecl", [("name", name)], given)


def check_row(call: RecordedCall) -> Row:
    """The row of a statement `check(...)`."""
    return ("CheckDecl", ("condition", expression(call.args[0])))


def _parameter(name: str, call: RecordedCall, body: Mapping[str, object]) -> Row:
    """The row of a parameter, with the attributes of `ParameterDecl`."""
    given = call.kwargs
    return row(
        "ParameterDecl",
        [("name", name), ("dims", tuple(map(expression, call.args)))],
        [
            ("initializer", _function(given.get("initializer"), body), None),
            ("dtype", _dtype(given.get("dtype")), None),
            ("requires_grad", switch(given["requires_grad"]), True),
            ("when", condition(given), None),
            ("tie", string(given.get("tie")), None),
            ("value", _function(given.get("value"), {}), None),
            ("repeat", count(given), None),
            ("keys", keys(given.get("keys")), None),
            ("group", string(given.get("group")), None),
            ("keep_dtype", switch(given.get(language.KEEP_DTYPE, False)), False),
        ],
    )


def _buffer(name: str, call: RecordedCall, body: Mapping[str, object]) -> Row:
    """The row of a buffer, with the attributes of `BufferDecl`."""
    given = call.kwargs
    return row(
        "BufferDecl",
        [("name", name), ("dims", tuple(map(expression, call.args)))],
        [
            ("persistent", switch(given["persistent"]), True),
            ("initializer", _function(given.get("initializer"), body), None),
            ("dtype", _dtype(given.get("dtype")), None),
            ("when", condition(given), None),
            ("value", _function(given.get("value"), {}), None),
            ("keep_dtype", switch(given.get(language.KEEP_DTYPE, False)), False),
        ],
    )


def _function(given: object, body: Mapping[str, object]) -> Row | None:
    """The row of an initialiser, or of what computes a value; a function of the class body is a method."""
    if given is None:
        return None
    if type(given) is str:
        return ("Value", ("method", given))
    if isinstance(given, FunctionType):
        code = getattr(unwrap(given), "__code__", None)
        if code is not None and code.co_argcount > 0 and code.co_varnames[0] == "self":
            method = next((name for name, bound in body.items() if bound is given), None)
            return VALUE if method is None else ("Value", ("method", method))
        return VALUE
    if isinstance(given, type | BuiltinFunctionType) or partial_of_torch(given) is not None:
        return VALUE
    raise NotCertain


def _dtype(given: object) -> Row | None:
    if given is None:
        return None
    if isinstance(given, torch.dtype) and torch_name(given) is not None:
        return VALUE
    raise NotCertain


def switch(given: object) -> bool:
    if type(given) is not bool:
        raise NotCertain
    return given


def condition(given: Mapping[str, object]) -> str | None:
    found = given.get(language.WHEN)
    if found is None:
        return None
    if type(found) is not str:
        raise NotCertain
    return expression(found)


def count(given: Mapping[str, object]) -> str | None:
    found = given.get(language.REPEAT)
    return None if found is None else expression(found)


def keys(given: object) -> object:
    if given is None or type(given) is str or _are_strings(given):
        return given
    raise NotCertain


def string(given: object) -> str | None:
    if given is None or type(given) is str:
        return given
    raise NotCertain


def _are_strings(given: object) -> bool:
    return type(given) is tuple and all(type(item) is str for item in given)
