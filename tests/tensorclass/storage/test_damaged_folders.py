"""Folders that somebody changed: what is not as a save leaves it is refused, with its path and what was expected."""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from qten_gen.runtime.tensorclass.storage.metadata import StorageError
from tests.tensorclass.declared import Flat, assert_sound

from .declared import Outer, files_in, outer


def edit(folder: Path, change: Callable[[Any], None]) -> None:
    """Change our section of the metadata of a folder."""
    path = folder / "meta.json"
    found = json.loads(path.read_text())
    change(found["_qten"])
    path.write_text(json.dumps(found))


def refused(folder: Path, message: str) -> None:
    """Loading fails with the message, which also has the path."""
    with pytest.raises(StorageError, match=message) as error:
        Outer.load_memmap(folder)
    assert str(folder) in str(error.value)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder that holds an object."""
    outer(4).memmap(tmp_path / "map")
    return tmp_path / "map"


def linked(path: Path) -> None:
    """Leave a link in place of a path."""
    elsewhere = path.parents[1] / "elsewhere"
    path.rename(elsewhere)
    path.symlink_to(elsewhere)


def test_a_folder_without_an_object_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"no saved Outer: expected .*/none/meta\.json"):
        Outer.load_memmap(tmp_path / "none")


SIZE = r"Outer\.x: expected 48 bytes \(torch\.float32, \[4, 3\]\) in .*/x\.memmap, got"


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("x.memmap", lambda path: os.truncate(path, 47), f"{SIZE} 47"),
        ("x.memmap", lambda path: os.truncate(path, 49), f"{SIZE} 49"),
        ("x.memmap", lambda path: os.truncate(path, 0), f"{SIZE} 0"),
        ("x.memmap", linked, r"Outer\.x: expected an ordinary file .* at .*/x\.memmap, got a link"),
        ("inner", linked, r"Outer\.inner: expected a folder at .*/inner, got a link"),
        ("meta.json", linked, r"meta\.json: expected a file of metadata"),
        (
            "inner/q.memmap",
            Path.unlink,
            r"Inner\.q: expected an ordinary file of 32 bytes .*/inner/q\.memmap, got No such file",
        ),
    ],
)
def test_a_file_of_another_size_or_kind_is_refused_and_none_is_made(
    folder: Path, name: str, change: Callable[[Path], None], message: str
) -> None:
    change(folder / name)
    left = (folder / name).exists()
    refused(folder, message)
    assert (folder / name).exists() == left


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes on Windows")
def test_a_pipe_in_place_of_the_metadata_is_refused_and_not_waited_for(folder: Path) -> None:
    (folder / "meta.json").unlink()
    os.mkfifo(folder / "meta.json")
    refused(folder, r"meta\.json: expected a file of metadata, got 0 bytes or no ordinary file")


@pytest.mark.parametrize(
    "file", ["../x.memmap", "/etc/passwd", "/", "..", ".", "", "a/b", "a\\b", "c:x", "C:", "a\0b", 3]
)
def test_a_name_that_could_lead_out_of_the_folder_is_refused(folder: Path, file: object) -> None:
    edit(folder, lambda found: found["root"]["entries"]["x"].update(pending=file))
    refused(folder, rf"x: expected the name of a file in this folder, got {re.escape(repr(file))}")


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("shape", [3, 4], r"Outer\.x: expected a shape that starts with \[4\], got \[3, 4\]"),
        ("shape", [4, 4], r"expected 64 bytes \(torch\.float32, \[4, 4\]\)"),
        ("shape", [4, -3], r"expected a shape of at most .*, got \[4, -3\]"),
        ("shape", [4, 2.5], r"expected a shape of at most .*, got"),
        ("shape", [True, 12], r"expected a shape of at most .*, got"),
        ("shape", "43", r"expected a shape of at most .*, got 43"),
        ("shape", None, r"expected a shape of at most .*, got None"),
        ("shape", [4, 2**62], r"expected a shape of at most 288230376151711744 elements"),
        ("shape", [0, 2**70], r"expected a shape of at most"),
        ("shape", [4] * 65, r"expected a shape of at most .*, got"),
        ("shape", [4, 2**40], rf"expected {2**44} bytes"),
        ("dtype", "float64", r"expected 96 bytes \(torch\.float64"),
        ("dtype", "quint8", r"expected a dtype, got 'quint8'"),
        ("dtype", "load", r"expected a dtype, got 'load'"),
        ("dtype", None, "expected a dtype, got None"),
    ],
)
def test_a_wrong_shape_or_dtype_is_refused(folder: Path, key: str, value: object, message: str) -> None:
    edit(folder, lambda found: found["root"]["entries"]["x"].update({key: value}))
    refused(folder, message)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda found: found.update(version=1),
            r"expected format version 2, got 1; another release of qten-gen may read",
        ),
        (lambda found: found.update(token="../.."), r"expected the token of a save"),
        (lambda found: found.update(root=[]), r"root: expected a JSON object, got \[\]"),
        (lambda found: found["root"].update(kind="module"), r"expected the kind of a level, got 'module'"),
        (lambda found: found["root"].update(kind="list"), r"expected a Outer, got a list"),
        (lambda found: found["root"].update(batch_size=[5]), r"Outer\.x: expected a shape that starts with \[5\]"),
        (lambda found: found["root"].update(names=[1]), r"expected a name or null for each of 1 dimensions, got \[1\]"),
        (lambda found: found["root"]["entries"].update(y=None), r"Outer has no field 'y'; the fields are: x, inner"),
        (lambda found: found["root"]["entries"].pop("x"), r"Outer: nothing was saved for the field 'x', which has no"),
        (lambda found: found["root"]["entries"].update(x=None), r"Outer\.x: expected a Tensor, got None"),
        (lambda found: found["root"]["entries"].update(x=3), r"x: expected a JSON object, got 3"),
        (
            lambda found: found["root"]["entries"].update(x={"value": {"$": "tuple", "value": []}}),
            r"Outer\.x: saved as static, but declared as tensors",
        ),
        (lambda found: found["root"]["entries"].update(inner=None), r"Outer\.inner: expected .*Inner, got None"),
        (
            lambda found: found["root"]["entries"].update(source=None),
            r"Outer\.source: saved as tensors, but declared as static",
        ),
        (
            lambda found: found["root"]["entries"].update(source={"value": {"$": "module", "value": "os"}}),
            r"Outer\.source: expected a value as save writes it, .*unknown type 'module'",
        ),
    ],
)
def test_metadata_that_no_save_writes_is_refused(folder: Path, change: Callable[[Any], None], message: str) -> None:
    edit(folder, change)
    refused(folder, message)


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"x": NaN', "[" * 100_000, "\xff", '{"name": "my project"}'])
def test_what_is_not_our_json_is_refused(folder: Path, text: str) -> None:
    (folder / "meta.json").write_bytes(text.encode("latin1"))
    ours = "metadata that a save of qten-gen wrote; a folder of tensordict is loaded by"
    refused(folder, rf"meta\.json: (metadata: )?expected (a )?{ours if 'name' in text else 'JSON'}")


def test_a_save_removes_no_file_that_a_save_would_not_write(folder: Path, tmp_path: Path) -> None:
    theirs = tmp_path / "theirs"
    (folder / "other").rename(theirs)
    (folder / "other").symlink_to(theirs)
    (folder / "notes.txt").touch()
    before = files_in(theirs)
    outer(4, full=False).memmap(folder)
    edit(folder, lambda found: found.update(replaced=["notes.txt"]))
    refused(folder, r"replaced: expected files that a save writes, got 'notes\.txt'")
    outer(4, full=False).memmap(folder)
    assert files_in(theirs) == before
    assert (folder / "notes.txt").exists()


def test_another_class_is_refused_by_its_fields(folder: Path) -> None:
    with pytest.raises(StorageError, match=r"Flat has no field 'inner'; the fields are: x, y"):
        Flat.load_memmap(folder)


ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 2**70)
    | st.floats()
    | st.sampled_from(["", "..", "x", "float32", "tuple", "dtype", "class", "inner", "x.memmap", "int8", "\ud800"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["$", "items", "value", "a"]), inner, max_size=3)
    ),
    max_leaves=5,
)


@pytest.fixture(scope="module")
def changed() -> Iterator[Path]:
    """A folder that holds an object, whose metadata each example changes."""
    with tempfile.TemporaryDirectory() as found:
        outer(4).memmap(found)
        yield Path(found)


def places(value: Any) -> list[tuple[Any, Any]]:
    """Every place in a JSON value: a container and a key of it."""
    if not isinstance(value, (dict, list)):
        return []
    keys = list(value) if isinstance(value, dict) else list(range(len(value)))
    return [(value, key) for key in keys] + [place for key in keys for place in places(value[key])]


def loads_or_is_refused(folder: Path, text: bytes) -> None:
    """Load a folder with other metadata, and put the old one back."""
    path = folder / "meta.json"
    before = path.read_bytes()
    path.write_bytes(text)
    try:
        loaded = Outer.load_memmap(folder)
    except StorageError as error:
        assert str(folder) in str(error)
    else:
        assert type(loaded) is Outer
        assert_sound(loaded)
        assert loaded.x.dtype in (torch.float32, torch.int32, torch.uint32)
    finally:
        path.write_bytes(before)
    assert sorted(found.name for found in folder.glob("*.memmap")) == ["mask.memmap", "x.memmap"]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=100)
@given(data=st.data())
def test_any_value_in_any_place(data: st.DataObject, changed: Path) -> None:
    found = json.loads((changed / "meta.json").read_text())
    for _ in range(data.draw(st.integers(1, 2))):
        container, key = data.draw(st.sampled_from(range(len(places(found)))).map(lambda at: places(found)[at]))
        if data.draw(st.booleans()):
            container[key] = data.draw(ANYTHING)
        else:
            del container[key]
    loads_or_is_refused(changed, json.dumps(found).encode())


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=100)
@given(at=st.integers(0, 10**4), byte=st.integers(0, 255))
@example(at=0, byte=0xFF)
def test_any_byte_anywhere(at: int, byte: int, changed: Path) -> None:
    text = bytearray((changed / "meta.json").read_bytes())
    text[at % len(text)] = byte
    loads_or_is_refused(changed, bytes(text))
