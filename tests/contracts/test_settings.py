"""Files with settings, held against the constructor of a Module by `qten-gen lock --check`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from qten_gen.tools.lock.lists_and_settings import misfits
from tests.command import Command

SCHEMA = {
    "properties": {
        "width": {"type": "integer", "minimum": 1, "multipleOf": 8},
        "rate": {"type": "number", "exclusiveMaximum": 1},
        "norm": {"enum": ["rms", "layer"]},
        "bias": {"anyOf": [{"type": "boolean"}, {"type": "null"}]},
        "anything": {},
    },
    "required": ["width"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"width": 8, "rate": 0, "norm": "rms", "bias": None, "anything": [1]}, []),
        ({"width": 8, "rat": 0.5}, ["'rat' is not an argument: did you mean rate?"]),
        ({}, ["'width' is missing, and has no default"]),
        ({"width": "8"}, ["width: expected integer, got '8'"]),
        ({"width": True}, ["width: expected integer, got True"]),
        ({"width": 12}, ["width: expected a multiple of 8, got 12"]),
        ({"width": 0}, ["width: expected >= 1, got 0"]),
        ({"width": 8, "rate": 1.0}, ["rate: expected < 1, got 1.0"]),
        ({"width": 8, "norm": "batch"}, ["norm: expected 'rms' or 'layer', got 'batch'"]),
        ({"width": 8, "bias": 1}, ["bias: expected boolean or null, got 1"]),
    ],
)
def test_settings_are_held_against_a_schema(settings: object, expected: list[str], tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps(settings))
    assert list(misfits("a.json:", str(tmp_path), SCHEMA)) == [f"a.json:: {each}" for each in expected]


MODEL = """\
from torch import nn
from qten_gen import Module, param


class Net(Module):
    width: int
    depth: int = 2
    weight: nn.Parameter = param("width", initializer=nn.init.ones_)
"""


def test_the_command_reports_a_setting_that_nobody_reads(
    qten_gen: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    Path("nets.py").write_text(MODEL)
    Path("base.toml").write_text("[model]\nwidth = 8\ndept = 3\n")
    Path("pyproject.toml").write_text(
        '[tool.qten-gen]\nlocks = ["nets:Net(width=8)"]\nnames = {"base.toml:model" = "nets:Net.from_config"}\n'
    )
    try:
        done = qten_gen("lock")
    finally:
        sys.modules.pop("nets", None)
    assert (done.status, done.err) == (1, "error: base.toml:model: 'dept' is not an argument: did you mean depth?\n")
