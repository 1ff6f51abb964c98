"""What a save finds in a folder, and leaves: what is the same, what the older object had, what others put there."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from qten_gen import TensorClass
from qten_gen.runtime.tensorclass.storage import files

from .declared import Inner, Noted, Outer, assert_equal, files_in, outer


class Nested(TensorClass):
    """An object under a name that is a static value in `Noted`."""

    x: Tensor
    note: Inner


def shown(folder: Path) -> Any:
    """What tensordict reads of the field `note`."""
    return json.loads((folder / "note" / "meta.json").read_text())["data"]


def numbers(folder: Path, names: set[str]) -> dict[str, int]:
    """The files of these names, as the system numbers them."""
    return {name: (folder / name).stat().st_ino for name in names}


def test_durable_writes_every_file_because_an_older_one_may_not_be_on_the_disk(tmp_path: Path) -> None:
    outer(4).memmap(tmp_path)
    kept = [path.open() for path in tmp_path.rglob("*") if path.is_file()]  # so that no number is given twice
    before = numbers(tmp_path, files_in(tmp_path))
    outer(4).memmap(tmp_path, durable=True)
    assert not before.items() & numbers(tmp_path, files_in(tmp_path)).items()
    for file in kept:
        file.close()


@pytest.mark.parametrize(("old", "new"), [(1, True), (True, 1), (1, 1.0), (0.0, -0.0), ("1", 1), ([1], [True])])
def test_a_static_value_that_only_compares_equal_is_written(tmp_path: Path, old: object, new: object) -> None:
    Noted(torch.zeros(1), old).memmap(tmp_path)
    Noted(torch.zeros(1), new).memmap(tmp_path)
    assert repr(shown(tmp_path)) == repr(Noted.load_memmap(tmp_path).note) == repr(new)


def test_a_link_in_place_of_a_static_value_is_replaced_and_not_followed(tmp_path: Path) -> None:
    value = Noted(torch.zeros(1), "a")
    value.memmap(tmp_path / "map")
    path = tmp_path / "map" / "note" / "meta.json"
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    value.memmap(tmp_path / "map")
    assert not path.is_symlink()
    assert shown(tmp_path / "map") == "a"


def test_a_static_value_takes_the_place_of_an_object(tmp_path: Path) -> None:
    Nested(torch.zeros(4), Inner(torch.arange(4), batch_size=4), batch_size=4).memmap(tmp_path)
    Noted(torch.zeros(4), "a", batch_size=4).memmap(tmp_path)
    assert Noted.load_memmap(tmp_path).note == shown(tmp_path) == "a"
    assert "note/q.memmap" not in files_in(tmp_path)


def test_an_object_takes_the_place_of_a_static_value(tmp_path: Path) -> None:
    Noted(torch.zeros(4), "a", batch_size=4).memmap(tmp_path)
    value = Nested(torch.zeros(4), Inner(torch.arange(4), batch_size=4), batch_size=4)
    value.memmap(tmp_path)
    assert_equal(Nested.load_memmap(tmp_path), value)


def test_what_others_put_into_the_folder_is_kept(tmp_path: Path) -> None:
    outer(4, seed=1).memmap(tmp_path)
    ours = files_in(tmp_path)
    theirs = {"notes.txt", "more.memmap", "inner/notes.txt", "source/notes.txt"}
    for name in theirs:
        (tmp_path / name).write_text("mine")
    later = outer(4, seed=2).replace(mask=None)
    later.memmap(tmp_path)
    assert files_in(tmp_path) == (ours - {"mask.memmap"}) | theirs
    assert_equal(Outer.load_memmap(tmp_path), later)


def test_an_object_that_is_replaced_twice_while_it_is_loaded_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outer(4, seed=1).memmap(tmp_path)
    map_tensor, calls = files.map_tensor, 0

    def interrupted(*args: Any, **options: Any) -> Tensor:
        nonlocal calls
        calls += 1
        if calls == 2:
            monkeypatch.setattr(files, "map_tensor", map_tensor)
            outer(4, seed=2).memmap(tmp_path)
            outer(4, seed=3).memmap(tmp_path)
        return map_tensor(*args, **options)

    monkeypatch.setattr(files, "map_tensor", interrupted)
    loaded = Outer.load_memmap(tmp_path)
    assert calls == 2
    assert_equal(loaded, outer(4, seed=3))


def save_first(monkeypatch: pytest.MonkeyPatch, value: Outer, folder: Path) -> None:
    """Let another object be saved once, just before the next save has the folder for itself."""
    only_writer = files.only_writer

    def later(path: str) -> contextlib.AbstractContextManager[None]:
        monkeypatch.setattr(files, "only_writer", only_writer)
        value.memmap(folder)
        return only_writer(path)

    monkeypatch.setattr(files, "only_writer", later)


@pytest.mark.parametrize("changed", ["all", "some", "size"])
def test_a_loaded_object_is_saved_whole_where_another_was_saved_while_it_waited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changed: str
) -> None:
    first = outer(4, seed=1)
    saved = first.memmap(tmp_path)
    others = {
        "all": outer(4, seed=2),
        "some": saved.replace(x=torch.rand(4, 3), mask=None, source="other"),
        "size": outer(7, seed=2, full=False),
    }
    save_first(monkeypatch, others[changed], tmp_path)
    again = saved.memmap(tmp_path)
    assert_equal(Outer.load_memmap(tmp_path), first)
    assert again.is_memmap() and again.saved_path == str(tmp_path)
    again.x[0] = 5
    assert torch.equal(Outer.load_memmap(tmp_path).x[0], torch.full((3,), 5.0))


def test_an_object_that_was_not_there_before_the_save_waited_counts_for_existsok(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_first(monkeypatch, outer(4, seed=1), tmp_path)
    with pytest.raises(FileExistsError):
        outer(4, seed=2).memmap(tmp_path, existsok=False)
    assert_equal(Outer.load_memmap(tmp_path), outer(4, seed=1))
