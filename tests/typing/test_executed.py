"""Every row of the programs gives what its type says when it runs, as far as it can run here."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests import fresh_process
from tests.typing.executed import NOT_RUN

REPOSITORY = Path(__file__).parents[2]

WIDER = {
    ("deferred_init(lambda: torch.ones(3))", "Tensor"),  # a deferred tensor
    ("materialize_tensor(linear.weight)", "Tensor"),  # the signature cannot say that a parameter stays one
    ("model.weight", "LabelledTensor"),  # one that its module knows
    ("Framed(model.weight).frame", "LabelledTensor"),
    ("model.weight.data", "Tensor"),  # a parameter, of a labelled one
    ("model.decay.owner", "nn.Module | None"),
    ("tower.get_submodule('layers')", "nn.Module"),  # what the name leads to is known at run time only
    ("block.norm", "nn.Module"),  # of the class that the constructor was given
}
"""Rows whose value is of a class below the type."""


@pytest.fixture(scope="module")
def outcome() -> dict[str, list[list[str]]]:
    """What running all programs gives."""
    environment = os.environ | {"PYTHONPATH": str(REPOSITORY)}
    done = fresh_process.run("-W", "ignore", "-m", "tests.typing.executed", cwd=REPOSITORY, env=environment)
    assert done.returncode == 0, done.stderr
    found: dict[str, list[list[str]]] = json.loads(done.stdout.splitlines()[-1])
    return found


def test_every_value_is_of_the_type_that_checkers_say(outcome: dict[str, list[list[str]]]) -> None:
    assert {(code, said) for _, code, said, _ in outcome["wrong"]} == WIDER


def test_what_cannot_run_is_listed(outcome: dict[str, list[list[str]]]) -> None:
    listed = NOT_RUN.read_text(encoding="utf-8").splitlines()
    assert sorted(set(map(str, outcome["raising"]))) == sorted(listed), "run: python -m tests.typing.executed --write"
