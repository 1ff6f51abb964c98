"""The values that a name may have at one place of a function, as far as the text proves them."""

from __future__ import annotations

from dataclasses import dataclass, field

Values = frozenset[str]
"""The kinds of values that an expression may have.

A kind is one of the words below, the qualified name of a class of modules, `?x` for what is passed for the argument x, or one of
these with a star: `torch.Tensor*` is a sequence of tensors.
"""

TENSOR = frozenset({"torch.Tensor"})
NONE = frozenset({"None"})
NUMBER = frozenset({"a number"})
SOMETHING = frozenset({"something"})
"""Anything but None."""
OF_TORCH = frozenset({"an object of torch"})
"""What another function of torch returns: never None."""
ANYTHING = frozenset({"anything"})
NEVER: Values = frozenset()
"""The elements of a container that is empty."""


def argument(name: str) -> Values:
    """What is passed for an argument, whatever that is."""
    return frozenset({f"?{name}"})


def several(values: Values) -> Values:
    """Sequences of values."""
    return frozenset(f"{each}*" for each in values)


def elements(values: Values) -> Values:
    """The elements of sequences, or of a tensor along its first dimension."""
    found: Values = NEVER
    for each in values:
        if each.endswith("*"):
            found |= {each[:-1]}
        else:
            found |= TENSOR if values == TENSOR else ANYTHING
    return found


def given(values: Values) -> Values:
    """Values that are known not to be None."""
    return frozenset("something" if each == "anything" or each.startswith("?") else each for each in values - NONE)


def elsewhere(values: Values) -> Values:
    """Values in another function, which knows nothing about these arguments."""
    return frozenset("anything" if each.startswith("?") else each for each in values)


def computed(left: Values, right: Values) -> Values:
    """The result of an operator. Of a tensor and something unknown it is unknown: that may define the operator."""
    if not left or not right or not left | right <= TENSOR | NUMBER:
        return SOMETHING
    if TENSOR in (left, right):
        return TENSOR
    return left | right


@dataclass(slots=True)
class State:
    """The values of local names at one place."""

    names: dict[str, Values] = field(default_factory=dict)
    proven: frozenset[str] = frozenset()
    """The arguments that are tensors, because what took them before raises for anything else."""

    def copy(self) -> State:
        """The same state, which can change on its own."""
        return State(dict(self.names), self.proven)

    def settled(self, values: Values) -> Values:
        """Values with what was proven since they were read."""
        return values if self.proven.isdisjoint(values) else (values - self.proven) | TENSOR

    def of(self, name: str) -> Values:
        """The values of a name."""
        return self.settled(self.names.get(name, ANYTHING))

    def prove(self, name: str) -> None:
        """Note that the value of a name is a tensor. Another name may have the same argument."""
        values = self.of(name) - NONE
        if len(values) == 1 and (only := next(iter(values))).startswith("?") and "*" not in only:
            self.proven |= {only}
        self.names[name] = TENSOR


def joined(states: list[State]) -> State | None:
    """The state where several paths meet; None if no path leads there.

    A name that a path does not bind cannot be read behind it.
    """
    if not states:
        return None
    names = dict.fromkeys(name for each in states for name in each.names)
    return State(
        {name: frozenset().union(*(each.of(name) for each in states if name in each.names)) for name in names},
        frozenset.intersection(*(each.proven for each in states)),
    )
