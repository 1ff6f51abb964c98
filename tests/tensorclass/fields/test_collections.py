"""Fields that hold a TensorDict: they are nested objects to every operation."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import torch
import torch.utils._pytree as pytree
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from qten_gen import TensorClass, lifted

tensordict = pytest.importorskip("tensordict", reason="a field holds a TensorDict where tensordict is installed")
from tensordict import (  # noqa: E402
    LazyStackedTensorDict,
    MemoryMappedTensor,
    NonTensorData,
    TensorDict,
    TensorDictBase,
    UnbatchedTensor,
    tensorclass,
)


@tensorclass
class Made:
    """A class that tensordict makes."""

    a: Tensor
    name: str = "made"


class Deep(TensorClass):
    c: Tensor


class Inner(TensorClass):
    a: Tensor
    b: Tensor
    deep: Deep


class Nested(TensorClass):
    x: Tensor
    inner: Inner
    other: Inner | None = None


class Held(TensorClass):
    """The same as `Nested`, with TensorDicts."""

    x: Tensor
    inner: TensorDict
    other: TensorDict | None = None


class Kept(TensorClass):
    td: TensorDictBase
    made: Made | None = None


class Frozen(TensorClass, frozen=True):
    td: TensorDict


def entries(size: tuple[int, ...]) -> dict[str, Any]:
    count = torch.Size(size).numel()
    numbers = torch.arange(float(count)) + 1
    return {"a": numbers.reshape(size), "b": torch.ones(*size, 2), "deep": {"c": torch.full(size, 2.0)}}


def nested(size: tuple[int, ...], tail: tuple[int, ...], *, both: bool) -> Nested:
    def inner(size: tuple[int, ...]) -> Inner:
        found = entries(size)
        return Inner(found["a"], found["b"], Deep(found["deep"]["c"], batch_size=size), batch_size=size)

    return Nested(torch.ones(size), inner((*size, *tail)), inner(size) if both else None, batch_size=size)


def held(size: tuple[int, ...], tail: tuple[int, ...], *, both: bool) -> Held:
    def inner(size: tuple[int, ...]) -> TensorDict:
        return TensorDict(entries(size), batch_size=size)

    return Held(torch.ones(size), inner((*size, *tail)), inner(size) if both else None, batch_size=size)


def plain(value: Any) -> object:
    """A result without the classes that differ between the two."""
    if isinstance(value, (TensorClass, TensorDictBase)):
        keys = value.keys()
        inside = {str(key): plain(value.get(key)) for key in keys}
        return tuple(value.batch_size), value.device, tuple(value.names), value.is_locked, inside
    if isinstance(value, Tensor):
        return value.dtype, tuple(value.shape), value.requires_grad, "" if value.is_meta else str(value.tolist())
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value if isinstance(value, (int, float, str, bool, torch.dtype, torch.device)) else type(value).__name__


ELSEWHERE = frozenset(
    """
    all_gather broadcast cuda detach_ dumps empty_like from_numpy load load_ load_memmap load_memmap_ load_safetensors
    load_state_dict memmap memmap_ memmap_like new_empty pin_memory record_stream recv save save_safetensors send
    share_memory_ to_tensordict
    """.split()
)
"""Members that need other processes, devices or files, or whose results are not determined."""

MEMBERS = sorted(name for name in dir(TensorClass) if not name.startswith("_") and name not in ELSEWHERE)
OPERATORS = "__add__ __copy__ __eq__ __getitem__ __iadd__ __iter__ __len__ __lt__ __neg__ __setitem__".split()


def arguments(batch: Any) -> list[tuple[Any, ...]]:
    """What a member may be called with: each kind of argument that some member takes."""
    size = tuple(batch.batch_size)
    everything = {"x": torch.zeros(size), "inner": entries((*batch.inner.batch_size,))}
    return [
        (),
        (0,),
        (-1,),
        (2.0,),
        (batch,),
        (batch == batch,),
        ("inner",),
        ("other",),
        (("inner", "a"),),
        ("inner", 0),
        (("inner", "a"), 0),
        (("inner", "a"), 5.0),
        (("inner", "deep", "c"), torch.zeros(size)),
        (torch.neg,),
        (torch.float64,),
        ((1,),),
        ([batch, batch],),
        (0, 1),
        (torch.tensor([0]),),
        (slice(0, 1), batch[:1]),
        ({"inner": {"a": torch.zeros(size)}},),
        (everything,),
        ("x", ("inner", "deep", "c")),
        (size[::-1],),
        ("meta",),
    ]


COUNT = len(arguments(held((2, 3), (), both=False)))


def outcome(batch: Any, name: str, at: int) -> object:
    """What a call gives, or the kind of its error, and what has become of the object."""
    torch.manual_seed(0)
    try:
        found: Any = getattr(batch, name)
        result: Any = found(*arguments(batch)[at]) if callable(found) else found
        result = list(result) if hasattr(result, "__next__") else result
    except Exception as error:  # whatever a member raises, the other class has to raise as well
        return type(error).__name__, plain(batch)
    return plain(result), plain(batch)


@given(st.sampled_from(MEMBERS + OPERATORS), st.integers(0, COUNT - 1), st.sampled_from([(), (3,)]), st.booleans())
@settings(max_examples=150, deadline=None)
def test_every_member_does_with_a_tensordict_what_it_does_with_an_object(
    name: str, at: int, tail: tuple[int, ...], both: bool
) -> None:
    assert outcome(held((2, 3), tail, both=both), name, at) == outcome(nested((2, 3), tail, both=both), name, at)


INDICES = st.sampled_from([0, slice(1, None), [1, 0], (slice(None), 2), None, ..., torch.tensor([True, False]), -1])


@given(INDICES, st.booleans())
@settings(max_examples=20, deadline=None)
def test_indexing_is_that_of_the_tensordict(index: Any, both: bool) -> None:
    batch = held((2, 3), (), both=both)

    assert plain(batch[index].inner) == plain(batch.inner[index])


def test_the_field_gives_the_tensordict_that_was_stored() -> None:
    td = TensorDict(a=torch.ones(2), batch_size=[2])
    batch = Held(torch.ones(2), td, batch_size=2)
    batch.inner["new"] = torch.zeros(2)

    assert batch.inner is td
    assert lifted(torch.stack)([batch, batch]).inner["new"].shape == (2, 2)


def test_keys_in_another_order_are_joined_by_name() -> None:
    one = TensorDict(a=torch.ones(2), b=torch.zeros(2), batch_size=[2])
    two = TensorDict(b=torch.zeros(2), a=torch.ones(2), batch_size=[2])

    assert lifted(torch.cat)([Frozen(one, batch_size=2), Frozen(two, batch_size=2)]).td["a"].tolist() == [1, 1, 1, 1]


def test_other_keys_cannot_be_joined() -> None:
    objects = [Frozen(TensorDict({key: torch.ones(2)}, batch_size=[2]), batch_size=2) for key in "ab"]

    with pytest.raises(ValueError, match=r"expected the keys \['a'\] in every TensorDict, got \['b'\]"):
        lifted(torch.stack)(objects)


def test_python_values_that_differ_become_one_for_each_item() -> None:
    one, two = (Frozen(TensorDict(a=torch.ones(2), tag=tag, batch_size=[2]), batch_size=2) for tag in ("u", "v"))
    both = lifted(torch.cat)([one, two])

    assert [both[at].td["tag"] for at in range(4)] == ["u", "u", "v", "v"]
    assert lifted(torch.cat)([one, one]).td["tag"] == "u"


def test_items_are_written_with_their_python_values() -> None:
    batch, other = (
        Kept(TensorDict(a=torch.full((2,), value), tag=tag, batch_size=[2]), batch_size=2)
        for value, tag in ((1.0, "u"), (2.0, "v"))
    )
    td = batch.td
    batch[0] = other[0]

    assert batch.td is td
    assert (td["a"].tolist(), [td[at]["tag"] for at in range(2)]) == ([2.0, 1.0], ["v", "u"])


def test_an_object_of_a_class_of_tensordict_keeps_its_class() -> None:
    construct: Any = Made  # the decorator hides the parameters that it adds
    batch = Kept(TensorDict(batch_size=[2]), construct(torch.ones(2), batch_size=[2]), batch_size=2)
    one: Any = batch[0].to(torch.float64).made

    assert (type(one), one.a.dtype, one.name, one.batch_size) == (Made, torch.float64, "made", torch.Size([]))
    with pytest.raises(
        TypeError, match=r"Kept.made: expected a Made, got a TensorDict with the keys \[\]: missing 'a', 'name'"
    ):
        batch.made = TensorDict(batch_size=[2])


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (3, "Held.inner: expected a TensorDict, got int 3"),
        ({"a": torch.ones(2)}, "Held.inner: expected a TensorDict, got a dict"),
        (
            Deep(torch.ones(2), batch_size=2),
            r"Held.inner: expected a TensorDict, got a Deep; write value.to_tensordict\(\)",
        ),
        (TensorDict(_fields=torch.ones(2), batch_size=[2]), "cannot have the key '_fields'; rename it"),
        (TensorDict(batch_size=[3]), r"Held.inner: expected a batch size that starts with \[2\], got \[3\]"),
        (
            LazyStackedTensorDict(TensorDict(a=torch.ones(3)), TensorDict(a=torch.ones(4))),
            "the items of the lazy stack differ in shape; pad the tensors to one shape, or keep the items in a LazyStack",
        ),
    ],
)
def test_a_value_that_does_not_fit_is_refused(value: Any, message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        Held(torch.ones(2), value, batch_size=2)


def test_a_lazy_stack_becomes_a_plain_tensordict() -> None:
    lazy = LazyStackedTensorDict(*[TensorDict(a=torch.ones(3), tag="t") for _ in range(2)])
    batch = Held(torch.ones(2), lazy, batch_size=2)

    assert type(batch.inner) is TensorDict
    assert (batch.inner["a"].shape, [*batch.inner["tag"]]) == ((2, 3), ["t", "t"])


def test_a_batch_size_that_is_shorter_is_raised_in_a_copy() -> None:
    td = TensorDict(a=torch.ones(2, 3))
    batch = Held(torch.ones(2), td, batch_size=2)

    assert (batch.inner.batch_size, td.batch_size) == (torch.Size([2]), torch.Size([]))
    assert batch.inner["a"] is td["a"]


def test_a_frozen_object_holds_a_locked_copy() -> None:
    td = TensorDict(a=torch.ones(2), batch_size=[2])
    frozen = Frozen(td, batch_size=2)

    assert (frozen.td.is_locked, td.is_locked, frozen.td["a"] is td["a"]) == (True, False, True)
    with pytest.raises(RuntimeError):
        frozen.td["a"] = torch.zeros(2)


def test_a_lock_covers_the_tensordict_as_long_as_it_lasts() -> None:
    batch = held((2,), (), both=False)
    with batch.lock_(), pytest.raises(RuntimeError):
        batch.inner["a"] = torch.zeros(2)
    batch.inner["a"] = torch.zeros(2)

    assert batch.inner["a"].sum() == 0


def test_a_tensordict_that_two_locked_objects_hold_stays_locked_with_either() -> None:
    td = TensorDict(a=torch.ones(2), batch_size=[2])
    one, two = (Kept(td, batch_size=2).lock_() for _ in range(2))

    with pytest.raises(RuntimeError, match="a locked Kept holds"):
        one.unlock_()
    assert td.is_locked
    del two
    assert not one.unlock_().td.is_locked


def test_a_state_dict_has_the_entries_and_loads_them() -> None:
    batch, other = held((2,), (), both=False), held((2,), (), both=False)
    other.inner["tag"] = "t"
    other.inner["a"].zero_()
    batch.inner["tag"] = "s"
    td = batch.inner
    batch.load_state_dict(other.state_dict())

    assert [*batch.state_dict(flatten=True)] == ["x", "inner.a", "inner.b", "inner.deep.c"]
    assert batch.inner is td
    assert (td["tag"], td["a"].tolist()) == ("t", [0, 0])


def test_a_pytree_has_the_tensors_of_the_tensordict() -> None:
    batch = held((2,), (), both=False)
    doubled = pytree.tree_map(lambda tensor: tensor * 2, batch)

    assert len(pytree.tree_leaves(batch)) == 4
    assert doubled.inner["deep", "c"].tolist() == [4, 4]
    assert torch.vmap(lambda one: one.inner["a"] + one.x)(batch).shape == (2,)


def test_compiled_code_reads_the_tensordict_of_an_object() -> None:
    def total(batch: Held) -> Tensor:
        inner: Tensor = batch.inner["a"]
        return inner.sum() + batch.x.sum()

    batch = held((2,), (), both=False)
    assert torch.equal(torch.compile(total, backend="eager", fullgraph=True)(batch), total(batch))


def test_values_of_tensordict_are_unwrapped_where_they_come_in() -> None:
    data = NonTensorData("kind", batch_size=[2])

    class Tagged(TensorClass):
        kind: str

    tagged = Tagged(data, batch_size=2)  # type: ignore[arg-type] # of tensordict
    assert (tagged.kind, tagged.replace(kind=data).kind) == ("kind", "kind")
    tagged.kind = "other"
    assert tagged.set("kind", data).kind == "kind"
    assert tagged.update({"kind": data}).kind == "kind"


def test_a_tensor_in_a_file_of_tensordict_is_copied_deep() -> None:
    mapped = MemoryMappedTensor.from_tensor(torch.ones(2))
    copied = copy.deepcopy(Deep(mapped, batch_size=2))

    assert (type(copied.c), copied.c.tolist()) == (Tensor, [1, 1])
    assert copied.c.data_ptr() != mapped.data_ptr()


def test_an_unbatched_tensor_in_a_field_of_the_batch_is_indexed_with_it() -> None:
    wrap: Any = UnbatchedTensor
    batch = Deep(wrap(torch.ones(2)), batch_size=2)

    assert batch.to_tensordict()[0]["c"].shape == batch[0].c.shape == ()
    with pytest.raises(ValueError, match=r"expected a shape that starts with \[2\], got \[7\]"):
        Deep(wrap(torch.ones(7)), batch_size=2)


@pytest.mark.parametrize(
    "given", [{"a": torch.ones(4, 3), "b": {"c": torch.ones(4)}}, TensorDict({"a": torch.ones(4)}, [4])]
)
def test_the_batch_size_of_a_dict_is_found_in_what_becomes_a_tensordict(given: Any) -> None:
    class Held(TensorClass):
        rest: TensorDict

    class Holder(TensorClass):
        held: Held

    assert Held.from_dict({"rest": given}, auto_batch_size=True).batch_size == (4,)
    found: Any = Holder.from_dict({"held": {"rest": given}}, auto_batch_size=True)
    assert (found.batch_size, type(found.held.rest)) == ((4,), TensorDict)


def test_keys_lead_into_the_tensordict() -> None:
    batch = held((2,), (), both=False)
    batch.set(("inner", "deep", "c"), torch.zeros(2)).update({"inner": {"a": torch.zeros(2)}})

    assert batch.inner["deep", "c"].sum() + batch.inner["a"].sum() == 0
    assert batch.get(("inner", "deep")) is batch.inner["deep"]
    assert ("inner", "deep", "c") in batch.keys(include_nested=True, leaves_only=True)
    assert isinstance(batch.values()[1], TensorDict)
