"""No name that Module adds to nn.Module is one that an installed library asks of a model, unless it means the same there."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path

import pytest
from torch import nn

from qten_gen import Module

LIBRARIES = ("accelerate", "lightning", "peft", "safetensors", "torch", "transformers")
ASKED = re.compile(rb"""\b(?:has|get)attr\((?:[^()\n]|\([^()\n]*\))*?, ?["'](\w+)["']""")
SAME = frozenset({"device", "reset_parameters"})
"""Names that mean in a Module what they mean in a model of these libraries."""
OF_OTHERS = frozenset({"version"})
"""Names that they ask of something else only: `torch.version`."""


@pytest.mark.long(5)
def test_module_adds_no_name_that_an_installed_library_asks_for() -> None:
    asked: set[str] = set()
    for library in LIBRARIES:
        spec = find_spec(library)
        for folder in () if spec is None else spec.submodule_search_locations or ():
            for path in Path(folder).rglob("*.py"):
                asked.update(name.decode() for name in ASKED.findall(path.read_bytes()))
    assert {"base_model", "config"} <= asked
    added = {name for name in set(dir(Module)) - set(dir(nn.Module)) if not name.startswith("_")}
    assert added & asked <= SAME | OF_OTHERS
