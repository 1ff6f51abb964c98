"""Fields that hold a dict or a list of tensors: on disk, in state dicts and in pickles. Keys are any text."""

from __future__ import annotations

import json
import pickle
from multiprocessing.reduction import ForkingPickler
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from qten_gen import TensorClass, Unbatched, field
from qten_gen.runtime.tensorclass.storage.metadata import StorageError

from .declared import files_in

KEYS = ["a", "A", "a/b", "../x", ".", "..", "", "meta.json", "x.memmap", "é", "k" * 300, "a.b", "%2E", "con:"]


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


def assert_same(got: Heads, expected: Heads) -> None:
    """All tensors are equal, and so are keys and their order."""
    assert list(got.logits) == list(expected.logits)
    assert list(got.tables) == list(expected.tables)
    assert len(got.layers) == len(expected.layers)
    assert got.more is None and got.batch_size == expected.batch_size
    for mine, theirs in zip(
        [*got.logits.values(), *got.layers, *got.tables.values()],
        [*expected.logits.values(), *expected.layers, *expected.tables.values()],
        strict=True,
    ):
        assert torch.equal(mine, theirs)


def test_what_is_saved_is_loaded_under_any_key(tmp_path: Path) -> None:
    saved = heads().memmap(tmp_path)
    assert_same(saved, heads())
    loaded = Heads.load_memmap(tmp_path)
    assert_same(loaded, heads())
    assert (loaded.is_memmap(), loaded.saved_path) == (True, str(tmp_path))
    assert len({name.casefold() for name in files_in(tmp_path / "logits")}) == len(KEYS) + 1
    heads(1).memmap(tmp_path)
    assert_same(saved.memmap_refresh_(), heads(1))


def test_safetensors_keep_every_key(tmp_path: Path) -> None:
    pytest.importorskip("safetensors", reason="the file is of that package")
    heads().save_safetensors(tmp_path / "a")
    assert_same(Heads.load_safetensors(tmp_path / "a"), heads())


@pytest.mark.parametrize("flatten", [True, False])
def test_a_state_dict_has_every_key(flatten: bool) -> None:
    state: Any = heads().state_dict({}, flatten=flatten)
    target = heads(1)
    target.load_state_dict(state)
    assert_same(target, heads())


def test_pickles_and_queues_take_them(tmp_path: Path) -> None:
    assert_same(pickle.loads(pickle.dumps(heads(), 5)), heads())
    assert_same(pickle.loads(ForkingPickler.dumps(heads())), heads())
    saved = heads().memmap(tmp_path)
    got = pickle.loads(ForkingPickler.dumps(saved))
    assert_same(got, heads())
    got.layers[3].zero_()
    assert saved.layers[3].eq(0).all()


def test_a_tensor_that_a_field_shares_with_a_dict_stays_one() -> None:
    class Both(TensorClass):
        x: Tensor
        others: dict[str, Tensor]

    globals()["Both"] = Both
    Both.__qualname__ = "Both"
    tensor = torch.rand(3)
    back = pickle.loads(pickle.dumps(Both(tensor, {"x": tensor}), 5))
    assert back.others["x"] is back.x


def test_tensordict_reads_them_as_nested(tmp_path: Path) -> None:
    tensordict: Any = pytest.importorskip("tensordict", reason="the folder is read by it")
    value = Heads({"a": torch.rand(4), "b/c": torch.rand(4)}, [torch.rand(4)], batch_size=4)
    value.memmap(tmp_path)
    found = tensordict.TensorDict.load_memmap(tmp_path)
    assert torch.equal(found["logits", "b/c"], value.logits["b/c"])
    assert torch.equal(found["layers", "0"], value.layers[0])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda level: level["entries"].pop("0"), r"Heads\.layers: expected positions from 0 on as keys"),
        (lambda level: level.update(kind="dict"), r"Heads\.layers: expected a list of tensors, got a dict"),
        (
            lambda level: level["entries"].update({"3": {"value": 1}}),
            r"Heads\.layers\['3'\]: expected a tensor, got something else",
        ),
        (
            lambda level: level["entries"]["3"].update(shape=[3, 4]),
            r"Heads\.layers\[3\]: expected a shape that starts with \[4\]",
        ),
    ],
)
def test_what_was_tampered_with_is_refused(tmp_path: Path, change: Any, message: str) -> None:
    heads().memmap(tmp_path)
    found = json.loads((tmp_path / "meta.json").read_text())
    change(found["_qten"]["root"]["entries"]["layers"]["level"])
    (tmp_path / "meta.json").write_text(json.dumps(found))
    with pytest.raises(StorageError, match=message):
        Heads.load_memmap(tmp_path)
