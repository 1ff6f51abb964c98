"""Objects whose tensors are files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import FrozenInstanceError
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor
from torch._subclasses import FakeTensorMode
from torch._subclasses.fake_tensor import FakeTensor

from qten_gen.runtime.tensorclass.storage.metadata import StorageError
from tests.tensorclass.declared import Flat, flat, tensors

from .declared import TENSORS, Frozen, Inner, Noted, Outer, assert_equal, files_in, outer


@pytest.mark.parametrize("full", [True, False])
@pytest.mark.parametrize("batch_size", [(), (4,), (2, 3), (0,)])
def test_what_is_saved_is_loaded(tmp_path: Path, batch_size: tuple[int, ...], full: bool) -> None:
    value = outer(*batch_size, full=full)
    assert_equal(value.memmap(tmp_path / "map"), value)
    assert_equal(Outer.load_memmap(tmp_path / "map"), value)
    value.save_safetensors(tmp_path / "a.safetensors")
    assert_equal(Outer.load_safetensors(tmp_path / "a.safetensors"), value)


def test_there_is_one_raw_file_for_each_tensor_and_json_beside_it(tmp_path: Path) -> None:
    value = outer(4)
    value.memmap(tmp_path)
    assert files_in(tmp_path) == {
        "meta.json",
        "x.memmap",
        "mask.memmap",
        "inner/meta.json",
        "inner/q.memmap",
        "other/meta.json",
        "other/q.memmap",
    }
    assert (tmp_path / "x.memmap").read_bytes() == value.x.numpy().tobytes()


def test_a_memory_map_is_locked_and_knows_its_folder(tmp_path: Path) -> None:
    value = outer(4)
    saved = value.memmap(tmp_path)
    for mapped in (saved, Outer.load_memmap(tmp_path)):
        assert mapped.is_memmap()
        assert mapped.is_locked
        assert mapped.saved_path == str(tmp_path)
        assert mapped.inner.saved_path == str(tmp_path / "inner")
        assert mapped.device == torch.device("cpu")
        with pytest.raises(RuntimeError, match=r"cannot assign to Outer\.x: it is locked"):
            mapped.x = value.x
    assert (value.is_memmap(), value.saved_path) == (False, None)
    assert frozen().memmap(tmp_path / "frozen").saved_path == str(tmp_path / "frozen")


def test_items_of_a_memory_map_are_ordinary_objects(tmp_path: Path) -> None:
    saved = flat(4).memmap(tmp_path)
    assert not saved[1:].is_memmap()
    assert not saved[1:].is_locked
    assert not saved.clone().is_memmap()


def test_what_is_written_to_items_reaches_the_files(tmp_path: Path) -> None:
    saved = flat(4).memmap(tmp_path)
    loaded = Flat.load_memmap(tmp_path)
    saved[1:3] = flat(2).apply(torch.zeros_like)
    assert loaded.x[1:3].eq(0).all()
    assert_equal(Flat.load_memmap(tmp_path), saved)


def test_memmap_in_place_keeps_the_object_and_those_it_holds(tmp_path: Path) -> None:
    value = outer(4)
    inner, expected = value.inner, value.clone()
    assert value.memmap_(tmp_path) is value
    assert value.inner is inner
    assert inner.is_memmap()
    assert value.is_locked
    assert_equal(value, expected)
    assert_equal(Outer.load_memmap(tmp_path), expected)


def test_save_dumps_load_and_load_in_place_are_other_names(tmp_path: Path) -> None:
    value = outer(4)
    value.save(tmp_path / "a")
    value.dumps(tmp_path / "b")
    assert_equal(Outer.load(tmp_path / "a"), value)
    assert_equal(outer(2).load_(tmp_path / "b"), value)


def test_without_a_prefix_the_files_have_no_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    value = outer(4)
    saved = value.memmap()
    assert (saved.is_memmap(), saved.saved_path) == (True, None)
    assert files_in(tmp_path) == set()
    assert_equal(saved, value)
    assert_equal(saved.memmap(tmp_path / "named"), value)


def test_what_is_there_can_be_protected(tmp_path: Path) -> None:
    outer(4).memmap(tmp_path, existsok=False)
    with pytest.raises(FileExistsError, match=r"meta\.json exists already; pass existsok=True"):
        outer(4).memmap(tmp_path, existsok=False)
    assert_equal(Outer.load_memmap(tmp_path), outer(4))


def test_who_mapped_the_old_files_keeps_them_until_refreshed(tmp_path: Path) -> None:
    first = outer(4, seed=1).memmap(tmp_path)
    outer(6, seed=2).memmap(tmp_path)
    assert_equal(first, outer(4, seed=1))
    inner = first.inner
    assert first.memmap_refresh_() is first
    assert first.inner is inner
    assert_equal(first, outer(6, seed=2))
    assert first.is_memmap()


def test_a_file_of_another_folder_is_copied_only_when_asked_for(tmp_path: Path) -> None:
    saved = outer(4).memmap(tmp_path / "a")
    with pytest.raises(ValueError, match=r"Outer\.x is saved already, in .*/a/x\.memmap; .* pass copy_existing=True"):
        saved.memmap(tmp_path / "b")
    assert not (tmp_path / "b").exists()
    assert_equal(saved.memmap(tmp_path / "b", copy_existing=True), outer(4))
    assert_equal(saved[1:].memmap(tmp_path / "c"), outer(4)[1:])


def test_files_that_are_where_they_belong_are_not_written_again(tmp_path: Path) -> None:
    saved = outer(4).memmap(tmp_path)
    before = {name: (tmp_path / name).stat().st_ino for name in files_in(tmp_path) if name.endswith(".memmap")}
    saved.memmap_(tmp_path)
    assert {name: (tmp_path / name).stat().st_ino for name in before} == before
    assert_equal(Outer.load_memmap(tmp_path), outer(4))


@pytest.mark.parametrize("view", [torch.conj, torch.ops.aten._neg_view])
def test_a_conjugate_or_negative_view_of_a_file_is_written(tmp_path: Path, view: Callable[[Tensor], Tensor]) -> None:
    changed = Noted(torch.tensor([1 + 2j])).memmap(tmp_path).apply(view)
    assert_equal(changed.memmap(tmp_path), changed)
    assert_equal(Noted.load_memmap(tmp_path), changed)


def test_a_file_in_the_place_of_a_folder_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    (tmp_path / "inner").touch()
    with pytest.raises(StorageError, match="expected a folder at .*inner, got a link or a file"):
        outer(4).memmap(tmp_path)
    assert files_in(tmp_path) == {"inner"}


def test_an_object_can_be_saved_around_one_that_is_in_place_already(tmp_path: Path) -> None:
    value = outer(4)
    value.inner.memmap_(tmp_path / "inner")
    assert_equal(value.memmap(tmp_path), outer(4))
    assert_equal(Outer.load_memmap(tmp_path), outer(4))


def test_a_part_of_a_larger_object_is_not_replaced_behind_its_back(tmp_path: Path) -> None:
    outer(4).memmap(tmp_path)
    with pytest.raises(
        ValueError, match=r"inner belongs to the object in .*; save that one, or save to another folder"
    ):
        outer(5).inner.memmap(tmp_path / "inner")


def test_on_the_meta_device_and_under_fake_tensor_mode_no_file_is_read(tmp_path: Path) -> None:
    outer(4).memmap(tmp_path)
    for path in tmp_path.rglob("*.memmap"):
        path.unlink()
    on_meta = Outer.load_memmap(tmp_path, device="meta")
    with FakeTensorMode():
        faked = Outer.load_memmap(tmp_path)
    expected = {path: (tensor.shape, tensor.dtype) for path, tensor in tensors(outer(4)).items()}
    for loaded, device in ((on_meta, "meta"), (faked, "cpu")):
        found = tensors(loaded)
        assert {tensor.device.type for tensor in found.values()} == {device}
        assert {path: (tensor.shape, tensor.dtype) for path, tensor in found.items()} == expected
        assert (loaded.source, loaded.is_memmap()) == ("source 0", False)
    assert on_meta.device == torch.device("meta")
    assert all(isinstance(tensor, FakeTensor) for tensor in tensors(faked).values())


def test_loading_into_an_object_changes_all_of_it(tmp_path: Path) -> None:
    outer(4).memmap(tmp_path)
    target = outer(2, full=False, seed=3)
    inner = target.inner
    assert Outer.load_memmap(tmp_path, out=target) is target
    assert target.inner is inner
    assert_equal(target, outer(4))
    assert target.is_memmap()


def frozen() -> Frozen:
    """An object that nothing changes."""
    return Frozen(torch.rand(4), outer(4).inner, batch_size=4)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda at: outer(4).memmap_refresh_(),
            RuntimeError,
            r"a Outer without saved_path .*; save it with \.memmap_\(",
        ),
        (lambda at: Outer.load_memmap(at, out=flat(4)), TypeError, r"Outer\.load_memmap: expected a Outer as out, got"),  # type: ignore[arg-type] # what the row is about
        (lambda at: outer(4).lock_().load_memmap_(at), RuntimeError, "cannot load into a Outer: it is locked"),
        (lambda at: outer(4).lock_().memmap_(at), RuntimeError, "cannot map the tensors of a Outer: it is locked"),
        (lambda at: frozen().load_memmap_(at), FrozenInstanceError, "cannot load into a Frozen"),
        (lambda at: frozen().memmap_(at / "other"), FrozenInstanceError, "cannot map the tensors of a Frozen"),
    ],
)
def test_what_an_object_does_not_take_is_refused_and_no_file_changes(
    tmp_path: Path, call: Callable[[Path], object], error: type[Exception], message: str
) -> None:
    outer(4).memmap(tmp_path)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    with pytest.raises(error, match=message):
        call(tmp_path)
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before


def test_memmap_like_makes_files_of_zeros_that_take_no_room(tmp_path: Path) -> None:
    value = Flat(torch.ones(3, 64, 64, dtype=torch.uint8), torch.ones(1)).unsqueeze(0).expand(100_000)
    store = value.memmap_like(tmp_path)
    assert store.batch_size == (100_000,)
    status = (tmp_path / "x.memmap").stat()
    assert status.st_size == 100_000 * 3 * 64 * 64
    assert status.st_blocks * 512 < 2**20
    store[5] = value[0]
    assert Flat.load_memmap(tmp_path).x[4:7].float().mean((1, 2, 3)).tolist() == [0, 1, 0]


def test_memmap_like_needs_no_data(tmp_path: Path) -> None:
    store = outer(4).to("meta").memmap_like(tmp_path)
    assert store.is_memmap()
    assert store.x.eq(0).all()
    assert store.source == "source 0"


@pytest.mark.parametrize("name", sorted({*TENSORS} - {"meta", "sparse"}))
def test_a_tensor_of_any_form_keeps_its_elements(tmp_path: Path, name: str) -> None:
    tensor = TENSORS[name]
    saved = Noted(tensor).memmap(tmp_path)
    for mapped in (saved.x, Noted.load_memmap(tmp_path).x):
        assert mapped.dtype == tensor.dtype
        assert type(mapped) is Tensor
        assert not mapped.requires_grad
        torch.testing.assert_close(mapped, tensor.detach(), rtol=0, atol=0, equal_nan=True)


class Own(Tensor):
    """A class of tensors of somebody's own."""


@pytest.mark.parametrize(
    ("tensor", "message"),
    [
        (torch.eye(3).to_sparse(), "a tensor of layout torch.sparse_coo"),
        (torch.zeros(3, device="meta"), "a tensor on the meta device, which has no data"),
        (torch.zeros(3).as_subclass(Own), r"a [\w.]*test_memory_maps\.Own"),
    ],
    ids=["sparse", "meta", "subclass"],
)
def test_a_tensor_that_is_not_plain_bytes_is_refused_before_anything_is_written(
    tmp_path: Path, tensor: Tensor, message: str
) -> None:
    with pytest.raises(TypeError, match=rf"Noted\.x: expected a plain tensor to save, got {message}"):
        Noted(tensor).memmap(tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_a_nested_object_whose_batch_size_was_shortened_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    value = outer(4)
    value.inner.batch_size = []
    with pytest.raises(
        ValueError, match=r"^Outer\.inner: expected a batch size that starts with \[4\], got \[\]; assign"
    ):
        value.memmap(tmp_path / "new")
    assert not (tmp_path / "new").exists()


class Longer(Inner):
    """Has a field that no `Outer` would load."""

    z: Tensor | None = None


def test_a_nested_object_of_a_subclass_is_refused_as_it_would_be_loaded_as_another(tmp_path: Path) -> None:
    value = outer(4).replace(inner=Longer(torch.ones(4), batch_size=4))
    for save in (value.memmap, value.save_safetensors):
        with pytest.raises(TypeError, match=r"Outer\.inner: expected a Inner, as which it is loaded, got a Longer"):
            save(tmp_path / "new")
    assert isinstance(value.memmap().inner, Longer)


@pytest.mark.parametrize(("path", "error"), [("", ValueError), (b"map", TypeError)])
def test_a_path_that_is_empty_or_bytes_is_refused(path: Any, error: type[Exception], tmp_path: Path) -> None:
    value = outer(4)
    calls: list[Callable[[], object]] = [
        lambda: value.memmap(path),
        lambda: value.memmap_(path),
        lambda: value.memmap_like(path),
        lambda: Outer.load_memmap(path),
        lambda: value.save_safetensors(path),
        lambda: Outer.load_safetensors(path),
    ]
    for call in calls:
        with pytest.raises(error, match="expected a path"):
            call()
