"""Generated files of every kind of declaration, as a reviewer reads them."""

from __future__ import annotations

from .golden import GOLDEN, golden_files


def test_the_generated_files_of_the_sources_are_the_golden_ones() -> None:
    """`make generate` writes them anew after a change that is meant."""
    generated = golden_files()
    golden = {path.relative_to(GOLDEN).as_posix(): path.read_text() for path in GOLDEN.glob("*/*.txt")}
    assert generated.keys() == golden.keys()
    for name, text in generated.items():
        assert text == golden[name], name
