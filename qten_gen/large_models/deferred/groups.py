"""Sets of numbers that are joined one by one: the storages of a tape that operations bring together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


class Groups:
    """A union-find over numbers, each of which is a set of its own at first.

    >>> groups = Groups()
    >>> groups.join(1, 2)
    >>> groups.root(1) == groups.root(2), groups.root(3)
    (True, 3)
    """

    def __init__(self) -> None:
        self._parents: dict[int, int] = {}

    def root(self, number: int) -> int:
        """The number that stands for the set of another."""
        while (above := self._parents.get(number, number)) != number:
            self._parents[number] = self._parents.get(above, above)
            number = above
        return number

    def join(self, one: int, other: int) -> None:
        """Make one set of the sets of two numbers."""
        self._parents[self.root(other)] = self.root(one)


def joined(sets: Iterable[Sequence[int]]) -> Groups:
    """The groups of numbers that some set has together."""
    groups = Groups()
    for numbers in sets:
        for other in numbers[1:]:
            groups.join(numbers[0], other)
    return groups
