"""The part of a Module's fingerprint that covers its fields, from the records of their specifiers, as in `model.build_field`.

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
from .kept_facts import Row

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


def optional_expression(given: object) -> str | None:
    """The canonical text of an expression, if there is one."""
    return None if given is None else expression(given)


_ATTRIBUTES: Mapping[str, tuple[str, Mapping[str, object]]] = {
    language.PARAM: (
        "ParameterDecl",
        {
            "initializer": None,
            "dtype": None,
            "requires_grad": True,
            "when": None,
            "tie": None,
            "value": None,
            "repeat": None,
            "keys": None,
            "group": None,
            "keep_dtype": False,
        },
    ),
    language.BUFFER: (
        "BufferDecl",
        {
            "persistent": True,
            "initializer": None,
            "dtype": None,
            "when": None,
            "value": None,
            "keep_dtype": False,
        },
    ),
}
"""The record of the model for a specifier, and those of its attributes that have defaults, in their order."""


def specifier_row(name: str, call: RecordedCall, body: Mapping[str, object]) -> Row:
    """The row of a field with a specifier, children left out.

    Raises:
        NotCertain: an argument is one that a rule may refuse.
    """
    if call.name == language.DERIVED:
        return ("DerivedDecl", ("name", name), ("value", expression(call.args[0])))
    kind, attributes = _ATTRIBUTES[call.name]
    required = [("name", name), ("dims", tuple(map(expression, call.args)))]
    return row(kind, required, ((each, _attribute(each, call, body), attributes[each]) for each in attributes))


def virtual_row(name: str, call: RecordedCall) -> Row:
    """The row of a virtual tensor."""
    given = call.kwargs
    attributes = [
        ("cached", given["cached"], False),
        ("sources", given.get("sources"), None),
        ("cast", given["cast"], False),
    ]
    return row("VirtualDecl", [("name", name)], attributes)


def check_row(call: RecordedCall) -> Row:
    """The row of a statement `check(...)`."""
    return ("CheckDecl", ("condition", expression(call.args[0])))


def _attribute(name: str, call: RecordedCall, body: Mapping[str, object]) -> object:
    """An attribute, from the keyword of its name. The command has checked a literal that the fingerprint covers as it is."""
    given = call.kwargs.get(name)
    if name == "initializer":
        return _function(given, body)
    if name == "value":
        return _function(given, {})
    if name == "dtype":
        return _dtype(given)
    if name in (language.WHEN, language.REPEAT):
        return optional_expression(given)
    return call.kwargs.get(name, False) if name == language.KEEP_DTYPE else given


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
