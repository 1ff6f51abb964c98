"""The specifiers of a Module's own tensors: `param(...)` and `buffer(...)`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple, cast, overload

import torch
from torch import Tensor, nn

from ...common import language
from ...common.fingerprint_rows import RecordedCall
from .fields import Dimension, Names, keywords_in, refuse_misplaced

Initializer = Callable[[Tensor], object] | str
"""Fills a tensor in place: a function of `torch.nn.init`, one's own, or the name of a method of the class."""

Computed = Callable[[Any], Tensor] | str
"""Computes the value of a parameter or buffer: a function of the module, or the name of a method of the class."""


class Parameter(NamedTuple):
    """Arguments of `param`."""

    dims: tuple[Dimension, ...]
    initializer: Initializer | None = None
    dtype: torch.dtype | None = None
    requires_grad: bool = True
    when: str | None = None
    tie: str | None = None
    value: Computed | None = None
    repeat: Dimension | None = None
    keys: Names | None = None
    group: str | None = None
    keep_dtype: bool = False

    def __specifier_call__(self) -> RecordedCall:
        return RecordedCall(language.PARAM, self.dims, keywords_in(self, "dims"))

    def __set_name__(self, owner: type, name: str) -> None:
        refuse_misplaced(owner, name, language.PARAM)


class Buffer(NamedTuple):
    """Arguments of `buffer`."""

    dims: tuple[Dimension, ...]
    initializer: Initializer | None = None
    dtype: torch.dtype | None = None
    persistent: bool = True
    when: str | None = None
    value: Computed | None = None
    keep_dtype: bool = False

    def __specifier_call__(self) -> RecordedCall:
        return RecordedCall(language.BUFFER, self.dims, keywords_in(self, "dims"))

    def __set_name__(self, owner: type, name: str) -> None:
        refuse_misplaced(owner, name, language.BUFFER)


@overload
def param(
    *dims: Dimension,
    initializer: Initializer | None = None,
    value: Computed | None = None,
    dtype: torch.dtype | None = None,
    requires_grad: bool = True,
    group: str | None = None,
    keep_dtype: bool = False,
    init: Literal[False] = False,
) -> nn.Parameter: ...
@overload
def param(
    *dims: Dimension,
    when: str,
    initializer: Initializer | None = None,
    value: Computed | None = None,
    dtype: torch.dtype | None = None,
    requires_grad: bool = True,
    group: str | None = None,
    keep_dtype: bool = False,
    init: Literal[False] = False,
) -> nn.Parameter | None: ...
@overload
def param(
    *dims: Dimension,
    repeat: Dimension,
    initializer: Initializer | None = None,
    dtype: torch.dtype | None = None,
    requires_grad: bool = True,
    group: str | None = None,
    keep_dtype: bool = False,
    init: Literal[False] = False,
) -> nn.ParameterList: ...
@overload
def param(
    *dims: Dimension,
    keys: Names,
    initializer: Initializer | None = None,
    dtype: torch.dtype | None = None,
    requires_grad: bool = True,
    group: str | None = None,
    keep_dtype: bool = False,
    init: Literal[False] = False,
) -> nn.ParameterDict: ...
@overload
def param(*dims: Dimension, tie: str, init: Literal[False] = False) -> nn.Parameter: ...
@overload
def param(*dims: Dimension, tie: str, when: str, init: Literal[False] = False) -> nn.Parameter | None: ...
def param(
    *dims: Dimension,
    initializer: Initializer | None = None,
    value: Computed | None = None,
    dtype: torch.dtype | None = None,
    requires_grad: bool = True,
    when: str | None = None,
    tie: str | None = None,
    repeat: Dimension | None = None,
    keys: Names | None = None,
    group: str | None = None,
    keep_dtype: bool = False,
    init: Literal[False] = False,
) -> nn.Parameter | nn.ParameterList | nn.ParameterDict | None:
    """A parameter of a Module, of the given shape.

    >>> class Attention(Module):
    ...     dim: int
    ...     use_bias: bool = False
    ...     qkv: nn.Parameter = param("3*dim", "dim", initializer=nn.init.xavier_uniform_)
    ...     bias: nn.Parameter | None = param("dim", when="use_bias", initializer=nn.init.zeros_)
    ...     twin: nn.Parameter = param(tie="qkv")
    >>> Attention(2).qkv.shape, Attention(2, use_bias=True).bias.shape
    (torch.Size([6, 2]), torch.Size([2]))

    Args:
        dims: One size for each dimension: a number, or an expression over config fields. Without any, a scalar.
        initializer: Fills the parameter in place; called by the constructor and by `reset_parameters`, without gradients. A
            string is the name of a method, which can read the config fields.
        value: Computes the parameter instead: a function of the module, or the name of a method. Sizes are compared then.
        dtype: The dtype, whatever the constructor's `dtype` says. Without it: the constructor's, else torch's default.
        requires_grad: Whether gradients are recorded.
        when: The config field that says whether there is a parameter; if not, the attribute is None.
        tie: The path of a parameter declared above, which this one is too.
        repeat: How many parameters a ParameterList gets: a number, or an expression over config fields.
        keys: One parameter of a ParameterDict for each of these names; a string is the config field that holds them.
        group: What `optimizer_groups` puts it in.
        keep_dtype: Whether a cast of the module, such as `.to(torch.bfloat16)`, leaves its dtype.
        init: For type checkers: a parameter is not a constructor argument.

    Raises:
        DeclarationError: the class statement names a config field that does not exist, or an initializer that cannot fill.
    """
    made = Parameter(dims, initializer, dtype, requires_grad, when, tie, value, repeat, keys, group, keep_dtype)
    return cast(nn.Parameter, made)


@overload
def buffer(
    *dims: Dimension,
    initializer: Initializer | None = None,
    value: Computed | None = None,
    dtype: torch.dtype | None = None,
    persistent: bool = True,
    keep_dtype: bool = False,
    init: Literal[False] = False,
) -> Tensor: ...
@overload
def buffer(
    *dims: Dimension,
    when: str,
    initializer: Initializer | None = None,
    value: Computed | None = None,
    dtype: torch.dtype | None = None,
    persistent: bool = True,
    keep_dtype: bool = False,
    init: Literal[False] = False,
) -> Tensor | None: ...
def buffer(
    *dims: Dimension,
    initializer: Initializer | None = None,
    value: Computed | None = None,
    dtype: torch.dtype | None = None,
    persistent: bool = True,
    when: str | None = None,
    keep_dtype: bool = False,
    init: Literal[False] = False,
) -> Tensor | None:
    """A buffer of a Module, of the given shape.

    >>> class Norm(Module):
    ...     dim: int
    ...     mean: Tensor = buffer("dim", initializer=nn.init.zeros_)
    >>> Norm(2).mean, list(Norm(2).state_dict())
    (tensor([0., 0.]), ['mean'])

    Args:
        dims: One size for each dimension: a number, or an expression over config fields. Without any, a scalar.
        initializer: Fills the buffer in place; called by the constructor and by `reset_parameters`. A string is the name of a
            method, which can read the config fields.
        value: Computes the buffer instead: a function of the module, or the name of a method. Sizes are compared then.
        dtype: The dtype, whatever the constructor's `dtype` says. Without it: the constructor's, else torch's default.
        persistent: Whether the buffer is in the state dict.
        when: The config field that says whether there is a buffer; if not, the attribute is None.
        keep_dtype: Whether a cast of the module, such as `.to(torch.bfloat16)`, leaves its dtype.
        init: For type checkers: a buffer is not a constructor argument.

    Raises:
        DeclarationError: the class statement names a config field that does not exist, or an initializer that cannot fill.
    """
    return cast(Tensor, Buffer(dims, initializer, dtype, persistent, when, value, keep_dtype))
