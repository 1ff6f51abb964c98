"""Python values of items: on disk, in files, state dicts and pickles."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from qten_gen import PerItem, TensorClass
from qten_gen.runtime.tensorclass.storage.metadata import StorageError


class Titled(TensorClass):
    """A value for each item, of a type that JSON has and of one that it has not."""

    x: Tensor
    titles: PerItem[str]
    spans: PerItem[tuple[int, int]] | None = None


def titled(spans: bool = True) -> Titled:
    """Two rows of three items."""
    return Titled(
        torch.rand(2, 3, 4),
        PerItem(list("abcdef"), (2, 3)),
        PerItem([(at, at + 1) for at in range(6)], (2, 3)) if spans else None,
        batch_size=(2, 3),
    )


def assert_same(got: Titled, expected: Titled) -> None:
    """Tensors and values are equal."""
    assert torch.equal(got.x, expected.x)
    assert (got.titles, got.spans) == (expected.titles, expected.spans)


class Shelf(TensorClass):
    """Holds such objects."""

    books: Titled


def test_a_memory_map_is_not_written_to_where_python_values_would_stay_behind(tmp_path: Path) -> None:
    shelf = Shelf(titled(), batch_size=(2, 3)).memmap(tmp_path)
    refused = r"Titled\.titles: the values of a PerItem field are in the metadata"
    with pytest.raises(RuntimeError, match=refused):
        shelf[0] = shelf[1]
    with pytest.raises(RuntimeError, match=refused):
        shelf.books[0] = shelf.books[1]
    with pytest.raises(RuntimeError, match=refused):
        shelf.copy_(shelf.replace(books=shelf.books.replace(titles=PerItem(["q"] * 6, (2, 3)))))
    with pytest.raises(RuntimeError, match=refused):
        shelf.books.set_at_("titles", ["q"] * 3, 0)
    saved = Shelf.load_memmap(tmp_path).books
    assert_same(saved, shelf.books)

    shelf[0] = shelf[0] * 2
    assert torch.equal(Shelf.load_memmap(tmp_path).books.x, shelf.books.x)
    shelf.unlock_()
    shelf[0] = shelf[1]
    shelf.memmap(tmp_path)
    assert Shelf.load_memmap(tmp_path).books.titles.tolist() == [["d", "e", "f"]] * 2


@pytest.mark.parametrize(
    ("size", "message"),
    [([3, 2], r"\[3, 2\]"), ([7], "expected 7 values"), ("x", "expected a value as save writes it")],
)
def test_values_for_another_batch_size_are_refused(tmp_path: Path, size: object, message: str) -> None:
    titled().memmap(tmp_path)
    found = json.loads((tmp_path / "meta.json").read_text())
    found["_qten"]["root"]["entries"]["titles"]["value"]["value"][0] = size
    (tmp_path / "meta.json").write_text(json.dumps(found))
    with pytest.raises(StorageError, match=message):
        Titled.load_memmap(tmp_path)


def test_one_value_in_place_of_those_of_the_items_is_refused(tmp_path: Path) -> None:
    titled().memmap(tmp_path)
    found = json.loads((tmp_path / "meta.json").read_text())
    found["_qten"]["root"]["entries"]["titles"]["value"] = ["a"] * 6
    (tmp_path / "meta.json").write_text(json.dumps(found))
    with pytest.raises(StorageError, match=r"Titled\.titles: expected 2 values in a list, got 6"):
        Titled.load_memmap(tmp_path)


def test_a_state_dict_for_another_batch_size_has_to_have_values_for_it() -> None:
    state: Any = titled().state_dict(flatten=True)
    state._metadata[""]["batch_size"] = torch.Size([2])
    with pytest.raises(RuntimeError, match=r"Titled\.titles: expected values for batch size \[2\], got \[2, 3\]"):
        titled().load_state_dict(state)


def test_lists_of_tensordict_are_the_values_of_items(tmp_path: Path) -> None:
    tensordict: Any = pytest.importorskip("tensordict", reason="the folder is written by it")

    class Peer(tensordict.TensorClass):  # type: ignore[misc] # a class that checkers do not see
        x: Tensor
        titles: list[str]

    Peer(x=torch.zeros(3), titles=["a", "b", "c"], batch_size=[3]).memmap(tmp_path / "stack")
    assert Titled.load_memmap(tmp_path / "stack").titles.tolist() == ["a", "b", "c"]
    Peer(x=torch.zeros(3), titles="a", batch_size=[3]).memmap(tmp_path / "one")
    assert Titled.load_memmap(tmp_path / "one").titles.tolist() == ["a", "a", "a"]


def test_tensordict_reads_the_values_as_a_list(tmp_path: Path) -> None:
    tensordict: Any = pytest.importorskip("tensordict", reason="the folder is read by it")
    titled(False)[0].memmap(tmp_path)
    assert tensordict.TensorDict.load_memmap(tmp_path)["titles"] == ["a", "b", "c"]
