"""Keywords that tensordict's methods take too mean the same: both libraries give the same result for the same data."""

from __future__ import annotations

import dataclasses
from collections import namedtuple
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
import torch
from torch import Tensor

from qten_gen import TensorClass
from qten_gen.runtime.tensorclass.operations.table import methods

from .test_signatures import METHODS, of_peer, parameters

Peer: Any = pytest.importorskip("tensordict", reason="keywords are compared where tensordict is installed").TensorClass


class Kit(NamedTuple):
    """What a case is about, made of the classes of one library."""

    cls: Any
    inner: Any
    b: Any
    other: Any

    def leaf(self) -> Any:
        """An object whose tensors require gradients, named by its own field alone."""
        return self.inner(torch.ones(4, 3, requires_grad=True), batch_size=[4])


class OurInner(TensorClass):
    w: Tensor


class Ours(TensorClass):
    x: Tensor
    n: Tensor
    inner: OurInner
    mask: Tensor | None = None
    tag: str = "a"


class TheirInner(Peer):  # type: ignore[misc] # imported at run time
    w: Tensor


class Theirs(Peer):  # type: ignore[misc] # imported at run time
    x: Tensor
    n: Tensor
    inner: TheirInner
    mask: Tensor | None = None
    tag: str = "a"


def kit(cls: Any, inner: Any) -> Kit:
    """New objects of the classes of a library."""

    def made(start: float) -> Any:
        values = torch.arange(12.0).reshape(4, 3) + start
        nested = inner(values * 2, batch_size=[4])
        return cls(x=values, n=torch.arange(4), inner=nested, batch_size=[4])

    return Kit(cls, inner, made(0), made(100))


def shown(value: Any) -> Any:
    """A value in words of its own, the same for both libraries."""
    if hasattr(value, "batch_size") and hasattr(value, "to_dict"):
        fields = {name: shown(field) for name, field in value.to_dict().items() if field is not None}
        nested = {name: shown_attributes(getattr(value, name)) for name in ("inner",) if hasattr(value, name)}
        return fields, shown_attributes(value), nested
    if isinstance(value, Tensor):
        return str(value.dtype), value.tolist()
    if isinstance(value, dict):
        return {name: shown(field) for name, field in value.items()}
    if isinstance(value, list):
        return [shown(one) for one in value]
    if type(value).__module__ == "numpy":
        return str(value.dtype), value.tolist()
    return value


def shown_attributes(value: Any) -> Any:
    return list(value.batch_size), list(value.names), value.is_locked, str(value.device)


def keys_of(found: Any) -> list[Any]:
    """Keys in any order; tensordict leaves fields out that are None."""
    return sorted(str(key) for key in found if key != "mask")


@dataclasses.dataclass
class Record:
    x: Tensor
    n: Tensor
    inner: Any


Row = namedtuple("Row", "x n inner")  # what both libraries know as a named tuple


def values(k: Kit) -> dict[str, Any]:
    return {"x": torch.ones(4, 3), "n": torch.zeros(4), "inner": {"w": torch.ones(4, 3, 2)}, "tag": "a"}


def record(k: Kit, cls: Any) -> Any:
    return cls(torch.ones(4, 3), torch.zeros(4), k.inner(torch.ones(4, 3, 2), batch_size=[4]))


def locked(k: Kit) -> Any:
    return k.b.lock_()


def understood(value: Any) -> Any:
    """An object as an argument of methods that take only a TensorDict in tensordict."""
    return value if isinstance(value, TensorClass) else value.to_tensordict()


def shared(k: Kit, out: Any) -> list[bool]:
    """Which tensors are the very ones of the object."""
    return [out.x is k.b.x, out.inner.w is k.b.inner.w]


CASES: dict[tuple[str, ...], Callable[[Kit], Any]] = {
    ("apply", "batch_size"): lambda k: k.inner(torch.ones(4, 3), batch_size=[4]).apply(
        lambda t: t.sum(0), batch_size=[]
    ),
    ("apply", "device"): lambda k: k.b.apply(lambda t: t.to("meta"), device=torch.device("meta")).device,
    ("apply", "names"): lambda k: k.inner(torch.ones(4, 3), batch_size=[4]).apply(torch.neg, names=["row"]),
    ("apply", "inplace"): lambda k: (k.b.apply(lambda t: t + 1, inplace=True) is k.b, shown(k.b)),
    ("apply", "inplace", "locked"): lambda k: locked(k).apply(lambda t: t * 2, inplace=True),
    ("apply", "inplace", "dtype"): lambda k: k.b.apply(lambda t: t.double(), inplace=True),
    ("apply", "inplace", "same tensors"): lambda k: [
        before is after for before, after in [(k.b.x, k.b.apply(lambda t: t * 2, inplace=True).x)]
    ],
    ("apply", "propagate_lock"): lambda k: locked(k).apply(torch.neg, propagate_lock=True),
    ("apply", "propagate_lock", "not locked"): lambda k: k.b.apply(torch.neg, propagate_lock=True),
    ("named_apply", "batch_size"): lambda k: k.inner(torch.ones(4, 3), batch_size=[4]).named_apply(
        lambda name, t: t.sum(0), batch_size=[]
    ),
    ("named_apply", "device"): lambda k: (
        k.b.named_apply(lambda name, t: t.to("meta"), device=torch.device("meta")).device
    ),
    ("named_apply", "nested_keys"): lambda k: _keys_given(k),
    ("named_apply", "names"): lambda k: k.inner(torch.ones(4, 3), batch_size=[4]).named_apply(
        lambda name, t: -t, names=["row"]
    ),
    ("named_apply", "inplace"): lambda k: (
        k.b.named_apply(lambda name, t: t + len(name), inplace=True) is k.b,
        shown(k.b),
    ),
    ("named_apply", "propagate_lock"): lambda k: locked(k).named_apply(lambda name, t: t, propagate_lock=True),
    ("auto_batch_size_", "batch_dims"): lambda k: k.b.auto_batch_size_(batch_dims=1),
    ("auto_batch_size_", "keep_compliant_size"): lambda k: _deep(k).auto_batch_size_(1, keep_compliant_size=True),
    ("auto_batch_size_", "keep_compliant_size", "off"): lambda k: _deep(k).auto_batch_size_(1),
    ("clone", "recurse"): lambda k: (shared(k, k.b.clone(recurse=False)), shown(k.b.clone(recurse=False))),
    ("clone", "recurse", "by position"): lambda k: (shared(k, k.b.clone(True)), shown(k.b.clone(True))),
    ("copy_", "non_blocking"): lambda k: k.b.copy_(k.other, non_blocking=True),
    ("from_dataclass", "auto_batch_size"): lambda k: (
        k.cls.from_dataclass(record(k, Record), auto_batch_size=True).batch_size
    ),
    ("from_dataclass", "batch_dims"): lambda k: (
        k.cls.from_dataclass(record(k, Record), batch_dims=1, auto_batch_size=True).batch_size
    ),
    ("from_dataclass", "batch_size"): lambda k: k.cls.from_dataclass(record(k, Record), batch_size=[4]).batch_size,
    ("from_dataclass", "device"): lambda k: (
        k.cls.from_dataclass(record(k, Record), device="meta", batch_size=[4]).device
    ),
    ("from_namedtuple", "auto_batch_size"): lambda k: (
        k.cls.from_namedtuple(record(k, Row), auto_batch_size=True).batch_size
    ),
    ("from_namedtuple", "batch_dims"): lambda k: (
        k.cls.from_namedtuple(record(k, Row), batch_dims=1, auto_batch_size=True).batch_size
    ),
    ("from_namedtuple", "batch_size"): lambda k: k.cls.from_namedtuple(record(k, Row), batch_size=[4]).batch_size,
    ("from_namedtuple", "device"): lambda k: (
        k.cls.from_namedtuple(record(k, Row), device="meta", batch_size=[4]).device
    ),
    ("from_dict", "auto_batch_size"): lambda k: k.cls.from_dict(values(k), auto_batch_size=True),
    ("from_dict", "auto_batch_size", "off"): lambda k: (
        k.cls.from_dict(values(k), auto_batch_size=False, batch_dims=1).batch_size
    ),
    ("from_dict", "batch_dims"): lambda k: k.cls.from_dict(values(k), batch_dims=1),
    ("from_dict", "batch_size"): lambda k: k.cls.from_dict(values(k), batch_size=[4]),
    ("from_dict", "names"): lambda k: _named(k),
    ("from_dict", "device"): lambda k: k.cls.from_dict(values(k), batch_size=[4], device="meta").device,
    ("items", "include_nested"): lambda k: keys_of(key for key, _ in k.b.items(include_nested=True)),
    ("items", "leaves_only"): lambda k: keys_of(key for key, _ in k.leaf().items(leaves_only=True)),
    ("items", "sort"): lambda k: [key for key, _ in k.leaf().items(sort=True)],
    ("keys", "include_nested"): lambda k: keys_of(k.b.keys(include_nested=True)),
    ("keys", "leaves_only"): lambda k: keys_of(key for key in k.b.keys(True, leaves_only=True) if key != "tag"),
    ("keys", "sort"): lambda k: [key for key in k.b.keys(sort=True) if key != "mask"],
    ("pop", "default"): lambda k: k.b.pop("mask", default=7),
    ("pop", "default", "no such field"): lambda k: k.b.pop("other", None),
    ("pop", "default", "there"): lambda k: (shown(k.b.set("mask", torch.ones(4)).pop("mask", 7)), k.b.mask),
    ("pop", "key"): lambda k: (shown(k.b.set("mask", torch.ones(4)).pop(key="mask")), k.b.mask),
    ("requires_grad_", "requires_grad"): lambda k: k.leaf().requires_grad_(requires_grad=False).requires_grad,
    ("set", "inplace"): lambda k: [
        shown(k.b.set("x", torch.ones(4, 3), inplace=True)),
        k.b.x is k.b.set("x", torch.zeros(4, 3), inplace=True).x,
    ],
    ("set", "non_blocking"): lambda k: k.b.set("x", torch.ones(4, 3), non_blocking=True),
    ("set", "key"): lambda k: k.b.set(key="x", value=torch.ones(4, 3)),
    ("set_", "non_blocking"): lambda k: k.b.set_("x", torch.ones(4, 3), non_blocking=True),
    ("setdefault", "default"): lambda k: (shown(k.b.setdefault("mask", default=torch.ones(4))), shown(k.b)),
    ("to_dict", "retain_none"): lambda k: shown(k.b.to_dict(retain_none=False)),
    ("to_dict", "retain_none", "kept"): lambda k: shown(k.b.to_dict(retain_none=True)),
    ("to_dict", "convert_tensors"): lambda k: k.b.to_dict(convert_tensors=True),
    ("to_dict", "convert_tensors", "numpy"): lambda k: shown(k.b.to_dict(convert_tensors="numpy")),
    ("to_dict", "tolist_first"): lambda k: _in_rows(k, convert_tensors=True),
    ("to_dict", "tolist_first", "tensors"): lambda k: _in_rows(k),
    ("update", "clone"): lambda k: (k.b.update({"x": k.other.x}, clone=True).x is k.other.x, shown(k.b)),
    ("update", "clone", "off"): lambda k: k.b.update({"x": k.other.x}).x is k.other.x,
    ("update", "inplace"): lambda k: [one is k.b.update({"x": k.other.x}, inplace=True).x for one in [k.b.x]],
    ("update", "non_blocking"): lambda k: k.b.update({"x": k.other.x}, non_blocking=True),
    ("update", "fields"): lambda k: k.b.update(x=k.other.x, tag="b"),
    ("update", "fields", "and values"): lambda k: k.b.update({"n": k.other.n}, x=k.other.x),
    ("update", "nothing"): lambda k: k.b.update(None),
    ("update_", "non_blocking"): lambda k: k.b.update_({"x": k.other.x}, non_blocking=True),
    ("update_", "fields"): lambda k: k.b.update_(x=k.other.x),
    ("replace", "values"): lambda k: k.b.replace({"x": k.other.x}),
    ("replace", "object"): lambda k: k.b.replace(k.other),
    ("replace", "changes"): lambda k: k.b.replace({"x": k.other.x}, x=k.other.x * 2),
    ("zero_grad", "set_to_none"): lambda k: _zeroed(k, True),
    ("zero_grad", "set_to_none", "off"): lambda k: _zeroed(k, False),
}
"""For each method and keyword, one or several calls."""


def _keys_given(k: Kit) -> list[object]:
    keys: list[object] = []

    def kept(key: object, tensor: Tensor) -> Tensor:
        keys.append(key)
        return tensor

    k.b.named_apply(kept, nested_keys=True)
    return keys


def _named(k: Kit) -> list[str | None]:
    """tensordict's TensorClass has not the keyword that its TensorDict has."""
    made = k.inner if k.inner is OurInner else pytest.importorskip("tensordict").TensorDict
    return list(made.from_dict({"w": torch.ones(4)}, batch_size=[4], names=["row"]).names)


def _in_rows(k: Kit, **options: Any) -> Any:
    """tensordict's TensorClass has not the keyword that its TensorDict has."""
    found = understood(k.b).to_dict(tolist_first=True, **options)
    return {name: shown(found[name]) for name in ("x", "n", "inner")}


def _deep(k: Kit) -> Any:
    b = k.cls(x=k.b.x, n=k.b.n, inner=k.inner(torch.ones(4, 3, 2), batch_size=[4, 3]), batch_size=[])
    return b


def _zeroed(k: Kit, set_to_none: bool) -> Any:
    leaf = k.leaf()
    leaf.w.sum().backward()
    leaf.zero_grad(set_to_none=set_to_none)
    return None if leaf.w.grad is None else leaf.w.grad.tolist()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", CASES, ids=" ".join)
def test_a_keyword_means_the_same(case: tuple[str, ...]) -> None:
    mine, peer = kit(Ours, OurInner), kit(Theirs, TheirInner)
    assert shown(CASES[case](mine)) == shown(CASES[case](peer))


ELSEWHERE = frozenset(
    """
    all_gather broadcast recv send dumps load load_ load_memmap load_memmap_ memmap memmap_ memmap_like save
    load_state_dict state_dict from_tensordict to_tensordict record_stream cuda get
    """.split()
)
"""Methods whose keywords are tested with the files, processes and conversions that they are for, or need a GPU."""


def test_every_keyword_that_is_taken_has_a_case() -> None:
    """Operations are compared with tensordict by the model, in `operations/test_model.py`."""
    taken = {
        (name, one.name)
        for name in METHODS
        if name not in ELSEWHERE and (name not in methods() or name == "clone")
        for one in parameters(getattr(TensorClass, name))
        if any(
            one.name == theirs.name and theirs.kind is not theirs.VAR_KEYWORD
            for found in of_peer(name)
            for theirs in found
        )
        and one.default is not one.empty
    }
    assert taken - {case[:2] for case in CASES} == set()
