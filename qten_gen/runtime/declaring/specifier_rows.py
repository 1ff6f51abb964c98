"""The part of a Module's fingerprint that covers its fields, from the records of their specifiers, as in `model.build_field`.

It gives up on values that a rule may refuse once they are objects, and the generator's reader decides.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from inspect import unwrap
from types import BuiltinFunctionType, FunctionType

import torch

from ...common import language
from ...common.fingerprint_rows import VALUE, RecordedCall, Row, recorded_call, row
from ...common.python_text import expression_text, is_plain, literal_of, partial_of_torch, torch_name
from .annotated_kinds import NotCertain


def is_harmless(value: object) -> bool:
    """Whether a value can be shared, and holds no tensor or module: a literal, a class, a member of an enum, a name of torch."""
    if literal_of(value) is not None or isinstance(value, type | torch.dtype | torch.device):
        return True
    if isinstance(value, Enum):
        # A member that is a dataclass may hold tensors.
        return not hasattr(type(value), "__dataclass_fields__") and recorded_call(value) is None
    return isinstance(value, FunctionType | BuiltinFunctionType) and torch_name(value) is not None


def expression(given: object) -> str | None:
    """The canonical text of an expression over constructor arguments, if there is one.

    Raises:
        NotCertain: it is not one, or may not be one.
    """
    # `type`, because a bool is no size.
    if given is None or type(given) is int:
        return None if given is None else str(given)
    if type(given) is not str or not is_plain(given):
        raise NotCertain
    try:
        return expression_text(given)
    except SyntaxError as error:
        raise NotCertain(given) from error


def parameter_row(name: str, call: RecordedCall, body: Mapping[str, object]) -> Row:
    """The row of a parameter or a buffer. The command has checked a literal that the fingerprint covers as it is.

    Raises:
        NotCertain: an argument is one that a rule may refuse.
    """
    kind = "ParameterDecl" if call.name == language.PARAM else "BufferDecl"
    given = {keyword: _argument(keyword, value, body) for keyword, value in call.kwargs.items()}
    return row(kind, name=name, dims=tuple(map(expression, call.args)), **given)


def _argument(keyword: str, given: object, body: Mapping[str, object]) -> object:
    match keyword:
        case "initializer":
            return _function(given, body)
        case "value":
            return _function(given, {})
        case "dtype":
            return _dtype(given)
        case language.WHEN | language.REPEAT:
            return expression(given)
    return given


def _function(given: object, body: Mapping[str, object]) -> Row:
    """The row of an initialiser, or of what computes a value; a function of the class body is a method."""
    if type(given) is str:
        return row("Value", method=given)
    if isinstance(given, FunctionType):
        code = getattr(unwrap(given), "__code__", None)
        if code is not None and code.co_argcount > 0 and code.co_varnames[0] == "self":
            return row("Value", method=next((name for name, bound in body.items() if bound is given), None))
        return VALUE
    if isinstance(given, type | BuiltinFunctionType) or partial_of_torch(given) is not None:
        return VALUE
    raise NotCertain


def _dtype(given: object) -> Row:
    if isinstance(given, torch.dtype) and torch_name(given) is not None:
        return VALUE
    raise NotCertain
