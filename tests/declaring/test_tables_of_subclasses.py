"""The tables of a class that declares anew what its parent declares: they are its own, also where they are empty."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

from qten_gen.runtime.module.module_base import ModuleBase
from qten_gen.runtime.tensorclass.core.stored import Stored

Load = Callable[[str], ModuleType]

MODULES = """
    import torch
    from torch import Tensor, nn
    from qten_gen import Module, derived, field, param, submodule

    class Parent(Module):
        dim: int = field(default=2, alias="size")
        width: int = derived("2*dim")
        embed: nn.Embedding = submodule(nn.Embedding, "dim", "dim", group="embeddings")
        head: nn.Parameter = param(tie="embed.weight")

    class Child(Parent):
        dim: int
        width: int
        embed: nn.Embedding = submodule(nn.Embedding, "dim", "dim")
        head: nn.Parameter = param("dim", "dim", initializer=nn.init.ones_)

    class Orphan(Module):
        dim: int
        width: int
        embed: nn.Embedding = submodule(nn.Embedding, "dim", "dim")
        head: nn.Parameter = param("dim", "dim", initializer=nn.init.ones_)

    class Heir(Parent):
        pass

    class Both(Child, Heir):
        pass

    class Assigned(Parent):
        dim: int
        embed: nn.Embedding
        head: nn.Parameter

        def __init__(self, dim: int) -> None:
            nn.Module.__init__(self)
            self.embed = nn.Embedding(dim, dim)
            self.head = self.embed.weight
"""

TENSORCLASSES = """
    from torch import Tensor
    from qten_gen import PerItem, TensorClass, Unbatched

    class Point(TensorClass):
        x: Tensor

    class Parent(TensorClass):
        a: Point
        b: Unbatched[Tensor]
        c: PerItem[str]
        d: dict[str, Tensor]
        e: str = ""
        f: Tensor | None = None

    class Child(Parent):
        a: Tensor
        b: Tensor
        c: Tensor
        d: Tensor
        e: Tensor
        f: Tensor

    class Orphan(TensorClass):
        a: Tensor
        b: Tensor
        c: Tensor
        d: Tensor
        e: Tensor
        f: Tensor

    class Heir(Parent):
        pass

    class Both(Child, Heir):
        pass
"""


@pytest.fixture(params=["generated", "in memory"])
def load(request: pytest.FixtureRequest, project: Any) -> Load:
    """Loads declarations with the classes that the command made for them, or without."""

    def load(text: str) -> ModuleType:
        project.write(tables=text)
        if request.param == "generated":
            project.generate()
        loaded: ModuleType = project.load("tables")
        return loaded

    return load


def tables(ground: type, cls: type) -> dict[str, object]:
    """What a class has for the tables of its base class."""
    kinds = (dict, tuple, frozenset)
    names = {name for name, empty in vars(ground).items() if name.startswith("_") and type(empty) in kinds}
    return {name: getattr(cls, name) for name in names | {"_defaults", "_specifiers"} if not name.startswith("__")}


@pytest.mark.parametrize("name", ["Child", "Both"])
@pytest.mark.parametrize(
    ("ground", "text"), [(ModuleBase, MODULES), (Stored, TENSORCLASSES)], ids=["Module", "TensorClass"]
)
def test_they_are_those_of_a_class_without_a_parent(load: Load, ground: type, text: str, name: str) -> None:
    loaded = load(text)
    alone, inherited = tables(ground, loaded.Orphan), tables(ground, loaded.Parent)

    assert tables(ground, vars(loaded)[name]) == alone
    assert tables(ground, loaded.Heir) == inherited != alone


def test_a_parameter_is_in_no_group_that_only_the_parent_names(load: Load) -> None:
    loaded = load(MODULES)

    assert [group["name"] for group in loaded.Child(2, 3).optimizer_groups()] == ["default"]
    assert [group["name"] for group in loaded.Heir(2).optimizer_groups()] == ["embeddings"]


def test_a_tie_that_only_the_parent_declares_is_torchs_business(load: Load) -> None:
    loaded = load(MODULES)
    assigned, heir = (made.to("meta").to_empty(device="cpu") for made in (loaded.Assigned(2), loaded.Heir(2)))

    assert assigned.head is not assigned.embed.weight
    assert heir.head is heir.embed.weight
