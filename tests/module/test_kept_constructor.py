"""A child of a class that writes its own `__init__`, and keeps it with `init=False`."""

import pytest

from qten_gen import Module, TensorClass
from qten_gen.model.diagnostics import DeclarationError
from tests.samples.kinds import modules, modules_qten


class Base(Module):
    size: int

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.size = 2 * dim


class Child(Base, init=False):
    def halved(self) -> float:
        return self.size / 2


class Grandchild(Child, init=False):
    pass


@pytest.mark.parametrize("cls", [Child, Grandchild])
def test_the_constructor_of_the_parent_is_kept(cls: type[Child]) -> None:
    assert cls(3).halved() == 3.0


def test_a_generated_class_keeps_it_too() -> None:
    assert modules_qten.Kept is modules.Kept
    assert modules.Kept(3).bias.shape == (3,)


def test_a_child_that_does_not_say_so_is_told_what_to_write() -> None:
    with pytest.raises(DeclarationError, match=r"write class Silent\(Base, init=False\) to inherit it"):

        class Silent(Base):
            pass


def test_a_grandchild_says_it_again() -> None:
    with pytest.raises(DeclarationError, match=r"QG307"):

        class Silent(Child):
            pass


def test_there_has_to_be_a_constructor_to_keep() -> None:
    with pytest.raises(DeclarationError, match=r"no base of Empty has a hand-written __init__"):

        class Empty(Module, init=False):
            size: int


def test_a_tensorclass_has_no_such_flag() -> None:
    with pytest.raises(DeclarationError, match=r"TensorClass has no flag 'init'"):

        class Batch(TensorClass, init=False):  # pyright: ignore[reportGeneralTypeIssues]  # what is tested
            pass
