"""Fields that hold a dict or a list of tensors, under any key, or a value for each item: in every form of storage."""

from __future__ import annotations

import json
import operator
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from qten_gen import PerItem, TensorClass, Unbatched, field
from qten_gen.runtime.tensorclass.storage.metadata import StorageError

from .declared import Titled, assert_equal
from .forms import ALL_FORMS, Form

KEYS = ["a", "A", "a/b", "../x", ".", "..", "", "meta.json", "x.memmap", "é", "a.b", "%2E", "con:"]


class Heads(TensorClass):
    """Tensors by name and by position."""

    logits: dict[str, Tensor]
    layers: list[Tensor]
    tables: Unbatched[dict[str, Tensor]] = field(default_factory=dict)
    more: list[Tensor] | None = None


def heads(seed: int = 0) -> Heads:
    """Every key that a file system could stumble over."""
    random = torch.Generator().manual_seed(seed)
    return Heads(
        {key: torch.rand(4, generator=random) for key in KEYS},
        [torch.rand(4, at, generator=random) for at in range(12)],
        {"t": torch.rand(9, generator=random)},
        batch_size=4,
    )


@pytest.mark.parametrize("form", ALL_FORMS, ids=lambda form: form.name)
def test_every_form_of_storage_keeps_every_key(tmp_path: Path, form: Form) -> None:
    assert_equal(form.save(heads(), tmp_path)(Heads), heads())


def test_a_key_that_no_file_can_be_named_by_is_refused(tmp_path: Path) -> None:
    long = Heads({"é" * 120: torch.ones(2)}, [], batch_size=2)
    with pytest.raises(TypeError, match=r"Heads\.logits: 'é.* is longer than 200 bytes, .*; use save_safetensors"):
        long.memmap(tmp_path)
    long.save_safetensors(tmp_path / "a.safetensors")
    assert_equal(Heads.load_safetensors(tmp_path / "a.safetensors"), long)
    half = Heads({"a\udc80": torch.ones(2)}, [], batch_size=2)
    for save in (half.memmap, half.save_safetensors):
        with pytest.raises(TypeError, match=r"Heads\.logits: 'a\\udc80' has half of a pair of surrogates"):
            save(tmp_path / "half")


def test_tensordict_reads_them_as_nested(tmp_path: Path) -> None:
    tensordict: Any = pytest.importorskip("tensordict", reason="the folder is read by it")
    value = Heads({"a": torch.rand(4), "b/c": torch.rand(4)}, [torch.rand(4)], batch_size=4)
    value.memmap(tmp_path)
    found = tensordict.TensorDict.load_memmap(tmp_path)
    assert torch.equal(found["logits", "b/c"], value.logits["b/c"])
    assert torch.equal(found["layers", "0"], value.layers[0])


def titled() -> Titled:
    """Two rows of three items."""
    return Titled(
        torch.rand(2, 3, 4),
        PerItem(list("abcdef"), (2, 3)),
        PerItem([(at, at + 1) for at in range(6)], (2, 3)),
        batch_size=(2, 3),
    )


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
    saved = Shelf.load_memmap(tmp_path).books
    assert_equal(saved, shelf.books)

    shelf[0] = shelf[0] * 2
    assert torch.equal(Shelf.load_memmap(tmp_path).books.x, shelf.books.x)
    shelf.unlock_()
    shelf[0] = shelf[1]
    shelf.memmap(tmp_path)
    assert Shelf.load_memmap(tmp_path).books.titles.tolist() == [["d", "e", "f"]] * 2


@pytest.mark.parametrize(
    ("make", "change", "message"),
    [
        (
            heads,
            lambda found: found["layers"]["entries"].pop("0"),
            r"Heads\.layers: expected positions from 0 on",
        ),
        (
            heads,
            lambda found: found["layers"].update(kind="dict"),
            r"Heads\.layers: expected a list of tensors, got a dict",
        ),
        (
            heads,
            lambda found: found["layers"]["entries"].update({"3": {"value": 1}}),
            r"Heads\.layers\['3'\]: expected a tensor, got something else",
        ),
        (
            heads,
            lambda found: found["layers"]["entries"]["3"].update(shape=[3, 4]),
            r"Heads\.layers\[3\]: expected a shape that starts with \[4\]",
        ),
        (titled, lambda found: operator.setitem(found["titles"]["value"]["value"], 0, [3, 2]), r"\[3, 2\]"),
        (titled, lambda found: operator.setitem(found["titles"]["value"]["value"], 0, [7]), "expected 7 values"),
        (
            titled,
            lambda found: operator.setitem(found["titles"]["value"]["value"], 0, "x"),
            "expected a value as save writes it",
        ),
        (
            titled,
            lambda found: found["titles"].update(value=["a"] * 6),
            r"Titled\.titles: expected a list of 2, got one of 6",
        ),
    ],
)
def test_what_was_tampered_with_is_refused(
    tmp_path: Path, make: Callable[[], Heads | Titled], change: Callable[[Any], object], message: str
) -> None:
    made = make()
    made.memmap(tmp_path)
    found = json.loads((tmp_path / "meta.json").read_text())
    change(found["_qten"]["root"]["entries"])
    (tmp_path / "meta.json").write_text(json.dumps(found))
    with pytest.raises(StorageError, match=message):
        type(made).load_memmap(tmp_path)
