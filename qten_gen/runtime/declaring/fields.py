"""Field specifiers: what stands on the right of a field in a declaration.

To a type checker each call has the type of the attribute that it declares, so `param(...)` is an `nn.Parameter`. At run time
it returns a record of its arguments; the metaclass takes the records out of the class and keeps those of a Module in
`_specifiers`. `__specifier_call__` of a record tells `reflection` what was called (see `common.specifier_records`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING
from typing import Any, Literal, NamedTuple, TypeVar, cast, overload

import torch
from torch import Tensor, nn

from ...common import language
from ...common.specifier_records import RecordedCall
from . import generator
from .containers import ModuleDict, ModuleList, Sequential
from .virtual_fields import Virtual

T = TypeVar("T")
M = TypeVar("M", bound=nn.Module)

Initializer = Callable[[Tensor], object] | str
"""Fills a tensor in place: a function of `torch.nn.init`, one's own, or the name of a method of the class."""

Computed = Callable[[Any], Tensor] | str
"""Computes the value of a parameter or buffer: a function of the module, or the name of a method of the class."""

Names = str | tuple[str, ...]
"""The names of several children or parameters, or the config field that contains them."""

Dimension = int | str
"""A size: a number, or an expression over config fields such as `"3*dim"`."""


def _given(**keywords: object) -> dict[str, object]:
    """The keywords that are not None, which stands for an argument that was left out."""
    return {name: value for name, value in keywords.items() if value is not None}


class Field(NamedTuple):
    """Arguments of `field`. `default` is `dataclasses.MISSING` where none is given."""

    default: object = MISSING
    default_factory: Callable[[], object] | None = None
    kw_only: bool = False
    unknown: tuple[tuple[str, object], ...] = ()
    """Arguments of `dataclasses.field` that `field` does not take, which a rule reports."""
    alias: str | None = None

    def __specifier_call__(self) -> RecordedCall:
        kwargs: dict[str, object] = {"kw_only": self.kw_only, **_given(alias=self.alias), **dict(self.unknown)}
        if self.default_factory is not None:
            kwargs["default_factory"] = self.default_factory
        elif self.default is not MISSING:
            kwargs["default"] = self.default
        return RecordedCall(language.FIELD, kwargs=kwargs)

    def __set_name__(self, owner: type, name: str) -> None:
        # The metaclass of a declaration takes specifiers out of the class body before Python comes here.
        generator.refuse_specifier(owner, name, language.FIELD)


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

    def __specifier_call__(self) -> RecordedCall:
        return RecordedCall(
            language.PARAM,
            self.dims,
            {
                "requires_grad": self.requires_grad,
                **_given(
                    initializer=self.initializer,
                    dtype=self.dtype,
                    when=self.when,
                    tie=self.tie,
                    value=self.value,
                    repeat=self.repeat,
                    keys=self.keys,
                    group=self.group,
                ),
            },
        )

    def __set_name__(self, owner: type, name: str) -> None:
        # The metaclass of a declaration takes specifiers out of the class body before Python comes here.
        generator.refuse_specifier(owner, name, language.PARAM)


class Buffer(NamedTuple):
    """Arguments of `buffer`."""

    dims: tuple[Dimension, ...]
    initializer: Initializer | None = None
    dtype: torch.dtype | None = None
    persistent: bool = True
    when: str | None = None
    value: Computed | None = None

    def __specifier_call__(self) -> RecordedCall:
        return RecordedCall(
            language.BUFFER,
            self.dims,
            {
                "persistent": self.persistent,
                **_given(initializer=self.initializer, dtype=self.dtype, when=self.when, value=self.value),
            },
        )

    def __set_name__(self, owner: type, name: str) -> None:
        # The metaclass of a declaration takes specifiers out of the class body before Python comes here.
        generator.refuse_specifier(owner, name, language.BUFFER)


class Submodule(NamedTuple):
    """Arguments of `submodule`: the class and what it is constructed with, and how often."""

    cls: Callable[..., nn.Module] | Submodule
    """What is called; the record of each of several children if they are lists or dicts themselves."""
    args: tuple[object, ...]
    kwargs: Mapping[str, object]
    when: str | None = None
    repeat: Dimension | None = None
    keys: Names | None = None
    group: str | None = None

    def __specifier_call__(self) -> RecordedCall:
        own = _given(when=self.when, repeat=self.repeat, keys=self.keys, group=self.group)
        if self.cls is Sequential:
            return RecordedCall(language.SEQUENTIAL, self.args, {**self.kwargs, **own})
        return RecordedCall(language.SUBMODULE, (self.cls, *self.args), {**self.kwargs, **own})

    def __set_name__(self, owner: type, name: str) -> None:
        # The metaclass of a declaration takes specifiers out of the class body before Python comes here.
        generator.refuse_specifier(owner, name, language.SUBMODULE)


class Const(NamedTuple):
    """The argument of `const`."""

    value: object

    def __specifier_call__(self) -> RecordedCall:
        return RecordedCall(language.CONST, (self.value,))


class Default(NamedTuple):
    """The default of a constructor argument: a value, or a function called for each instance."""

    value: object
    is_factory: bool = False


Specifier = Parameter | Buffer | Submodule | Virtual[object]
"""What the metaclass keeps of a Module's fields."""


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


@overload
def param(
    *dims: Dimension,
    initializer: Initializer | None = None,
    value: Computed | None = None,
    dtype: torch.dtype | None = None,
    requires_grad: bool = True,
    group: str | None = None,
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
        init: For type checkers: a parameter is not a constructor argument.

    Raises:
        DeclarationError: the class statement names a config field that does not exist, or an initializer that cannot fill.
    """
    return cast(nn.Parameter, Parameter(dims, initializer, dtype, requires_grad, when, tie, value, repeat, keys, group))


@overload
def buffer(
    *dims: Dimension,
    initializer: Initializer | None = None,
    value: Computed | None = None,
    dtype: torch.dtype | None = None,
    persistent: bool = True,
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
    init: Literal[False] = False,
) -> Tensor | None: ...
def buffer(
    *dims: Dimension,
    initializer: Initializer | None = None,
    value: Computed | None = None,
    dtype: torch.dtype | None = None,
    persistent: bool = True,
    when: str | None = None,
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
        init: For type checkers: a buffer is not a constructor argument.

    Raises:
        DeclarationError: the class statement names a config field that does not exist, or an initializer that cannot fill.
    """
    return cast(Tensor, Buffer(dims, initializer, dtype, persistent, when, value))


@overload
def submodule(
    cls: M, /, *, repeat: Dimension, group: str | None = None, init: Literal[False] = False
) -> ModuleList[M]: ...
@overload
def submodule(cls: M, /, *, keys: Names, group: str | None = None, init: Literal[False] = False) -> ModuleDict[M]: ...
@overload
def submodule(  # type: ignore[overload-overlap] # who writes repeat= gets a list
    cls: Callable[..., M],
    /,
    *args: object,
    repeat: Dimension,
    group: str | None = None,
    init: Literal[False] = False,
    **kwargs: object,
) -> ModuleList[M]: ...
@overload
def submodule(
    cls: Callable[..., M],
    /,
    *args: object,
    keys: Names,
    group: str | None = None,
    init: Literal[False] = False,
    **kwargs: object,
) -> ModuleDict[M]: ...
@overload
def submodule(  # type: ignore[overload-overlap] # who writes when= may get None
    cls: Callable[..., M],
    /,
    *args: object,
    when: str,
    group: str | None = None,
    init: Literal[False] = False,
    **kwargs: object,
) -> M | None: ...
@overload
def submodule(
    cls: Callable[..., M], /, *args: object, group: str | None = None, init: Literal[False] = False, **kwargs: object
) -> M: ...
def submodule(
    cls: Callable[..., M] | M,
    /,
    *args: object,
    group: str | None = None,
    init: Literal[False] = False,
    **kwargs: object,
) -> object:
    """A child module: `cls` is called with the arguments when the owner is constructed.

    A string is the name of a config field, whose value is passed, or an expression over such fields; `const("...")` is a plain
    string. Among the arguments of repeated children, `index` is the position of each. A submodule can be an argument of another.
    `device` and `dtype` come from the owner's constructor.

    >>> class Net(Module):
    ...     dim: int
    ...     tasks: tuple[str, ...]
    ...     rate: float = 0.1
    ...     proj: nn.Linear = submodule(nn.Linear, "dim", "4*dim", bias=False)
    ...     conv: nn.Conv1d = submodule(nn.Conv1d, "dim", "dim", 3, padding_mode=const("circular"))
    ...     drop: nn.Dropout = submodule(nn.Dropout, "rate")
    ...     blocks: ModuleList[nn.Linear] = submodule(nn.Linear, "dim", "dim", repeat=2)
    ...     heads: ModuleDict[nn.Linear] = submodule(nn.Linear, "dim", 1, keys="tasks")
    ...     grid: ModuleList[ModuleList[nn.Linear]] = submodule(submodule(nn.Linear, 2, 2, repeat=3), repeat=2)
    >>> net = Net(2, ("topic", "tone"))
    >>> net.proj.weight.shape, net.drop.p, len(net.blocks), list(net.heads)
    (torch.Size([8, 2]), 0.1, 2, ['topic', 'tone'])

    Args:
        cls: The class, or a function that makes a module; `choice(...)` of several; or the list or dict of children that each
            of the children is, as another `submodule(..., repeat=...)`.
        args: What it is called with. Containers are new for each child; modules and tensors in them are refused.
        when: The config field that says whether there is a child; if not, the attribute is None.
        repeat: How many children: a number, or an expression over config fields.
        keys: One child for each of these names; a string is the config field that holds them.
        group: What `optimizer_groups` puts the child's parameters in that have no group of their own.
        init: For type checkers: a child is not a constructor argument.
        kwargs: What it is called with. A class that takes one of the names above is wrapped in `functools.partial`.

    Raises:
        DeclarationError: the class statement names a config field that does not exist, or contains a module or a tensor.
    """
    when = cast("str | None", kwargs.pop("when", None))
    repeat = cast("Dimension | None", kwargs.pop("repeat", None))
    keys = cast("Names | None", kwargs.pop("keys", None))
    return Submodule(cls, args, kwargs, when, repeat, keys, group)


def const(value: T) -> T:
    """A string argument of `submodule` that is not a dimension expression: `const("circular")`.

    >>> class Net(Module):
    ...     conv: nn.Conv1d = submodule(nn.Conv1d, 2, 2, 3, padding_mode=const("circular"))
    >>> Net().conv.padding_mode
    'circular'
    """
    return value if isinstance(value, Const) else cast(T, Const(value))
