"""Every kind of field, in all its variants, comes back from every form of storage as it was.

A new kind, or a new attribute of a field, fails here until it has a row in `ROWS`.
"""

from __future__ import annotations

import dataclasses
import inspect
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch

from qten_gen import PerItem, Ragged, TensorClass
from qten_gen.model.fields import FieldDecl, FieldKind
from tests.golden.kinds import tensorclasses

from .declared import shown
from .forms import ALL_FORMS, Declared, Form, Part

VARIANT = ("kind", "optional", "unbatched", "container", "dims", "cast")
"""The attributes of a declaration that say how a field is stored."""

OTHER = ("name", "nested", "dtype", "default", "kw_only", "type", "doc", "owner", "place")
"""Those that do not."""

ROWS: tuple[tuple[str, Any], ...] = (
    ("t: Tensor", torch.rand(2, 3)),
    ("t: Tensor | None", torch.rand(2)),
    ("t: Tensor | None", None),
    ("t: Float[Tensor, '*batch seq']", torch.rand(2, 3)),
    ("t: Float[Tensor, '*batch seq'] | None", torch.rand(2, 3)),
    ("t: Float[Tensor, '*batch seq'] | None", None),
    ("t: Unbatched[Tensor]", torch.rand(5)),
    ("t: Unbatched[Tensor | None]", torch.rand(5)),
    ("t: Unbatched[Tensor | None]", None),
    ("t: Unbatched[Float[Tensor, 'vocab dim']]", torch.rand(5, 4)),
    ("t: Unbatched[Float[Tensor, 'vocab dim']] | None", torch.rand(5, 4)),
    ("t: Unbatched[Float[Tensor, 'vocab dim']] | None", None),
    ("t: dict[str, Tensor]", {"a": torch.rand(2), "b.c": torch.rand(2, 3)}),
    ("t: dict[str, Tensor]", {}),
    ("t: dict[str, Tensor] | None", {"a": torch.rand(2)}),
    ("t: dict[str, Tensor] | None", None),
    ("t: list[Tensor]", [torch.rand(2), torch.rand(2, 3)]),
    ("t: list[Tensor]", []),
    ("t: list[Tensor] | None", [torch.rand(2)]),
    ("t: list[Tensor] | None", None),
    ("t: Unbatched[dict[str, Tensor]]", {"a": torch.rand(7)}),
    ("t: Unbatched[dict[str, Tensor] | None]", {"a": torch.rand(7)}),
    ("t: Unbatched[dict[str, Tensor] | None]", None),
    ("t: Unbatched[list[Tensor]]", [torch.rand(7)]),
    ("t: Unbatched[list[Tensor] | None]", [torch.rand(7), torch.rand(1)]),
    ("t: Unbatched[list[Tensor] | None]", None),
    ("t: float", 0.5),
    ("t: float | None", torch.rand(2)),
    ("t: float | None", None),
    ("t: Part", Part(torch.rand(2, 3), batch_size=(2, 3))),
    ("t: Part | None", Part(torch.rand(2), batch_size=2)),
    ("t: Part | None", None),
    ("t: Ragged[Tensor]", [torch.rand(3), torch.rand(1)]),
    ("t: Ragged[Tensor] | None", None),
    ("t: Ragged[Float[Tensor, 'n 4']]", [torch.rand(3, 4), torch.rand(1, 4)]),
    ("t: str", "é"),
    ("t: str | None", None),
    ("t: tuple[int, ...]", (1, 2)),
    ("t: PerItem[str]", ["a", "b"]),
    ("t: PerItem[str] | None", PerItem(["a", "b"])),
    ("t: PerItem[str] | None", None),
)

CAST_ROWS: tuple[tuple[str, Any], ...] = (("t: int", 3), ("t: int | None", 3), ("t: int | None", None))
"""Of classes that cast."""


@pytest.fixture
def declare(monkeypatch: pytest.MonkeyPatch) -> Declared:
    """Declares a class."""
    module = ModuleType("declared_of_every_kind")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    return Declared(module)


def variant(field: FieldDecl) -> tuple[object, ...]:
    """How a field is stored."""
    found = {name: getattr(field, name) for name in VARIANT}
    return tuple({**found, "dims": field.dims is not None, "cast": field.cast is not None}.values())


@pytest.mark.parametrize("form", ALL_FORMS, ids=lambda form: form.name)
@pytest.mark.parametrize("flags", ["", ", frozen=True"])
def test_it_comes_back_as_it_was(declare: Declared, tmp_path: Path, form: Form, flags: str) -> None:
    wrong = []
    for at, (row, value) in enumerate((*ROWS, *CAST_ROWS)):
        if flags and "state" in form.name:
            continue  # a frozen object takes none
        folder = tmp_path / str(at)
        folder.mkdir()
        cls = declare("x: Tensor", row, flags=flags + (", autocast=True" if (row, value) in CAST_ROWS else ""))
        made = cls(torch.rand(2, 2), value, batch_size=2, names=["time"])
        try:
            found = form.save(made, folder)(cls)
        except Exception as error:
            wrong.append((row, value, repr(error)))
            continue
        if shown(found) != shown(made):
            wrong.append((row, value, found.t))
    assert not wrong


def test_every_kind_and_variant_has_a_row(declare: Declared) -> None:
    rows = {variant(declare(row)._declaration.fields[0]) for row, _ in ROWS}
    rows |= {variant(declare(row, flags=", autocast=True")._declaration.fields[0]) for row, _ in CAST_ROWS}
    assert {kind for kind, *_ in rows} == set(FieldKind)
    samples = [
        found for _, found in inspect.getmembers(tensorclasses, inspect.isclass) if issubclass(found, TensorClass)
    ]
    fields = [field for found in samples if found not in (TensorClass, Ragged) for field in found._declaration.fields]
    assert [str(field.type) for field in fields if isinstance(field, FieldDecl) and variant(field) not in rows] == []


def test_every_attribute_of_a_field_is_known_here() -> None:
    assert {field.name for field in dataclasses.fields(FieldDecl)} == {*VARIANT, *OTHER}
