"""The kernel of the runtime: what is loaded with the functions that the generated code of every class calls."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from qten_gen.model.array_shapes import FAMILIES
from qten_gen.runtime import generated, generated_features
from tests.generated_sources import generated_sources

from .imports import PACKAGE, REPOSITORY, arrows_at_once, reached

MOST = 3_000
"""Lines that the kernel may have, so that it can be read in an afternoon."""

BELOW = ("common/", "runtime/declaring/")
"""What the kernel stands on: the vocabulary, and class statements."""


def loaded(file: str) -> dict[str, int]:
    """The files that are loaded with one, itself included, and how many lines each has; without those of `BELOW`."""
    files = {file, *reached(file, arrows_at_once())}
    return {
        found: len((PACKAGE / f"{found}.py").read_bytes().splitlines())
        for found in files
        if not found.startswith(BELOW)
    }


def test_the_kernel_is_small_and_loads_no_feature() -> None:
    kernel = loaded("runtime/generated")
    features = arrows_at_once()["runtime/generated_features"]
    assert len(features) > 4
    assert features & kernel.keys() == set()
    assert sum(kernel.values()) <= MOST, kernel


def test_the_page_of_the_runtime_says_how_large_the_kernel_is() -> None:
    (said,) = re.findall(r"about ([\d,]+) lines", (PACKAGE / "runtime/README.md").read_text(encoding="utf-8"))
    assert abs(int(said.replace(",", "")) - sum(loaded("runtime/generated").values())) < 100


@pytest.mark.parametrize(("alias", "hub"), [("_rt", generated), ("_features", generated_features)])
def test_generated_code_calls_all_that_is_listed_for_it(alias: str, hub: object) -> None:
    folders = (REPOSITORY / "examples", generated_sources())
    generated_files = [path for folder in folders for path in folder.glob("*/*_qten.py")]
    called = {
        name for path in generated_files for name in re.findall(rf"\b{alias}\.(\w+)", path.read_text(encoding="utf-8"))
    }
    families = {family.upper() for family in FAMILIES}
    text = Path(str(hub.__file__)).read_text(encoding="utf-8")  # type: ignore[attr-defined] # a module has a file
    listed = {*re.findall(r"import \w+ as (\w+)", text)}
    assert len(listed) > 20
    assert called - listed == set()
    assert listed - called - families == set()
