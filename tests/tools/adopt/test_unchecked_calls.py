"""Which calls the level `annotate` leaves unchecked."""

from __future__ import annotations

import pytest

from qten_gen.tools.adopt.adoption import Level

from .adopted import adopted, outcome

_HEAD = """\
from typing import Optional, Tuple, Union

from qten_gen import Module
from torch import Tensor

Observation = Union[Tensor, dict[str, Tensor]]


"""
_UNCHECKED = "    __call__: ClassVar[Any]  # type: ignore[misc]\n"


def _actor(*methods: str) -> str:
    return f"class Actor(Module):\n{''.join(f'    def {each}{chr(10)}' for each in methods)}"


CONTRADICTED = {
    "forward returns 3 values, and its annotation says 2": (
        "forward(self, x) -> Tuple[Tensor, Tensor]: return x, x, x",
    ),
    "act takes obs as a dict too": ("forward(self, obs: Tensor): pass", "act(self, obs: Observation): pass"),
    "line 11 of model.py passes a dict too": (
        "forward(self, obs: Tensor): pass",
        "_act(self, seen: Observation): self(seen)",
    ),
    "line 12 of model.py passes a tuple too": (
        "forward(self, *, obs: Tensor): pass",
        "features(self) -> Tensor | tuple[Tensor, Tensor]: pass",
        "_act(self): seen = self.features(); self(obs=seen)",
    ),
}


@pytest.mark.parametrize(("why", "methods"), CONTRADICTED.items(), ids=CONTRADICTED)
def test_calls_stay_unchecked_where_the_project_contradicts_forward(why: str, methods: tuple[str, ...]) -> None:
    before = _HEAD + _actor(*methods)
    found = outcome({"model.py": before}, Level.ANNOTATE)
    after = found.texts["model.py"].decode()
    assert found.adoptions[0].done == ((Level.ANNOTATE, f"leave its calls unchecked, because {why}"),)
    assert "from typing import Any, ClassVar, Optional" in after
    assert f"class Actor(Module):\n{_UNCHECKED}" in after
    assert adopted(after, Level.ANNOTATE) == after


@pytest.mark.parametrize(
    "methods",
    [
        ("forward(self, x) -> Tuple[Tensor, ...]: return x, x, x",),
        ("forward(self, x) -> Tuple[Tensor, Tensor]: return x, *x",),
        ("forward(self, obs: Tensor): pass", "act(self, obs: Optional[Tensor]): self(obs)"),
        ("forward(self, obs: Observation): pass", "act(self, obs: Observation): self(obs)"),
        ("forward(self, obs: Tensor): pass", "_act(self, seen: Observation): seen = seen['x']; self(seen)"),
    ],
)
def test_other_calls_are_checked(methods: tuple[str, ...]) -> None:
    before = _HEAD + _actor(*methods)
    assert adopted(before, Level.ANNOTATE) == before


def test_a_call_of_an_attribute_in_another_file_leaves_the_calls_of_its_class_unchecked_and_those_of_heirs() -> None:
    actor = _actor("forward(self, obs: Tensor): pass")
    heir = _actor(*CONTRADICTED["act takes obs as a dict too"]).replace("Actor(Module)", "Fast(Actor)")
    policy = """\
from actor import Actor


class Policy(Module):
    actor: Actor

    def __init__(self): pass
    def act(self, seen: Observation): self.actor(seen)
"""
    files = {"actor.py": f"{_HEAD}{actor}\n\n{heir}", "policy.py": _HEAD + policy}
    assert outcome(files, Level.ANNOTATE).texts["actor.py"].decode().count(_UNCHECKED) == 1
