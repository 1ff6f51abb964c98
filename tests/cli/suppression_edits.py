"""Edits that add and remove comments which suppress findings, and what has to be true after each."""

from __future__ import annotations

import shutil
from pathlib import Path

from hypothesis import strategies as st

from tests.command import Command

HEAD = "from torch import Tensor, nn\nfrom qten_gen import Module, TensorClass, submodule\n\n"
IGNORE = "  # qten-gen: ignore[QG210] known"

_BODIES = st.lists(
    st.sampled_from(
        [
            "    x: Tensor\n",
            "    w: float\n",
            f"    w: float{IGNORE}\n",
            "    w: float = (\n        1.0\n    )  # qten-gen: ignore[QG210]\n",
            "    w: float = (  # qten-gen: ignore[QG210]\n        1.0\n    )\n",
            "    w: float = (\n        1.0  # qten-gen: ignore[QG210]\n    )\n",
            "    y: Tensor  # qten-gen: ignore[QG210]\n",
            "    # a comment\n",
        ]
    ),
    max_size=3,
)
_NET = "class Net(Module):\n    act: nn.ReLU = submodule(nn.ReLU, inplac=True)"
_TOPS = st.sampled_from(
    [
        "",
        "\n",
        "# above\n",
        "import os\n",
        "# qten-gen: ignore[QG210]\n",
        f"{_NET}\n",
        f"{_NET}  # qten-gen: ignore[QG320]\n",
    ]
)

Edit = tuple[str, list[str], str]
"""A text above the class, the lines of its body, and a text below."""

EDITS = st.lists(st.tuples(_TOPS, _BODIES, _TOPS), min_size=2, max_size=5)


def assert_each_run_says_what_a_run_without_a_cache_says(qten_gen: Command, edits: list[Edit]) -> None:
    """Run the command after each edit of a base. Its children are in another file, which depends on the comments of the first."""
    shutil.rmtree("src", ignore_errors=True)
    shutil.rmtree("cold", ignore_errors=True)
    for top, body, below in edits:
        base = f"{HEAD}{top}class Base(TensorClass):\n    a: Tensor\n"
        texts = {
            "base.py": base + "".join(body) + below,
            "child.py": "from base import Base\nclass Child(Base): ...\n",
        }
        for name, text in texts.items():
            qten_gen.write(f"src/{name}", text)
            qten_gen.write(f"cold/{name}", text)
        shutil.rmtree("cold/.qten_cache", ignore_errors=True)
        warm, cold = qten_gen("--output-format", "json", "src"), qten_gen("--output-format", "json", "cold")
        assert warm.out.replace("src/", "cold/") == cold.out
        assert warm.status == cold.status
        assert _written("src") == _written("cold")


def _written(folder: str) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in Path(folder).glob("*_qten.py*")}
