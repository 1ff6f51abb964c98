"""Folders that tensordict wrote are read here, and tensordict reads those written here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from qten_gen import TensorClass, field
from qten_gen.runtime.tensorclass.storage.metadata import StorageError

from .declared import Noted, Outer, outer

tensordict: Any = pytest.importorskip("tensordict", reason="the folders are read and written by tensordict itself")


def assert_same(found: Outer, value: Outer) -> None:
    """All that tensordict saves is there: what JSON has a word for, and no None."""
    assert torch.equal(found.x, value.x)
    assert torch.equal(found.inner.q, value.inner.q)
    assert (found.mask is None, found.other) == (value.mask is None, None)
    assert (found.source, found.inner.label, found.tags) == (value.source, value.inner.label, value.tags)
    assert (found.batch_size, found.inner.batch_size) == ((4,), (4,))
    assert found.is_memmap()


def test_an_object_of_tensordict_is_loaded_and_shares_its_files(tmp_path: Path) -> None:
    value = outer(4, full=False)
    theirs = value.to_tensordict(retain_none=False).memmap(tmp_path)
    loaded = Outer.load_memmap(tmp_path)
    assert_same(loaded, value)
    loaded.x.zero_()
    assert theirs.get("x").eq(0).all()


def test_a_tensorclass_of_tensordict_is_refused_with_advice(tmp_path: Path) -> None:
    class Peer(tensordict.TensorClass):  # type: ignore[misc] # a class that checkers do not see
        x: Tensor

    Peer(x=torch.zeros(3), batch_size=[3]).memmap(tmp_path)
    with pytest.raises(StorageError, match=r"save a tensorclass of tensordict with \.to_tensordict\(\)\.memmap"):
        Noted.load_memmap(tmp_path)


@pytest.mark.parametrize("value", [1, 2.5, None, True, "é", [1, [2]], {"a": {"b": 1}}, {"$": "pickle"}], ids=repr)
def test_names_and_every_json_value_of_tensordict_are_read(tmp_path: Path, value: object) -> None:
    stored = tensordict.NonTensorData(value, batch_size=[2])
    tensordict.TensorDict({"x": torch.zeros(2), "note": stored}, batch_size=[2], names=["time"]).memmap(tmp_path)
    loaded = Noted.load_memmap(tmp_path)
    assert (loaded.note, loaded.names) == (value, ("time",))


def test_odd_dtypes_and_shapes_of_tensordict_are_read(tmp_path: Path) -> None:
    for tensor in (
        torch.tensor(1.5),
        torch.zeros(0, 3),
        torch.ones(3).bfloat16(),
        torch.tensor([True]),
        torch.ones(2) * 1j,
    ):
        tensordict.TensorDict({"x": tensor}).memmap(tmp_path)
        found = Noted.load_memmap(tmp_path).x
        assert found.dtype == tensor.dtype and torch.equal(found, tensor)


class Pair(TensorClass):
    """A tuple, which tensordict writes as a list."""

    x: Tensor
    pair: tuple[int, int] | None = None
    words: list[str] = field(default_factory=list)


def test_a_list_of_tensordict_is_the_tuple_that_the_annotation_says(tmp_path: Path) -> None:
    pair, words = (tensordict.NonTensorData(value, batch_size=[2]) for value in ((1, 2), ["a"]))
    tensordict.TensorDict({"x": torch.zeros(2), "pair": pair, "words": words}, batch_size=[2]).memmap(tmp_path)
    loaded = Pair.load_memmap(tmp_path)
    assert (loaded.pair, loaded.words) == ((1, 2), ["a"])


def test_a_pickle_of_tensordict_is_not_read(tmp_path: Path) -> None:
    stored = tensordict.NonTensorData({1, 2}, batch_size=[2])
    tensordict.TensorDict({"x": torch.zeros(2), "note": stored}, batch_size=[2]).memmap(tmp_path)
    with pytest.raises(StorageError, match=r"note/meta\.json: tensordict saved a value as a pickle, which is not read"):
        Noted.load_memmap(tmp_path)


def test_a_later_format_of_tensordict_is_refused(tmp_path: Path) -> None:
    tensordict.TensorDict({"x": torch.zeros(2)}, batch_size=[2]).memmap(tmp_path)
    text = json.loads((tmp_path / "meta.json").read_text())
    (tmp_path / "meta.json").write_text(json.dumps({**text, "_format_version": 2}))
    with pytest.raises(StorageError, match="expected format version 1 of tensordict at most, got 2"):
        Noted.load_memmap(tmp_path)


@pytest.mark.parametrize("name", ["..", "../other"])
def test_a_key_of_tensordict_cannot_lead_out_of_the_folder(tmp_path: Path, name: str) -> None:
    (tmp_path / "other.memmap").write_bytes(b"secret!!")
    folder = tmp_path / "map"
    tensordict.TensorDict({"x": torch.zeros(2)}, batch_size=[2]).memmap(folder)
    text = json.loads((folder / "meta.json").read_text())
    text[name] = text.pop("x")
    (folder / "meta.json").write_text(json.dumps(text))
    with pytest.raises(StorageError, match="Noted has no field"):
        Noted.load_memmap(folder)


def test_tensordict_reads_a_folder_written_here(tmp_path: Path) -> None:
    value = outer(4)
    value.memmap(tmp_path)
    found = tensordict.TensorDict.load_memmap(tmp_path)
    assert found.batch_size == (4,)
    for key in ("x", "mask", ("inner", "q"), ("other", "q")):
        assert found[key].equal(value.get(key)), key
    assert found["other"].batch_size == (4, 2)


def test_each_replaces_what_the_other_saved(tmp_path: Path) -> None:
    first, last = outer(4, full=False), outer(4, full=False, seed=2)
    first.to_tensordict(retain_none=False).memmap(tmp_path)
    outer(6, seed=1).memmap(tmp_path)
    assert Outer.load_memmap(tmp_path).source == "source 1"
    last.to_tensordict(retain_none=False).memmap(tmp_path)
    assert_same(Outer.load_memmap(tmp_path), last)
