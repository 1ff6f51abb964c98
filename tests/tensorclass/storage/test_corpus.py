"""What earlier versions saved is loaded for ever: the committed files of `corpus`, compared with their objects built anew."""

from __future__ import annotations

import pickle
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch

from qten_gen.model.fields import FieldKind
from tests.tensorclass.storage.corpus import declared

from .declared import shown

CORPUS = Path(declared.__file__).parent
CLASSES: list[Any] = [each for each in vars(declared).values() if getattr(each, "__module__", "") == declared.__name__]


@pytest.mark.parametrize("name", declared.OBJECTS)
def test_what_was_saved_is_loaded_for_ever(name: str, tmp_path: Path) -> None:
    made, folder = declared.OBJECTS[name], shutil.copytree(CORPUS / name, tmp_path / name)
    pickles = [pickle.loads(path.read_bytes()) for path in folder.glob("*.pickle")]
    with torch.serialization.safe_globals(CLASSES):
        pickles.append(torch.load(folder / "torch_save.pth", weights_only=name != "static"))
    files = [type(made).load_memmap(folder / "map"), type(made).load_safetensors(folder / "batch.safetensors")]
    assert [shown(found) for found in (*pickles, *files)] == [shown(made)] * (4 if name == "dtypes" else 5)
    assert {found.device for found in pickles} == {made.device}


def test_every_kind_of_field_is_in_the_corpus() -> None:
    assert {field.kind for made in declared.OBJECTS.values() for field in made._declaration.fields} == set(FieldKind)
    assert {path.parent.name for path in CORPUS.rglob("torch_save.pth")} == set(declared.OBJECTS)
