"""Annotated variables in `forward` and in the functions that it calls are compared while a model runs."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from tests.command import Command

FILE = """
from jaxtyping import Float
from torch import Tensor, nn
from qten_gen import Module, submodule

def turned(x: Float[Tensor, "b t w"]) -> Float[Tensor, "b w t"]:
    return x{turn}

class Net(Module):
    width: int
    up: nn.Linear = submodule(nn.Linear, "width", "2*width")

    def forward(self, x: Float[Tensor, "b t width"]) -> Tensor:
        h: Float[Tensor, "b t {wide}*width"] = self.up(
            x
        )
        for _ in range(2):
            part: Float[Tensor, "b t {size}"] = self.half(h)
        return turned(part)

    def half(self, h: Float[Tensor, "b t {wide}*width"]) -> Float[Tensor, "b t width"]:
        return h[..., : self.width]
"""


def written(qten_gen: Command, **said: str) -> str:
    """The target of a model in a file of its own, which no other test has imported."""
    text = re.sub(r"\{(\w+)\}", lambda match: said[match[1]], FILE)
    name = "variables_" + "_".join(re.sub(r"\W", "", value) for value in said.values())
    (qten_gen.folder / f"{name}.py").write_text(text, encoding="utf-8")
    return f"{name}:Net"


RUN = ("--config", "width=8", "--run", "x: Float[3, 5, 8]")


def test_variables_and_helpers_that_hold_are_counted(qten_gen: Command) -> None:
    done = qten_gen("inspect", written(qten_gen, turn=".mT", wide="2", size="width"), *RUN)
    assert done.out.endswith("annotated shapes hold: 10 tensors compared\n")


@pytest.mark.parametrize(
    ("said", "names", "reason"),
    [
        ({"turn": ""}, [("turned", "result", 6)], "dimension 1 of result is 5, but w = 8 (from dimension 2 of x)"),
        (
            {"wide": "3"},
            [("Net.forward", "h", 14), *[("Net.half", "h", 21)] * 2],
            "dimension 2 of h is 16, but 3*width = 24, where width = 8 (from the config of the model)",
        ),
        (
            {"size": "t"},
            [("Net.forward", "part", 18)] * 2,
            "dimension 2 of part is 8, but t = 5 (from dimension 1 of x)",
        ),
    ],
)
def test_a_variable_or_helper_that_does_not_hold_is_named_with_its_line(
    qten_gen: Command, said: dict[str, str], names: list[tuple[str, str, int]], reason: str
) -> None:
    target = written(qten_gen, **{"turn": ".mT", "wide": "2", "size": "width", **said})
    mismatches: list[dict[str, Any]] = json.loads(qten_gen("inspect", target, *RUN, "--json").out)["run"]["findings"]
    found = [(each["function"], each["mismatch"]["name"], int(each["place"].rpartition(":")[2])) for each in mismatches]
    assert found == names
    assert mismatches[0]["mismatch"]["reasons"][0] == reason
