"""Metadata with random changes: it loads as an object of the class or is refused, whatever the change."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from qten_gen.runtime.tensorclass.storage.metadata import StorageError
from tests.tensorclass.declared import assert_sound

from .declared import Outer, outer

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
def folder() -> Iterator[Path]:
    """A folder that holds an object, whose metadata each example changes."""
    with tempfile.TemporaryDirectory() as found:
        outer(4).memmap(found)
        yield Path(found)


@pytest.fixture(scope="module")
def peers(tmp_path_factory: pytest.TempPathFactory, folder: Path) -> Path:
    """The same as tensordict would have left it: without our section."""
    made = tmp_path_factory.mktemp("peers") / "map"
    shutil.copytree(folder, made)
    for path in made.rglob("meta.json"):
        found = json.loads(path.read_text())
        found.pop("_qten", None)
        path.write_text(json.dumps(found))
    return made


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


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=100)
@given(data=st.data())
@pytest.mark.parametrize("kind", ["ours", "tensordict"])
def test_any_value_in_any_place(data: st.DataObject, folder: Path, peers: Path, kind: str) -> None:
    chosen = folder if kind == "ours" else peers
    found = json.loads((chosen / "meta.json").read_text())
    for _ in range(data.draw(st.integers(1, 2))):
        container, key = data.draw(st.sampled_from(range(len(places(found)))).map(lambda at: places(found)[at]))
        if data.draw(st.booleans()):
            container[key] = data.draw(ANYTHING)
        else:
            del container[key]
    loads_or_is_refused(chosen, json.dumps(found).encode())


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=100)
@given(at=st.integers(0, 10**4), byte=st.integers(0, 255))
@example(at=0, byte=0xFF)
def test_any_byte_anywhere(at: int, byte: int, folder: Path) -> None:
    text = bytearray((folder / "meta.json").read_bytes())
    text[at % len(text)] = byte
    loads_or_is_refused(folder, bytes(text))
