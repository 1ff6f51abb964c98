"""How large each room may be. A row is changed in a commit that says why, and another row pays for it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from .imports import REPOSITORY, sources

ROOMS = {
    "cli": 1_529,
    "run|project|generate": 4_230,
    "read|link|model|common": 8_107,
    "reflection": 922,
    "rules": 5_014,
    "emit|report|building": 2_211,
    "runtime/declaring": 3_270,
    "runtime/module": 3_961,
    "runtime/qten_style|runtime": 2_043,
    "runtime/tensorclass|runtime/tensorclass/(core|fields)": 5_000,
    "runtime/tensorclass/(methods|operations)": 4_574,
    "runtime/tensorclass/storage": 2_094,
    "runtime/tensorclass/(processes|interop|torch_tools)": 1_680,
    "large_models": 3_679,
    "tools/adopt": 2_944,
    "tools/(inspect|lock)": 1_616,
    "tools/lsp": 1_031,
    "tools/stubs": 643,
    "tools/check|tools": 256,
    "": 87,
}
"""Rooms that share a number of lines, as a pattern of their folders below `qten_gen`."""

PACKAGE_LINES = 55_000
PACKAGE_FILES = 330
TEST_LINES = 56_000


def lines(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def room_of(name: str) -> str:
    """The row of a file by its name without suffix: the one that names its folder, or the nearest folder above."""
    folders = name.split("/")[:-1]
    for depth in range(len(folders), -1, -1):
        folder = "/".join(folders[:depth])
        for room in ROOMS:
            if re.fullmatch(room, folder):
                return room
    raise AssertionError(name)


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_does_not_outgrow_its_lines(room: str) -> None:
    package = REPOSITORY / "qten_gen"
    found = sum(lines(package / f"{source.name}.py") for source in sources() if room_of(source.name) == room)
    assert 0 < found <= ROOMS[room]


def test_the_package_does_not_outgrow_its_lines_and_files() -> None:
    package = REPOSITORY / "qten_gen"
    assert sum(lines(package / f"{source.name}.py") for source in sources()) <= PACKAGE_LINES
    assert len(sources()) <= PACKAGE_FILES


def test_the_tests_do_not_outgrow_their_lines() -> None:
    assert sum(lines(path) for path in (REPOSITORY / "tests").rglob("*.py")) <= TEST_LINES
