"""What a Module says of its children: `submodule(...)`, `sequential(...)`, `choice(...)`, and the containers that hold them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Annotated, Any, Generic, Literal, NamedTuple, TypeVar, cast, overload

from torch import nn

from ...common import language
from ...common.fingerprint_rows import RecordedCall
from .fields import Dimension, Names, keywords_in, specifier

M = TypeVar("M", bound=nn.Module)

if TYPE_CHECKING:
    from qten_gen_typing import DictOf, ListOf, Member, SequenceOf
    from typing_extensions import TypeVar as TypeVarWithDefault

    S = TypeVarWithDefault("S", bound=nn.Module, default=nn.Module)
else:
    DictOf = ListOf = SequenceOf = Generic
    S = TypeVar("S", bound=nn.Module)


class ModuleList(ListOf[M], nn.ModuleList):
    """`torch.nn.ModuleList` of children of one class: `blocks[0]` is a `Block` in a `ModuleList[Block]`.

    >>> class Net(Module):
    ...     depth: int
    ...     blocks: ModuleList[nn.Linear] = submodule(nn.Linear, 2, 2, repeat="depth")
    >>> Net(3).blocks[-1].weight.shape
    torch.Size([2, 2])
    """


class Sequential(SequenceOf[S], nn.Sequential):
    """`torch.nn.Sequential` of children of known classes: `body[0]` is a `Linear | ReLU` in a `Sequential[Linear | ReLU]`.

    To type checkers it takes a tensor and returns one. Without brackets, its children are modules.

    >>> class Net(Module):
    ...     body: Sequential[nn.Linear | nn.ReLU] = sequential(submodule(nn.Linear, 2, 2), nn.ReLU)
    >>> list(Net().state_dict()), Net().body(torch.ones(1, 2)).shape
    (['body.0.weight', 'body.0.bias'], torch.Size([1, 2]))
    """


class ModuleDict(DictOf[M], nn.ModuleDict):
    """`torch.nn.ModuleDict` of children of one class: `heads["topic"]` is a `Head` in a `ModuleDict[Head]`.

    >>> class Net(Module):
    ...     heads: ModuleDict[nn.Linear] = submodule(nn.Linear, 2, 2, keys=("topic", "tone"))
    >>> list(Net().heads), Net().heads["tone"].weight.shape
    (['topic', 'tone'], torch.Size([2, 2]))
    """


T = TypeVar("T")

Unbatched = Annotated[T, "qten_gen.Unbatched"]
"""A tensor of a TensorClass that is the same for all items of the batch, of any shape: a lookup table, class weights.

    class Batch(TensorClass):
        tokens: Tensor
        table: Unbatched[Tensor]

To a type checker it is a Tensor. Indexing, reshaping and what else rearranges the batch pass it on as it is; what applies to
every value (`to`, `clone`, `* 2`) applies to it. Objects that are put together must have one and the same.
"""


@specifier(language.SUBMODULE)
class Submodule(NamedTuple):
    """Arguments of `submodule`: the class and what it is constructed with, and how often."""

    cls: Callable[..., nn.Module] | Submodule
    """The class or function that is called; the record of each of several children if they are lists or dicts themselves."""
    args: tuple[object, ...]
    kwargs: Mapping[str, object]
    when: str | None = None
    repeat: Dimension | None = None
    keys: Names | None = None
    group: str | None = None
    keep_dtype: bool = False

    def __specifier_call__(self) -> RecordedCall:
        own = keywords_in(self, "cls", "args", "kwargs")
        if self.cls is Sequential:
            return RecordedCall(language.SEQUENTIAL, self.args, {**self.kwargs, **own})
        return RecordedCall(language.SUBMODULE, (self.cls, *self.args), {**self.kwargs, **own})


@overload
def submodule(
    cls: M, /, *, repeat: Dimension, group: str | None = None, keep_dtype: bool = False, init: Literal[False] = False
) -> ModuleList[M]: ...
@overload
def submodule(
    cls: M, /, *, keys: Names, group: str | None = None, keep_dtype: bool = False, init: Literal[False] = False
) -> ModuleDict[M]: ...
@overload
def submodule(  # type: ignore[overload-overlap] # who writes repeat= gets a list
    cls: Callable[..., M],
    /,
    *args: object,
    repeat: Dimension,
    group: str | None = None,
    keep_dtype: bool = False,
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
    keep_dtype: bool = False,
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
    keep_dtype: bool = False,
    init: Literal[False] = False,
    **kwargs: object,
) -> M | None: ...
@overload
def submodule(
    cls: Callable[..., M],
    /,
    *args: object,
    group: str | None = None,
    keep_dtype: bool = False,
    init: Literal[False] = False,
    **kwargs: object,
) -> M: ...
def submodule(
    cls: Callable[..., M] | M,
    /,
    *args: object,
    group: str | None = None,
    keep_dtype: bool = False,
    init: Literal[False] = False,
    **kwargs: object,
) -> object:
    """A child module: `cls` is called with the arguments when the owner is constructed.

    A string is the name of a config field, whose value is passed, or an expression over such fields; `const("...")` is a plain
    string. Among the arguments of repeated children, `index` is the position of each, and `key` its name. A submodule can be
    an argument of another. `device` and `dtype` come from the owner's constructor.

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
        keep_dtype: Whether a cast of the owner, such as `.to(torch.bfloat16)`, leaves the dtypes of what is in it. Requires
            `dtype=`; a module whose class takes none is cast.
        init: For type checkers: a child is not a constructor argument.
        kwargs: What it is called with. A class that takes one of the names above is wrapped in `functools.partial`.

    Raises:
        DeclarationError: the class statement names a config field that does not exist, or contains a module or a tensor.
    """
    when = cast("str | None", kwargs.pop("when", None))
    repeat = cast("Dimension | None", kwargs.pop("repeat", None))
    keys = cast("Names | None", kwargs.pop("keys", None))
    return Submodule(cls, args, kwargs, when, repeat, keys, group, keep_dtype)


class Choice(NamedTuple):
    """The arguments of `choice`; without options, what is chosen is the value of the field itself."""

    selector: str
    options: Mapping[Any, object] | None = None

    def __specifier_call__(self) -> RecordedCall:
        return RecordedCall(
            language.CHOICE, (self.selector,) if self.options is None else (self.selector, self.options)
        )


@overload
def sequential(
    *members: Member[M], repeat: Dimension, group: str | None = None, init: Literal[False] = False
) -> ModuleList[Sequential[M]]: ...
@overload
def sequential(
    *members: Member[M], keys: Names, group: str | None = None, init: Literal[False] = False
) -> ModuleDict[Sequential[M]]: ...
@overload
def sequential(
    *members: Member[M], when: str, group: str | None = None, init: Literal[False] = False, **named: M | type[M] | None
) -> Sequential[M] | None: ...
@overload
def sequential(
    *members: Member[M], group: str | None = None, init: Literal[False] = False, **named: M | type[M] | None
) -> Sequential[M]: ...
def sequential(*members: object, group: str | None = None, init: Literal[False] = False, **named: object) -> object:
    """Children that are called one after the other: torch's `nn.Sequential`, with its state-dict keys.

    A member is a `submodule(...)`, or a class that is constructed without arguments. With `repeat=`, a member stands for
    several; with `when=`, `nn.Identity` takes its place where the condition is false, so that the keys stay.

    >>> class Net(Module):
    ...     dim: int
    ...     depth: int = 0
    ...     use_norm: bool = False
    ...     body: Sequential = sequential(
    ...         submodule(nn.Linear, "dim", "2*dim"),
    ...         nn.ReLU,
    ...         submodule(nn.LayerNorm, "2*dim", when="use_norm"),
    ...         submodule(nn.Linear, "2*dim", "2*dim", repeat="depth"),
    ...     )
    >>> list(Net(2, depth=1).state_dict())
    ['body.0.weight', 'body.0.bias', 'body.3.weight', 'body.3.bias']
    >>> Net(2).body[2]
    Identity()

    Args:
        members: The children in order.
        when: The config field that says whether there is a sequence; if not, the attribute is None.
        repeat: How many sequences: a number, or an expression over config fields.
        keys: One sequence for each of these names; a string is the config field that holds them.
        group: What `optimizer_groups` puts the parameters in that have no group of their own.
        init: For type checkers: a child is not a constructor argument.
        named: The children in order, with names for keys. Either all members have names or none.

    Raises:
        TypeError: some members have names and others have none.
    """
    when = cast("str | None", named.pop("when", None))
    repeat = cast("Dimension | None", named.pop("repeat", None))
    keys = cast("Names | None", named.pop("keys", None))
    keep_dtype = cast("bool", named.pop(language.KEEP_DTYPE, False))  # which a rule refuses
    if members and named:
        raise TypeError("sequential() takes members with names or without names, not both")
    given = {name: _member(member) for name, member in named.items()}
    return Submodule(Sequential, tuple(map(_member, members)), given, when, repeat, keys, group, keep_dtype)


def _member(member: object) -> object:
    """The record of a member: a class stands for a child that is constructed without arguments."""
    if isinstance(member, Submodule):
        return member
    return Submodule(cast("type[nn.Module]", member), (), {})


def choice(
    argument: str, options: Mapping[str, object] | Mapping[bool, object] | Mapping[int, object] | None = None
) -> Any:
    """The class of a child, by the value of a config field, or of an expression over config fields.

    The annotation of the child says which classes there are: type checkers take it, and QG341 compares it with the options.

    >>> class Net(Module):
    ...     act: str = "relu"
    ...     rms: bool = False
    ...     activation: nn.ReLU | nn.GELU = submodule(choice("act", {"relu": nn.ReLU, "gelu": nn.GELU}))
    ...     norm: nn.RMSNorm | nn.LayerNorm = submodule(choice("rms", {True: nn.RMSNorm, False: nn.LayerNorm}), 8)
    >>> Net("gelu", rms=True)
    Net(
      act='gelu', rms=True
      (activation): GELU(approximate='none')
      (norm): RMSNorm((8,), eps=None, elementwise_affine=True)
    )
    >>> Net("rleu")
    Traceback (most recent call last):
    ValueError: Net.activation: act is 'rleu'; expected 'relu' or 'gelu'; did you mean relu?

    Args:
        argument: The name of the config field, or an expression.
        options: The class for each value. A `functools.partial` or a function of yours is one too. As an argument of
            `submodule`, it is any value that is passed on. Without options, the value of the config field is the class:
            `norm: nn.Module = submodule(choice("norm_layer"), "dim")`.
    """
    return Choice(argument, options)
