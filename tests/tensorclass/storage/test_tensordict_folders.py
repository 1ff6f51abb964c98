"""tensordict reads the folders that are written here, and its own are loaded with it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from qten_gen.runtime.tensorclass.storage.metadata import StorageError

from .declared import Outer, outer

tensordict: Any = pytest.importorskip("tensordict", reason="the folders are read and written by tensordict itself")


def test_tensordict_reads_a_folder_written_here(tmp_path: Path) -> None:
    value = outer(4)
    value.memmap(tmp_path)
    found = tensordict.TensorDict.load_memmap(tmp_path)
    assert found.batch_size == (4,)
    for key in ("x", "mask", ("inner", "q"), ("other", "q")):
        assert found[key].equal(value.get(key)), key
    assert found["other"].batch_size == (4, 2)


def test_a_folder_of_tensordict_is_loaded_with_it_and_shares_its_files(tmp_path: Path) -> None:
    value = outer(4, full=False)
    theirs = value.to_tensordict(retain_none=False).memmap(tmp_path)
    with pytest.raises(StorageError, match=r"loaded by Outer\.from_tensordict\(TensorDict\.load_memmap\(folder\)\)$"):
        Outer.load_memmap(tmp_path)
    loaded = Outer.from_tensordict(tensordict.TensorDict.load_memmap(tmp_path))
    assert (loaded.source, loaded.inner.label, loaded.tags) == (value.source, value.inner.label, value.tags)
    assert loaded.inner.q.equal(value.inner.q)
    loaded.x.zero_()
    assert theirs.get("x").eq(0).all()


def test_a_save_replaces_what_tensordict_saved(tmp_path: Path) -> None:
    outer(4, full=False).to_tensordict(retain_none=False).memmap(tmp_path)
    outer(6, seed=1).memmap(tmp_path)
    assert Outer.load_memmap(tmp_path).source == "source 1"
