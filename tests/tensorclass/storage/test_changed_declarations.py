"""What was saved before its class was declared otherwise: fields added, removed and changed, in every form of storage."""

from __future__ import annotations

import sys
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch

from tests.tensorclass.declared import tensors

from .declared import shown
from .forms import FORMS, Declared, Form, Part


@pytest.fixture
def declare(monkeypatch: pytest.MonkeyPatch) -> Declared:
    """Declares the class as it is now; what was pickled before is loaded as that."""
    module = ModuleType("declared_anew")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    return Declared(module)


ADDED = (
    "t: Tensor = field(default=torch.ones(2))",
    "t: Tensor = field(default=torch.ones(()))",
    "t: Tensor = field(default_factory=lambda: torch.arange(6).reshape(2, 3))",
    "t: Tensor = field(default_factory=lambda: torch.ones(3))",
    "t: Tensor | None = None",
    "t: Tensor | None = field(default=torch.ones(3))",
    "t: Tensor | None = field(default=torch.ones(2))",
    "t: Unbatched[Tensor] = field(default=torch.ones(7))",
    "t: Unbatched[Tensor | None] = None",
    "t: Float[Tensor, '*batch seq'] = field(default=torch.ones(2, 3))",
    "t: Float[Tensor, '*batch seq'] = field(default=torch.ones(2, 4))",
    "t: Int[Tensor, '*batch seq'] = field(default=torch.ones(2, 3))",
    "t: Unbatched[Float[Tensor, 'seq dim']] = field(default=torch.ones(3, 5))",
    "t: dict[str, Tensor] = field(default_factory=dict)",
    "t: dict[str, Tensor] = field(default_factory=lambda: {'a': torch.ones(2)})",
    "t: dict[str, Tensor] = field(default_factory=lambda: {'a': torch.ones(3)})",
    "t: dict[str, Tensor] | None = None",
    "t: list[Tensor] = field(default_factory=lambda: (torch.ones(2),))",
    "t: list[Tensor] = field(default_factory=lambda: [torch.ones(3)])",
    "t: Unbatched[list[Tensor]] = field(default_factory=lambda: [torch.ones(3)])",
    "t: Part | None = None",
    "t: Part = field(default=Part(torch.ones(2), batch_size=2))",
    "t: Part = field(default_factory=lambda: Part(torch.ones(2)))",
    "t: Part = field(default_factory=lambda: Part(torch.ones(2, 3), batch_size=(2, 3)))",
    "t: Part = field(default_factory=lambda: Part(torch.ones(3), batch_size=3))",
    "t: PerItem[str] = field(default_factory=lambda: ['a', 'b'])",
    "t: PerItem[str] = field(default_factory=lambda: ['a'])",
    "t: PerItem[str] | None = None",
    "t: str = 'a'",
    "t: list[str] = field(default_factory=lambda: ['a'])",
    "t: float = 0.5",
    "t: int = 3",
    "t: bool = False",
    "t: int | None = None",
    "t: float = 1",
    "t: float | int = 2",
)


def outcome(make: Callable[..., Any], *args: object, **options: object) -> object:
    """What can be seen of the object that a call makes, or that there is none."""
    try:
        return shown(make(*args, **options))
    except (TypeError, ValueError):
        return "refused"


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
@pytest.mark.parametrize("flags", ["", ", frozen=True, autocast=True"])
def test_a_field_that_was_added_gets_what_the_constructor_would_store(
    declare: Declared, tmp_path: Path, form: Form, flags: str
) -> None:
    wrong = []
    x = torch.rand(2, 3)
    for at, added in enumerate(ADDED):
        folder = tmp_path / str(at)
        folder.mkdir()
        kept = "x: Float[Tensor, '*batch seq']"
        load = form.save(declare(kept, flags=flags)(x, batch_size=2), folder)
        cls = declare(kept, added, flags=flags)
        expected, found = outcome(cls, x, batch_size=2), outcome(load, cls)
        if expected != found:
            wrong.append((added, expected, found))
    assert not wrong


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
def test_a_default_that_was_added_is_not_shared(declare: Declared, tmp_path: Path, form: Form) -> None:
    load = form.save(declare("x: Tensor")(torch.zeros(2), batch_size=2), tmp_path)
    cls = declare(
        "x: Tensor",
        "t: Tensor = field(default=torch.zeros(2))",
        "p: Part = field(default=Part(torch.zeros(2), batch_size=2))",
        "s: list[str] = field(default_factory=list)",
    )
    first = load(cls)
    first.t.fill_(1)
    first.p.q.fill_(1)
    first.s.append("a")
    for second in (load(cls), cls(torch.zeros(2), batch_size=2)):
        assert second.t.tolist() == second.p.q.tolist() == [0, 0]
        assert second.s == []


MISSED = r"nothing was saved for the field 't', which has no default"


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        (None, "t: Tensor", MISSED),
        (None, "t: Tensor | None", MISSED),
        (None, "t: str", MISSED),
        (None, "t: Part | None", MISSED),
        (None, "t: PerItem[str]", MISSED),
        (
            None,
            "t: Tensor = field(default=torch.ones(()))",
            r"its default does not fit: Batch\.t: expected a shape that starts with \[2\], got \[\]",
        ),
        ("reward: Tensor", "rewards: Tensor = field(default=torch.ones(2))", r"field 'reward'.*rewards"),
        ("reward: Tensor", None, "field 'reward'"),
    ],
)
def test_a_field_that_cannot_be_filled_or_is_gone_is_named(
    declare: Declared, tmp_path: Path, form: Form, before: str | None, after: str | None, message: str
) -> None:
    values = [torch.zeros(2)] * (1 if before is None else 2)
    load = form.save(declare("x: Tensor", *filter(None, [before]))(*values, batch_size=2), tmp_path)
    with pytest.raises((TypeError, ValueError), match=message):
        load(declare("x: Tensor", *filter(None, [after])))


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
def test_a_static_value_is_cast_as_the_class_says_now(declare: Declared, tmp_path: Path, form: Form) -> None:
    loads = []
    for text in ("5", "a"):
        made = declare("x: Tensor", "n: str", flags=", autocast=True")(torch.zeros(2), text)
        (tmp_path / text).mkdir()
        loads.append(form.save(made, tmp_path / text))
    cls = declare("x: Tensor", "n: int", flags=", autocast=True")
    assert loads[0](cls).n == 5
    with pytest.raises((TypeError, ValueError), match="cannot convert"):
        loads[1](cls)


CHANGES = (
    ("t: Tensor", "t: str", torch.zeros(2)),
    ("t: str", "t: Tensor", "a"),
    ("t: Tensor", "t: Tensor | None", torch.zeros(2)),
    ("t: Tensor | None", "t: Tensor", None),
    ("t: Tensor", "t: Unbatched[Tensor]", torch.zeros(2)),
    ("t: Unbatched[Tensor]", "t: Tensor", torch.zeros(3)),
    ("t: Unbatched[Tensor]", "t: Tensor", torch.zeros(2)),
    ("t: Tensor", "t: Float[Tensor, '*batch seq']", torch.zeros(2)),
    ("t: Tensor", "t: Float[Tensor, '*batch seq']", torch.zeros(2, 3)),
    ("t: Float[Tensor, '*batch seq']", "t: Int[Tensor, '*batch seq']", torch.zeros(2, 3)),
    ("t: Tensor", "t: dict[str, Tensor]", torch.zeros(2)),
    ("t: dict[str, Tensor]", "t: Tensor", {"a": torch.zeros(2)}),
    ("t: dict[str, Tensor]", "t: list[Tensor]", {"a": torch.zeros(2)}),
    ("t: Unbatched[dict[str, Tensor]]", "t: dict[str, Tensor]", {"a": torch.zeros(3)}),
    ("t: Part", "t: Other", Part(torch.zeros(2), batch_size=2)),
    ("t: Part", "t: Tensor", Part(torch.zeros(2), batch_size=2)),
    ("t: Part", "t: str", Part(torch.zeros(2), batch_size=2)),
    ("t: Part | None", "t: Part", None),
    ("t: Tensor", "t: PerItem[str]", torch.zeros(2)),
    ("t: str", "t: PerItem[str]", "ab"),
    ("t: PerItem[str]", "t: list[str]", ["a", "b"]),
    ("t: float", "t: Tensor", 0.5),
    ("t: Tensor", "t: float", torch.zeros(2)),
)


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
def test_a_field_that_was_declared_otherwise_holds_what_the_constructor_takes_or_is_refused(
    declare: Declared, tmp_path: Path, form: Form
) -> None:
    wrong = []
    for at, (before, after, value) in enumerate(CHANGES):
        folder = tmp_path / str(at)
        folder.mkdir()
        load = form.save(declare("x: Tensor", before)(torch.zeros(2), value, batch_size=2), folder)
        cls = declare("x: Tensor", after)
        found = outcome(load, cls)
        if found != "refused" and found != outcome(cls, torch.zeros(2), load(cls).t, batch_size=2):
            wrong.append((before, after, found))
    assert not wrong


def test_a_default_goes_to_the_device_of_the_object(declare: Declared, tmp_path: Path) -> None:
    declare("x: Tensor")(torch.zeros(2), batch_size=2).memmap(tmp_path)
    cls = declare("x: Tensor", "t: Tensor = field(default=torch.ones(2))", "n: int = 3")
    loaded = cls.load_memmap(tmp_path, device="meta")
    assert {tensor.device.type for tensor in tensors(loaded).values()} == {"meta"}


def test_torch_load_says_where_it_put_the_tensors(declare: Declared) -> None:
    file = BytesIO()
    torch.save(declare("x: Tensor", "p: Part")(torch.zeros(2), Part(torch.zeros(2)), batch_size=2, device="cpu"), file)
    file.seek(0)
    cls = declare("x: Tensor", "p: Part", "t: Tensor = field(default=torch.ones(2))")
    loaded = torch.load(file, weights_only=False, map_location="meta")
    assert isinstance(loaded, cls)
    assert loaded.device == loaded.p.device == torch.device("meta")
    assert loaded.t.device == torch.device("meta")
