"""TensorClass objects and lazy stacks in a notebook: what `_repr_html_` says of them, and what it must not do."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode

from qten_gen import LazyStack, PerItem, TensorClass, Unbatched, deferred_init, fake_mode
from tests.tensorclass import declared

from .parsed import Parsed


class Point(TensorClass):
    xy: Tensor


class Batch(TensorClass):
    tokens: Tensor
    at: Point | None = None
    titles: PerItem[str] | None = None
    table: Unbatched[Tensor] | None = None
    extra: dict[str, Tensor] | None = None
    frames: list[Tensor] | None = None
    note: str = "train"
    settings: Any = None


class Frozen(TensorClass, frozen=True):
    x: Tensor


class Spoken(TensorClass):
    x: Tensor

    def __repr__(self) -> str:
        return "spoken"


class Silent(TensorClass):
    x: Tensor

    def _repr_html_(self) -> str | None:
        return "<b>silent</b>"


def full() -> Batch:
    """An object with a value in every field."""
    return Batch(
        torch.zeros(4, 7, dtype=torch.int64),
        Point(torch.ones(4, 2, requires_grad=True), batch_size=4),
        PerItem(["a", "b", "c", "d"]),
        torch.ones(30, 30),
        {"k": torch.ones(4)},
        [torch.ones(4, 2)] * 3,
        batch_size=4,
        names=["item"],
        device="cpu",
    )


@contextmanager
def no_operations() -> Iterator[None]:
    """Nothing in the block computes with a tensor or copies one."""

    class Refusing(TorchDispatchMode):  # type: ignore[no-untyped-call] # torch gives it no types
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            raise AssertionError(f"{func} is called")

    with Refusing():  # type: ignore[no-untyped-call] # torch gives its constructor no types
        yield


def test_every_field_has_its_shape_dtype_device_and_memory() -> None:
    shown = Parsed(full()._repr_html_())
    assert shown.fields["tokens"] == ("[4, 7]", "int64", "cpu", "224 B")
    assert shown.fields["xy"] == ("[4, 2]", "float32", "cpu", "32 B")
    assert shown.fields["table"] == ("[30, 30]", "float32", "cpu", "3.5 KiB")
    assert shown.fields["titles"] == ("PerItem(['a', 'b', 'c', 'd'])",)
    assert shown.fields["note"] == ("'train'",)
    assert shown.fields["settings"] == ("None",)
    assert shown.fields["[2]"] == ("[4, 2]", "float32", "cpu", "32 B")
    assert "at Point, batch_size [4], cpu, 32 B" in shown.summaries
    assert "frames list of 3 tensors, 32 B" in shown.summaries, "they share their memory"
    assert {"xy requires grad", "table unbatched", "titles for each item"} <= {row[0] for row in shown.rows}


def test_the_heading_says_what_holds_for_the_whole_object() -> None:
    html = Batch(torch.zeros(4, 2), batch_size=[4, 2], device="cpu", names=["a", None], lock=True)._repr_html_() or ""
    assert "<b>Batch</b>" in html
    assert "batch_size [4, 2], names [a, None], cpu, locked, 32 B" in html
    assert "batch_size [], frozen, 4 B" in (Frozen(torch.ones(()))._repr_html_() or "")


@pytest.mark.parametrize("batch_size", [(), (3,), (2, 3)])
def test_every_field_of_objects_of_every_kind_is_shown(batch_size: tuple[int, ...]) -> None:
    made = declared.batch(*batch_size)
    shown = Parsed(made._repr_html_())
    names = {*shown.fields, *(summary.split(" ")[0] for summary in shown.summaries)}
    assert {*type(made).__match_args__} <= names
    Parsed(declared.batch(*batch_size, full=False)._repr_html_())


@given(st.text(max_size=300))
def test_texts_are_escaped_and_short(text: str) -> None:
    batch = Batch(torch.ones(1), note=text, extra={text: torch.ones(1)}, settings={text: [text]})
    html = batch._repr_html_() or ""
    shown = Parsed(html)
    assert {*shown.tags} <= {
        "div",
        "style",
        "b",
        "span",
        "table",
        "thead",
        "tbody",
        "tr",
        "td",
        "th",
        "details",
        "summary",
    }
    assert len(html) < 12_000


def test_values_that_cannot_be_shown_are_named_by_their_class() -> None:
    class Loud:
        def __repr__(self) -> str:
            raise ValueError("no")

    assert Parsed(Batch(torch.ones(1), settings=Loud())._repr_html_()).fields["settings"][0].startswith("<Loud")


@dataclass
class Settings:
    """A static value that gets a tensor later on, which no field would take."""

    scale: Tensor | None = None
    loss: str = "mse"


def test_no_operation_runs_on_a_tensor_whatever_holds_it() -> None:
    held = torch.full((3,), 7.0)
    settings = Settings()
    batch = full().replace(settings=settings)
    settings.scale = held
    with no_operations():
        shown = Parsed(batch._repr_html_())
    assert shown.fields["settings"] == ("Settings(scale=float32[3] cpu, loss='mse')",)


@pytest.mark.parametrize("device", ["meta", "cpu", "cuda"])
def test_fake_tensors_and_those_on_meta_are_shown_like_others(device: str) -> None:
    with fake_mode(fake_cuda=True):
        batch = Batch(torch.ones(4, 7, device=device), batch_size=4)
        inside = batch._repr_html_()
    assert batch._repr_html_() == inside
    place = "cuda:0" if device == "cuda" else device
    assert Parsed(inside).fields["tokens"] == ("[4, 7]", "float32", place, "112 B")


def test_an_object_can_be_shown_inside_of_vmap_and_on_the_way_through_a_tree() -> None:
    found: list[str | None] = []

    def look(part: Point) -> Tensor:
        found.append(part._repr_html_())
        return part.xy

    torch.vmap(look)(Point(torch.ones(3, 2), batch_size=3))
    assert Parsed(found[0]).fields["xy"][0] == "[2]"
    marked = pytree.tree_map(lambda leaf: "leaf", Point(torch.ones(3, 2), batch_size=3))
    assert Parsed(marked._repr_html_()).fields["xy"] == ("'leaf'",)


def test_a_thousand_fields_and_a_long_list_are_folded_and_counted() -> None:
    body = {"__annotations__": {f"f{at}": Tensor for at in range(1000)}, "__module__": __name__}
    meta: Any = type(TensorClass)
    wide = meta("Wide", (TensorClass,), body)
    html: str = wide(*torch.ones(1000, 2).unbind(), batch_size=2)._repr_html_()
    shown = Parsed(html)
    assert "975 more" in shown.summaries
    assert re.search(r"([\d,]+) more are not shown", html)
    assert "f249" in shown.fields and "f250" not in shown.fields
    assert len(html) < 40_000
    frames = Batch(torch.ones(1), frames=[torch.ones(1)] * 100_000)._repr_html_() or ""
    assert len(frames) < 40_000
    assert "99,756 more are not shown" in frames


def test_memory_that_tensors_share_counts_once() -> None:
    row = torch.ones(1, 1000)
    shared = Batch(row, table=row, extra={"view": row[:, :10], "wide": row.expand(50, 1000)[:1]}, batch_size=1)
    assert ", 3.9 KiB<" in (shared._repr_html_() or "")
    wide = Parsed(Point(row.expand(50, 1000), batch_size=50)._repr_html_()).fields
    assert wide["xy"] == ("[50, 1000]", "float32", "cpu", "3.9 KiB")


def test_a_class_that_says_itself_how_it_looks_is_left_alone() -> None:
    assert Spoken(torch.ones(1))._repr_html_() is None
    assert Silent(torch.ones(1))._repr_html_() == "<b>silent</b>"


def test_a_lazy_stack_shows_what_its_objects_have_in_common() -> None:
    lazy = LazyStack([full(), full()[:2]])
    shown = Parsed(lazy._repr_html_())
    stacked = {row[0]: row[1:] for row in shown.rows[:9]}
    assert stacked["tokens"] == ("[2, ?, 7]", "int64", "cpu", "336 B")
    assert stacked["table"] == ("[2, 30, 30]", "float32", "cpu", "7.0 KiB")
    assert (stacked["at"], stacked["note"]) == (("Point",), ("str",))
    assert "objects 2 objects" in shown.summaries
    assert any(summary.startswith("[1] Batch, batch_size [2]") for summary in shown.summaries)
    mixed = LazyStack([Batch(torch.ones(1)), Batch(torch.ones(1), table=torch.ones(2))])
    assert Parsed(mixed._repr_html_()).rows[4] == ("table", "NoneType or Tensor")
    assert len(LazyStack([full()] * 5000)._repr_html_()) < 150_000


def test_fields_whose_names_are_close_are_stored_beside_it() -> None:
    class Close(TensorClass):
        repr_html: Tensor
        repr_html_: Tensor
        repr_html__: Tensor

    made = Close(*torch.arange(3.0).unbind())
    assert [made.repr_html.item(), made.repr_html_.item(), made.repr_html__.item()] == [0, 1, 2]
    assert {"repr_html", "repr_html_", "repr_html__"} <= Parsed(made._repr_html_()).fields.keys()


def test_objects_that_are_not_complete_raise_as_they_do_for_repr() -> None:
    with pytest.raises(AttributeError):
        object.__new__(Point)._repr_html_()
    assert Parsed(copy.deepcopy(full())._repr_html_()).fields["note"] == ("'train'",)


def test_objects_of_a_deferred_call_are_shown() -> None:
    class Net(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.point = Point(torch.ones(4, 2), batch_size=4)

    assert Parsed(deferred_init(Net).point._repr_html_()).fields["xy"] == ("[4, 2]", "float32", "cpu", "32 B")
