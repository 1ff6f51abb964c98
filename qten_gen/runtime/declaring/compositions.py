"""Specifiers that put children together: a sequence of them, and a choice between classes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, TypeVar, cast, overload

from torch import nn

from ...common import language
from ...common.specifier_records import RecordedCall
from .containers import ModuleDict, ModuleList, Sequential
from .fields import Dimension, Names, Submodule

M = TypeVar("M", bound=nn.Module)


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
    *members: M | type[M] | ModuleList[M] | None,
    repeat: Dimension,
    group: str | None = None,
    init: Literal[False] = False,
) -> ModuleList[Sequential[M]]: ...
@overload
def sequential(
    *members: M | type[M] | ModuleList[M] | None,
    keys: Names,
    group: str | None = None,
    init: Literal[False] = False,
) -> ModuleDict[Sequential[M]]: ...
@overload
def sequential(
    *members: M | type[M] | ModuleList[M] | None,
    when: str,
    group: str | None = None,
    init: Literal[False] = False,
    **named: M | type[M] | None,
) -> Sequential[M] | None: ...
@overload
def sequential(
    *members: M | type[M] | ModuleList[M] | None,
    group: str | None = None,
    init: Literal[False] = False,
    **named: M | type[M] | None,
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
    if members and named:
        raise TypeError("sequential() takes members with names or without names, not both")
    return Submodule(Sequential, tuple(map(_member, members)), _named(named), when, repeat, keys, group)


def _named(members: Mapping[str, object]) -> dict[str, object]:
    return {name: _member(member) for name, member in members.items()}


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
