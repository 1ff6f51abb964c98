"""What earlier versions saved is loaded for ever: the committed files of `corpus`, compared with their objects built anew."""

from __future__ import annotations

import io
import pickle
import shutil
import zipfile
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


class Anything(dict[Any, Any]):
    """What stands for every class and function that a pickle names."""

    def __init__(self, *args: object) -> None: ...

    def __setstate__(self, state: object) -> None: ...


class Names(pickle.Unpickler):
    """Collects the names of the product that unpickling looks up."""

    def __init__(self, text: bytes) -> None:
        super().__init__(io.BytesIO(text))
        self.found: set[str] = set()

    def find_class(self, module: str, name: str) -> object:
        self.found |= {f"{module}.{name}"} if module.startswith("qten_gen") else set()
        return Anything

    def persistent_load(self, identity: object) -> object:
        return identity


def names_of(text: bytes) -> set[str]:
    names = Names(text)
    names.load()
    return names.found


@pytest.mark.parametrize("name", declared.OBJECTS)
def test_pickles_name_what_is_public_and_the_same_as_in_the_corpus(name: str) -> None:
    made, by_torch = declared.OBJECTS[name], io.BytesIO()
    torch.save(made, by_torch)
    with zipfile.ZipFile(by_torch) as new, zipfile.ZipFile(CORPUS / name / "torch_save.pth") as old:
        texts = [
            [file.read(next(each for each in file.namelist() if each.endswith("data.pkl"))) for file in (new, old)]
        ]
    texts += [[pickle.dumps(made, int(path.stem[-1])), path.read_bytes()] for path in (CORPUS / name).glob("*.pickle")]
    for text, saved in texts:
        assert names_of(text) == names_of(saved) <= {"qten_gen.runtime.tensorclass.ragged.unpickled"}


def test_every_kind_of_field_is_in_the_corpus() -> None:
    assert {field.kind for made in declared.OBJECTS.values() for field in made._declaration.fields} == set(FieldKind)
    assert {path.parent.name for path in CORPUS.rglob("torch_save.pth")} == set(declared.OBJECTS)
