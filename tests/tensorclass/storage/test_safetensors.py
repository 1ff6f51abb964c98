"""Objects in files of safetensors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from qten_gen.runtime.tensorclass.storage.metadata import StorageError
from tests import fresh_process
from tests.tensorclass.declared import Flat, flat

from .declared import Noted, assert_equal, outer

library: Any = pytest.importorskip(
    "safetensors.torch", reason="the files are compared with what the package itself reads"
)


def test_any_reader_of_safetensors_finds_the_tensors_by_name(tmp_path: Path) -> None:
    value = outer(4)
    value.save_safetensors(tmp_path / "a.safetensors")
    found = library.load_file(tmp_path / "a.safetensors")
    assert found.keys() == {"x", "inner.q", "mask", "other.q"}
    assert torch.equal(found["inner.q"], value.inner.q)


def test_tensors_that_share_memory_or_are_not_contiguous_are_saved(tmp_path: Path) -> None:
    shared = torch.rand(3, 4)
    for value in (Flat(shared, shared), Flat(shared[:, 1], shared[0]), Flat(shared.mT, torch.rand(1).expand(9))):
        value.save_safetensors(tmp_path / "a.safetensors")
        assert_equal(Flat.load_safetensors(tmp_path / "a.safetensors"), value)


def test_tensors_are_put_on_a_device(tmp_path: Path) -> None:
    flat(4).save_safetensors(tmp_path / "a.safetensors")
    loaded = Flat.load_safetensors(tmp_path / "a.safetensors", device="cpu")
    assert (loaded.device, loaded.x.device) == (torch.device("cpu"), torch.device("cpu"))


def test_a_dtype_that_the_format_has_not_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match=r"Noted\.save_safetensors: the format has no torch\.complex128"):
        Noted(torch.zeros(2, dtype=torch.complex128)).save_safetensors(tmp_path / "a.safetensors")
    assert list(tmp_path.iterdir()) == []


def rewritten(path: Path, header: Any = None, **tensors: Tensor) -> None:
    """Write the file anew with other tensors, or another header of ours."""
    with library.safe_open(path, "pt") as opened:
        kept = {name: opened.get_tensor(name) for name in opened.keys()}
        metadata = opened.metadata()
    if header is not None:
        found = json.loads(metadata["qten_gen"])
        header(found)
        metadata["qten_gen"] = json.dumps(found)
    library.save_file({**kept, **tensors}, path, metadata)


@pytest.mark.parametrize(
    ("header", "tensors", "message"),
    [
        (
            None,
            {"x": torch.zeros(4, 2)},
            r"Flat\.x: expected torch\.float32 \[4, 3\] as its header says, got .*\[4, 2\]",
        ),
        (None, {"x": torch.zeros(4, 3).int()}, r"Flat\.x: expected torch\.float32 .* got torch\.int32"),
        (None, {"z": torch.zeros(1)}, r"expected the tensors that its header says, which differ in z"),
        (lambda found: found["root"]["entries"].pop("x"), {}, r"which differ in x"),
        (lambda found: found["root"].update(batch_size=[3]), {}, r"Flat\.x: expected a shape that starts with \[3\]"),
        (lambda found: found.update(version=9), {}, r"expected format version 2, got 9"),
    ],
)
def test_a_file_that_was_tampered_with_is_refused(
    tmp_path: Path, header: Any, tensors: dict[str, Tensor], message: str
) -> None:
    path = tmp_path / "a.safetensors"
    flat(4).save_safetensors(path)
    rewritten(path, header, **tensors)
    with pytest.raises(StorageError, match=message) as error:
        Flat.load_safetensors(path)
    assert str(path) in str(error.value)


def test_a_file_that_is_missing_cut_off_or_of_something_else_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.safetensors"
    with pytest.raises(StorageError, match="expected a file, got a folder; load_memmap"):
        Flat.load_safetensors(tmp_path)
    with pytest.raises(FileNotFoundError):
        Flat.load_safetensors(path)
    flat(4).save_safetensors(path)
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(StorageError, match=r"a\.safetensors: expected a file of safetensors"):
        Flat.load_safetensors(path)
    library.save_file({"x": torch.zeros(1)}, path)
    with pytest.raises(
        StorageError, match="expected a file that save_safetensors wrote; .* use safetensors and from_dict"
    ):
        Flat.load_safetensors(path)


def test_safetensors_is_imported_when_it_is_used_and_missed_in_words() -> None:
    program = """
import sys
from tests.tensorclass.storage.declared import outer
assert not any(name.startswith("safetensors") for name in sys.modules)
sys.modules["safetensors"] = None
try:
    type(outer(4)).load_safetensors("a")
except ImportError as error:
    print(error)
"""
    done = fresh_process.run("-c", program, cwd=Path(__file__).parents[3])
    assert (
        done.stdout
        == "Outer.load_safetensors needs the package safetensors, which is not installed: pip install safetensors\n"
    ), done.stderr
