"""Writes through `.data` are found in the methods of classes with cached virtual tensors."""

from __future__ import annotations

from qten_gen.read.module import read

CLASS = """
from qten_gen import Module, virtual

class Decay(Module):
    @virtual(cached={cached})
    def factor(self, dtype, device):
        return -self.rate

    def change(self, other):
        {statement}
"""


def written(statement: str, cached: str = "True") -> list[str]:
    source, diagnostics = read(CLASS.format(statement=statement, cached=cached).encode(), "decay.py", "decay")
    assert not diagnostics
    (cls,) = source.classes
    return [write.name for method in cls.methods for write in method.data_writes]


def test_an_assignment_an_item_and_a_method_that_changes_are_writes() -> None:
    assert written("self.rate.data = other") == ["rate"]
    assert written("self.rate.data += 1") == ["rate"]
    assert written("self.rate.data[0][1] = other") == ["rate"]
    assert written("self.rate.data.mul_(2).add_(1)") == ["rate"]
    assert written("self.rate.data[0].mul_(2)") == ["rate"]
    assert written("for _ in other: self.shift.data = self.rate.data = other") == ["shift", "rate"]


def test_a_read_is_none() -> None:
    assert written("return self.rate.data.mul(2), other.rate.data.mul_(2), self.rate.mul_(2)") == []


def test_they_are_looked_for_only_where_something_is_cached() -> None:
    text = CLASS.format(statement="self.rate.data = other", cached="True").replace("(cached=True)", "")
    source, _ = read(text.encode(), "decay.py", "decay")
    assert [method.data_writes for method in source.classes[0].methods] == [(), ()]
