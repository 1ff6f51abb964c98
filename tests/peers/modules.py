"""Run QTen's tests of its Module, or inferno's of its VirtualTensor, with the classes of this project.

`make peers CHECKOUT=path` with a checkout of https://github.com/Alphaharrius/qTen or https://github.com/mdominijanni/inferno.
Imports are replaced, and nothing else of a test.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]

QTEN_SUITE = Path("tests", "test_modules.py")
QTEN_NAMES = '''
from qten_gen import Device, FrozenDict, LabelledTensor as Tensor, Module, nograd_tensors
from qten_gen import TENSOR_BUFFER_PREFIX, TENSOR_PARAM_PREFIX


class IndexSpace:
    """A labelled dimension, which is a name here."""

    linear = staticmethod("linear{}".format)
'''

INFERNO_SUITE = Path("test", "core", "test_new_constraints.py")
INFERNO_NAMES = (
    "import random, uuid, weakref\nimport pytest\nimport torch\nfrom qten_gen import Module, VirtualTensor\n"
)


def rewritten(checkout: Path) -> str:
    """The tests of a checkout with other imports."""
    if (checkout / QTEN_SUITE).exists():
        source = (checkout / QTEN_SUITE).read_text(encoding="utf-8")
        return f"import torch\nimport torch.nn as nn\nimport pytest\n{QTEN_NAMES}\n{_after(source, 'VECTOR_DIM = ')}"
    source = (checkout / INFERNO_SUITE).read_text(encoding="utf-8")
    helpers = _after(source, "@pytest.fixture").partition("\nclass ")[0]
    return f"{INFERNO_NAMES}\n{helpers}\n{_after(source, 'class TestVirtualTensor')}"


def _after(source: str, start: str) -> str:
    return source[source.index(start) :]


def is_here(checkout: Path) -> bool:
    """Whether a checkout is one of those whose tests this file knows."""
    return any((checkout / suite).exists() for suite in (QTEN_SUITE, INFERNO_SUITE))


def run(checkout: Path) -> int:
    """Run the tests; the exit status of pytest."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "test_rewritten.py").write_text(rewritten(checkout), encoding="utf-8")
        options = ["-q", "-p", "no:cacheprovider", "-c", os.devnull, "--rootdir", folder]
        environment = os.environ | {"PYTHONPATH": str(REPOSITORY)}
        command = [sys.executable, "-m", "pytest", *options, folder]
        return subprocess.run(command, cwd=folder, env=environment, check=False).returncode
