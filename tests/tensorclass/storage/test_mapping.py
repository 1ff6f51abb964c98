"""Mapping a file changes nothing of it, whatever others do to the file meanwhile."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from qten_gen.runtime.tensorclass.storage import files
from qten_gen.runtime.tensorclass.storage.metadata import StorageError

from .declared import Noted, Outer, assert_equal, outer


def before_mapping(monkeypatch: pytest.MonkeyPatch, act: Callable[[str], None]) -> None:
    """Let something happen once between the look at a file's size and the mapping."""
    from_file = torch.from_file

    def interrupted(path: str, *args: Any, **options: Any) -> Tensor:
        monkeypatch.setattr(torch, "from_file", from_file)
        act(path)
        return from_file(path, *args, **options)

    monkeypatch.setattr(torch, "from_file", interrupted)


def save(value: Noted, folder: Path) -> None:
    value.memmap(folder)


def test_a_shorter_file_that_takes_the_place_of_another_keeps_its_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Noted(torch.rand(100), batch_size=100).memmap(tmp_path)
    later = Noted(torch.rand(10), batch_size=10)
    before_mapping(monkeypatch, lambda _: save(later, tmp_path))
    loaded = Noted.load_memmap(tmp_path)
    assert (tmp_path / "x.memmap").stat().st_size == 40
    assert_equal(loaded, later)


def test_a_longer_file_that_takes_the_place_of_another_is_read_as_a_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Noted(torch.rand(10), batch_size=10).memmap(tmp_path)
    later = Noted(torch.rand(100), batch_size=100)
    before_mapping(monkeypatch, lambda _: save(later, tmp_path))
    assert_equal(Noted.load_memmap(tmp_path), later)


def test_writes_to_a_map_reach_the_file_and_those_to_a_read_only_one_do_not(tmp_path: Path) -> None:
    Noted(torch.zeros(10), batch_size=10).memmap(tmp_path)
    Noted.load_memmap(tmp_path).x.fill_(1)
    assert torch.equal(Noted.load_memmap(tmp_path).x, torch.ones(10))
    (tmp_path / "x.memmap").chmod(0o400)
    if os.access(tmp_path / "x.memmap", os.W_OK):
        pytest.skip("this user may write to every file")
    loaded = Noted.load_memmap(tmp_path)
    loaded.x.fill_(2)
    assert not loaded.is_memmap()
    assert torch.equal(Noted.load_memmap(tmp_path).x, torch.ones(10))


def test_a_map_keeps_no_file_open(tmp_path: Path) -> None:
    if not Path("/proc/self/fd").exists():
        pytest.skip("open files are counted in /proc")
    outer(4).memmap(tmp_path)
    before = len(os.listdir("/proc/self/fd"))
    kept = [Outer.load_memmap(tmp_path) for _ in range(10)]
    assert len(os.listdir("/proc/self/fd")) == before
    del kept


@pytest.mark.parametrize("longer", [False, True])
def test_a_part_of_a_longer_file_is_mapped_where_that_is_asked_for(tmp_path: Path, longer: bool) -> None:
    path = tmp_path / "x"
    path.write_bytes(bytes(range(16)))
    if not longer:
        with pytest.raises(StorageError, match="expected 8 bytes"):
            files.map_tensor(str(path), torch.uint8, (8,), "here")
        return
    found = files.map_tensor(str(path), torch.uint8, (8,), "here", longer=True)
    assert found.tolist() == list(range(8))
