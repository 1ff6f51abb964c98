"""State dicts of older versions of a class are loaded."""

from __future__ import annotations

import copy
import io
from typing import ClassVar

import pytest
import torch
from torch import Tensor, nn

from qten_gen import Module, param, submodule


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


def test_the_state_dict_that_was_given_is_left_as_it_was() -> None:
    given = Old().state_dict()
    before = copy.copy(given)
    Scale().load_state_dict(given)

    assert list(given) == list(before)


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
