"""Field specifiers: what stands on the right of a field in a declaration.

To a type checker each call has the type of the attribute that it declares, so `param(...)` is an `nn.Parameter`. At run time
it returns a record of its arguments; the metaclass takes the records out of the class and keeps a Module's in
`_specifiers`. `__specifier_call__` of a record tells `reflection` what was called (see `common.fingerprint_rows`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING
from typing import TYPE_CHECKING, Any, Generic, Literal, NamedTuple, TypeVar, Unpack, cast, overload

import torch
from torch import Tensor, nn

from ...common import language
from ...common.fingerprint_rows import RecordedCall

if TYPE_CHECKING:
    from qten_gen_typing import AsTensorField, BufferOptions, ParameterOptions, ParametersOptions
else:
    AsTensorField = Generic

T = TypeVar("T")
N = TypeVar("N", bound=complex | None, contravariant=True)
M = TypeVar("M", bound=complex | None)

Names = str | tuple[str, ...]
"""The names of several children or parameters, or the config field that contains them."""

Dimension = int | str
"""A size: a number, or an expression over config fields such as `"3*dim"`."""


def keywords_in(record: Any, *positional: str) -> dict[str, object]:
    """The keywords that a specifier was called with, from its named tuple (a type that mypy has no name for).

    None, and `keep_dtype=False`, stand for an argument that was left out. A switch that is None is kept: a rule reports it.
    """
    found: dict[str, object] = {
        name: value
        for name, value in record._asdict().items()
        if name not in positional and (value is not None or name in language.SPECIFIER_SWITCHES)
    }
    if found.get(language.KEEP_DTYPE) is False:
        del found[language.KEEP_DTYPE]
    return found


def specifier(name: str) -> Callable[[type[T]], type[T]]:
    """Class decorator of a record: in a class that is no declaration, its name is refused.

    Python calls `__set_name__` in those only: the metaclass of a declaration takes the record out before.
    """

    def refuse(record: object, owner: type, attribute: str) -> None:
        from . import generator

        generator.refuse_specifier(owner, attribute, name)

    def decorate(cls: type[T]) -> type[T]:
        type.__setattr__(cls, "__set_name__", refuse)
        return cls

    return decorate


@specifier(language.FIELD)
class Field(NamedTuple):
    """Arguments of `field`. `default` is `dataclasses.MISSING` where none is given."""

    default: object = MISSING
    default_factory: Callable[[], object] | None = None
    kw_only: bool = False
    unknown: tuple[tuple[str, object], ...] = ()
    """Arguments of `dataclasses.field` that `field` does not take, which a rule reports."""
    alias: str | None = None

    def __specifier_call__(self) -> RecordedCall:
        kwargs: dict[str, object] = {"kw_only": self.kw_only, **dict(self.unknown)}
        if self.alias is not None:
            kwargs["alias"] = self.alias
        if self.default_factory is not None:
            kwargs["default_factory"] = self.default_factory
        elif self.default is not MISSING:
            kwargs["default"] = self.default
        return RecordedCall(language.FIELD, kwargs=kwargs)


class Const(NamedTuple):
    """The argument of `const`."""

    value: object

    def __specifier_call__(self) -> RecordedCall:
        return RecordedCall(language.CONST, (self.value,))


class Default(NamedTuple):
    """The default of a constructor argument: a value, or a function called for each instance."""

    value: object
    is_factory: bool = False


@overload
def field(*, default: T, kw_only: bool = False, alias: str | None = None) -> T: ...
@overload
def field(*, default_factory: Callable[[], T], kw_only: bool = False, alias: str | None = None) -> T: ...
@overload  # a field without default fits every annotation
def field(*, kw_only: bool = False, alias: str | None = None) -> Any: ...
def field(
    *,
    default: object = MISSING,
    default_factory: Callable[[], object] | None = None,
    kw_only: bool = False,
    alias: str | None = None,
) -> object:
    """A constructor argument with a default, a default factory, keyword only, or under another name; as in `dataclasses`.

    A factory is called for each instance. A tensor given as `default` is cloned for each instance.

    >>> class Run(Module):
    ...     tags: list[str] = field(default_factory=list)
    >>> Run().tags, Run(["first"]).tags
    ([], ['first'])

    With `alias`, the constructor of a Module takes the argument by that name, so that a child can have it:

    >>> class Net(Module):
    ...     norm_class: type[nn.Module] = field(default=nn.LayerNorm, alias="norm")
    ...     norm: nn.Module = submodule(choice("norm_class"), 2)
    >>> Net(norm=nn.RMSNorm).norm
    RMSNorm((2,), eps=None, elementwise_affine=True)

    Raises:
        TypeError: both a default and a factory are given.
    """
    if default is not MISSING and default_factory is not None:
        raise TypeError("field() takes default= or default_factory=, not both")
    return Field(default, default_factory, kw_only, alias=alias)


class AsTensor(AsTensorField[N]):
    """The annotation of a number that becomes a tensor: the constructor takes either, and the attribute is a Tensor.

    >>> class Sample(TensorClass):
    ...     label: AsTensor[int]
    ...     weight: AsTensor[float] = number(default=1)
    ...     group: AsTensor[int | None] = number(default=None)
    >>> Sample(3, batch_size=2).label, Sample(3, torch.ones(2), batch_size=2).weight
    (tensor([3, 3]), tensor([1., 1.]))
    """


def number(*, default: M, kw_only: bool = False) -> AsTensor[M]:
    """`field(...)` with the default of a field that is annotated `AsTensor[...]`."""
    return cast("AsTensor[M]", Field(default, kw_only=kw_only))


def const(value: T) -> T:
    """A string argument of `submodule` that is not a dimension expression: `const("circular")`.

    >>> class Net(Module):
    ...     conv: nn.Conv1d = submodule(nn.Conv1d, 2, 2, 3, padding_mode=const("circular"))
    >>> Net().conv.padding_mode
    'circular'
    """
    return value if isinstance(value, Const) else cast(T, Const(value))


def constructor_argument(*, default: T, kw_only: bool, alias: str) -> T:
    """For type checkers only: an argument of every generated constructor, under another name than its attribute's."""
    raise NotImplementedError


Initializer = Callable[[Tensor], object] | str
"""Fills a tensor in place: a function of `torch.nn.init`, one's own, or the name of a method of the class."""

Computed = Callable[[Any], Tensor] | str
"""Computes the value of a parameter or buffer: a function of the module, or the name of a method of the class."""


@specifier(language.PARAM)
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


@specifier(language.BUFFER)
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


@overload
def param(*dims: Dimension, init: Literal[False] = False, **options: Unpack[ParameterOptions]) -> nn.Parameter: ...
@overload
def param(
    *dims: Dimension, when: str, init: Literal[False] = False, **options: Unpack[ParameterOptions]
) -> nn.Parameter | None: ...
@overload
def param(
    *dims: Dimension, repeat: Dimension, init: Literal[False] = False, **options: Unpack[ParametersOptions]
) -> nn.ParameterList: ...
@overload
def param(
    *dims: Dimension, keys: Names, init: Literal[False] = False, **options: Unpack[ParametersOptions]
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
        keep_dtype: Whether a cast of the module, such as `.to(torch.bfloat16)`, leaves its dtype. Requires `dtype=`.
        init: For type checkers: a parameter is not a constructor argument.

    Raises:
        DeclarationError: the class statement names a config field that does not exist, or an initializer that cannot fill.
    """
    made = Parameter(dims, initializer, dtype, requires_grad, when, tie, value, repeat, keys, group, keep_dtype)
    return cast(nn.Parameter, made)


@overload
def buffer(*dims: Dimension, init: Literal[False] = False, **options: Unpack[BufferOptions]) -> Tensor: ...
@overload
def buffer(
    *dims: Dimension, when: str, init: Literal[False] = False, **options: Unpack[BufferOptions]
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
        keep_dtype: Whether a cast of the module, such as `.to(torch.bfloat16)`, leaves its dtype. Requires `dtype=`.
        init: For type checkers: a buffer is not a constructor argument.

    Raises:
        DeclarationError: the class statement names a config field that does not exist, or an initializer that cannot fill.
    """
    return cast(Tensor, Buffer(dims, initializer, dtype, persistent, when, value, keep_dtype))
