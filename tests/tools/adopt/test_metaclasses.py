"""A class whose metaclass cannot be combined with that of Module stays, and so do the bases that would give it Module's."""

from __future__ import annotations

from .adopted import adopted, outcome, reasons

_HEAD = """\
from abc import ABC, ABCMeta
from torch import nn


class Meta(type): ...


class Abstract(ABCMeta): ...


class Mixin(metaclass=Meta): ...


"""


def test_a_base_stays_whose_subclass_has_a_metaclass_of_its_own() -> None:
    text = _HEAD + "class A(nn.Module): ...\n\n\nclass B(A, metaclass=Abstract): ...\n\n\nclass C(nn.Module): ...\n"
    why = "the metaclass of B is Abstract, and Module has one of its own"
    assert reasons(text) == {"A": why, "B": "its metaclass is Abstract, and Module has one of its own"}
    assert "class A(nn.Module)" in adopted(text) and "class C(Module)" in adopted(text)


def test_a_base_stays_whose_subclass_in_another_file_has_a_metaclass() -> None:
    files = {
        "base.py": "from torch import nn\n\n\nclass A(nn.Module): ...\n",
        "child.py": "from base import A\nfrom meta import Meta\n\n\nclass B(A, metaclass=Meta): ...\n",
        "meta.py": "class Meta(type): ...\n",
    }
    assert not outcome(files).texts


def test_a_base_stays_whose_subclass_inside_a_function_has_a_metaclass() -> None:
    text = _HEAD + "class A(nn.Module): ...\n\n\ndef make():\n    class B(A, metaclass=Meta): ...\n    return B\n"
    assert reasons(text)["A"] == "the metaclass of make.B is Meta, and Module has one of its own"


def test_a_class_stays_that_a_mixin_gives_a_metaclass() -> None:
    text = _HEAD + "class A(Mixin, nn.Module): ...\n"
    assert reasons(text) == {"A": "the metaclass of Mixin is Meta, and Module has one of its own"}


def test_a_base_stays_whose_subclass_gets_a_metaclass_from_a_mixin() -> None:
    text = _HEAD + "class A(nn.Module): ...\n\n\nclass B(A, Mixin): ...\n"
    assert reasons(text)["A"] == "the metaclass of Mixin is Meta, and Module has one of its own"


def test_a_tensorclass_stays_whose_mixin_has_a_metaclass() -> None:
    text = (
        _HEAD
        + "import torch\nfrom tensordict import TensorClass\n\n\nclass A(Mixin, TensorClass):\n    x: torch.Tensor\n"
    )
    assert reasons(text) == {"A": "the metaclass of Mixin is Meta, and TensorClass has one of its own"}


def test_abstract_subclasses_are_no_obstacle() -> None:
    text = _HEAD + "class A(nn.Module): ...\n\n\nclass B(A, metaclass=ABCMeta): ...\n\n\nclass C(A, ABC): ...\n"
    assert reasons(text) == {}
    assert "class A(Module)" in adopted(text)


def test_a_class_that_was_adopted_by_hand_keeps_its_metaclass() -> None:
    text = _HEAD + (
        "from qten_gen import Module\n\n\nclass OurMeta(type(Module)): ...\n\n\n"
        "class A(Module): ...\n\n\nclass B(A, metaclass=OurMeta): ...\n"
    )
    assert reasons(text) == {}
