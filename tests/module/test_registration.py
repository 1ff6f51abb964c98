"""Registered handlers, tensors and children: what may be registered, replaced and removed, and versions of the state dict."""

from __future__ import annotations

import importlib
import io
import typing
from collections.abc import Callable
from typing import Any, ClassVar, Literal, Protocol, TypedDict, runtime_checkable

import pytest
import torch
from torch import Tensor, nn

from qten_gen import Functional, Module, param, submodule
from tests.conftest import Project

from .declared import Block


def functional() -> type[Functional]:
    class Name(Functional):
        pass

    return Name


def says(word: str) -> Callable[[object, object], str]:
    return lambda functional, obj: word


class Sized(Protocol):
    def size(self) -> int: ...


@runtime_checkable
class Named(Protocol):
    name: str


class Point(TypedDict):
    x: int


REFUSED: list[tuple[object, str]] = [
    (list[int], r"takes a class or a union of classes, got list\[int\]; register list for all of them"),
    (typing.Mapping, "got typing.Mapping; register Mapping for all of them"),
    (Literal["a"], "takes a class or a union of classes, got typing.Literal"),
    ("Batch", "takes a class or a union of classes, got 'Batch'"),
    (int | list[int], r"got list\[int\]"),
    (typing.Any, "got Any; register object for all types"),
    (Sized, "cannot tell from an object's class whether it is a Sized: .*@runtime_checkable"),
    (Named, "cannot tell from an object's class whether it is a Named: .*non-method members"),
    (Point, "cannot tell from an object's class whether it is a Point"),
    (torch.FloatTensor, "no object has the class FloatTensor; register Tensor"),
    (nn.Buffer, "no object has the class Buffer; register Tensor, and ask isinstance"),
]


@pytest.mark.parametrize(("given", "message"), REFUSED)
def test_what_no_object_could_match_is_refused(given: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        functional().register(given)


def test_running_the_same_registration_again_replaces_the_handler() -> None:
    name = functional()

    def register(result: int) -> None:
        @name.register(int)
        def _(functional: Functional, number: int) -> int:
            return result

    register(1)
    register(2)
    assert name()(0) == 2


@pytest.mark.parametrize("make", [says, lambda word: torch.no_grad()(says(word)), lambda word: word.format])
def test_handlers_that_one_function_made_are_not_the_same_handler(make: Callable[[str], Any]) -> None:
    name = functional()
    name.register(int)(make("first"))
    with pytest.raises(ValueError, match="Name has a handler for int already"):
        name.register(int)(make("second"))


def test_a_handler_replaces_one_from_elsewhere_where_it_says_so() -> None:
    name = functional()
    name.register(int)(says("first"))
    name.register(int, replace=True)(says("second"))
    assert name()(0) == "second"


SOURCE = """
from owner import Name

{0}@Name.register(int)
def {1}(functional, number):
    return {2}
"""


def test_two_handlers_of_one_file_are_an_error_also_when_it_is_reloaded(project: Project) -> None:
    project.write(
        owner="from qten_gen import Functional\nclass Name(Functional): ...", handlers=SOURCE.format("", "_", 1)
    )
    handlers = (project.load("owner"), project.load("handlers"))[1]
    project.write(handlers=SOURCE.format("", "_", 1) + SOURCE.format("", "_", 2))
    with pytest.raises(ValueError, match="Name has a handler for int already"):
        importlib.reload(handlers)


def test_a_deleted_parameter_is_gone_and_can_come_back_as_a_plain_tensor() -> None:
    block = Block(4)
    del block.weight
    assert not hasattr(block, "weight")
    with pytest.raises(AttributeError, match="'Block' object has no attribute 'weight'"):
        block.weight  # noqa: B018 # what the test is about
    block.weight = torch.ones(12, 4)  # type: ignore[assignment] # what weight normalisation does
    assert torch.equal(block.weight, torch.ones(12, 4))
    assert "weight" not in dict(block.named_parameters())
    del block.weight
    assert not hasattr(block, "weight")


def test_a_name_can_move_from_one_registry_to_another() -> None:
    block = Block(4)
    del block.weight
    block.register_buffer("weight", torch.ones(12, 4))
    assert torch.equal(block.weight, torch.ones(12, 4))
    assert "weight" in dict(block.named_buffers())


class Old(nn.Module):
    """The class as it was, before it was a Module."""

    def __init__(self) -> None:
        super().__init__()
        self.w = nn.Parameter(torch.full((2,), 5.0))
        self.old_norm = nn.LayerNorm(2)


class Scale(Module):
    """The class as it is: both names are new."""

    version: ClassVar[int] = 2
    dim: int = 2
    weight: nn.Parameter = param("dim", initializer=nn.init.zeros_)
    norm: nn.LayerNorm = submodule(nn.LayerNorm, "dim")
    seen: ClassVar[list[int]] = []

    @classmethod
    def migrate(cls, state_dict: dict[str, Tensor], version: int) -> None:
        cls.seen.append(version)
        for key in [key for key in state_dict if key.startswith("old_norm.")]:
            state_dict[key.removeprefix("old_")] = state_dict.pop(key)
        if "w" in state_dict:
            state_dict["weight"] = state_dict.pop("w")


@pytest.fixture(autouse=True)
def nothing_seen() -> None:
    Scale.seen.clear()


def test_an_old_state_dict_loads_where_the_class_is_a_child() -> None:
    old = nn.Sequential(nn.Linear(1, 1), Old())
    new = nn.Sequential(nn.Linear(1, 1), Scale())
    new.load_state_dict(old.state_dict())

    assert new.get_parameter("1.weight").tolist() == [5, 5]


def test_a_saved_state_dict_keeps_its_version() -> None:
    file = io.BytesIO()
    torch.save(Scale().state_dict(), file)
    file.seek(0)
    Scale().load_state_dict(torch.load(file))

    assert Scale.seen == []


def test_a_state_dict_that_lost_its_version_is_migrated_as_version_0() -> None:
    Scale().load_state_dict(dict(Scale().state_dict()))
    Scale().load_state_dict(dict(Old().state_dict()))

    assert Scale.seen == [0, 0]


def test_what_migrate_leaves_is_reported_by_the_names_in_the_state_dict() -> None:
    given = Old().state_dict() | {"other": torch.ones(1)}
    with pytest.raises(RuntimeError, match='Unexpected key\\(s\\) in state_dict: "other"'):
        Scale().load_state_dict(given)


def test_a_class_that_writes_its_own_constructor_migrates_too() -> None:
    class Written(Module):
        version: ClassVar[int] = 3

        def __init__(self) -> None:
            super().__init__()
            self.weight = nn.Parameter(torch.zeros(2))

        @classmethod
        def migrate(cls, state_dict: dict[str, Tensor], version: int) -> None:
            state_dict["weight"] = state_dict.pop("w")

    written = Written()
    written.load_state_dict({"w": torch.ones(2)})
    assert written.weight.tolist() == [1, 1]
    assert written.state_dict()._metadata[""] == {"version": 3}  # type: ignore[attr-defined] # torch's
