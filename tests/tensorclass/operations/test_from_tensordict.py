"""Every public member of tensordict's TensorClass is here, or has advice; and the advice names what is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from torch import Tensor

from qten_gen import TensorClass
from qten_gen.runtime.tensorclass.operations.tensordict_alternatives import INSTEAD
from templates.from_tensordict_page import NOT_OF_TENSORDICT, documentation, same_names

PAGE = Path(__file__).parents[3] / "docs" / "from-tensordict.md"


def test_every_member_of_the_peer_is_here_or_has_advice() -> None:
    tensordict = pytest.importorskip("tensordict", reason="the members are compared where tensordict is installed")

    class Peer(tensordict.TensorClass):  # type: ignore[name-defined, misc] # imported at run time
        only_field: Tensor

    members = {name for name in dir(Peer) if not name.startswith("_") and name != "only_field"}
    assert members == {*same_names(), *INSTEAD}


def test_nothing_has_advice_that_is_here() -> None:
    here = {name for name in dir(TensorClass) if not name.startswith("_")}
    assert here & INSTEAD.keys() == set()
    assert here >= NOT_OF_TENSORDICT


@pytest.mark.parametrize("name", sorted(INSTEAD))
def test_advice_names_members_that_are_there(name: str) -> None:
    """`.name`, `Batch.name` and `batch.name` at the start of a word are members."""
    named = re.findall(r"(?<![\w)])(?:[Bb]atch)?\.([a-z_]\w*)(?=\W|$)", INSTEAD[name])
    members = {*dir(TensorClass), "nbytes", "x", "y", "batch_size", "device"}
    assert [found for found in named if found not in members] == []


def test_the_page_is_fresh() -> None:
    assert PAGE.read_text(encoding="utf-8") == documentation() + "\n", "run: make generate"
