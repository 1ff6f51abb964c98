"""The part of the runtime that generated code stands on stays small."""

from __future__ import annotations

import re

from .imports import PACKAGE, sources

KERNEL = (
    r"tensorclass/(core|fields)/\w+",
    r"module/core/\w+",
    r"module/(construction|dispatch|initialisation)",
    r"module/fast_paths/(initialisation|registration)",
)
"""Its files, as patterns of names in `qten_gen/runtime`. `qten_gen/runtime/README.md` says what they are for."""

MOST = 4_400
"""Lines that it may have, empty ones left out. The aim is 3,000: lower this when the kernel becomes smaller."""


def lines(pattern: str) -> int:
    """The lines of the files that a pattern selects, empty ones left out."""
    found = [source.name for source in sources() if re.fullmatch(f"runtime/{pattern}", source.name)]
    texts = [(PACKAGE / f"{name}.py").read_text(encoding="utf-8") for name in found]
    return sum(1 for text in texts for line in text.splitlines() if line.strip())


def test_the_kernel_does_not_grow() -> None:
    counted = {pattern: lines(pattern) for pattern in KERNEL}
    assert all(counted.values())
    assert sum(counted.values()) <= MOST, counted
