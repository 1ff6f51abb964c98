"""What the tensordict side gives to objects: fields of its classes, items and keys that are written from TensorDicts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
import torch.utils._pytree as pytree
from torch import Tensor

from qten_gen import TensorClass

tensordict = pytest.importorskip("tensordict", reason="a field holds a TensorDict where tensordict is installed")
from tensordict import TensorDict, TensorDictBase, tensorclass  # noqa: E402


@tensorclass
class Made:
    """A class that tensordict makes."""

    a: Tensor
    name: str = "made"


class Inner(TensorClass):
    a: Tensor
    b: Tensor


class Nested(TensorClass):
    x: Tensor
    inner: Inner


class Held(TensorClass):
    x: Tensor
    inner: TensorDict
    other: TensorDict | None = None


class Kept(TensorClass):
    td: TensorDictBase
    made: Made | None = None


def entries(size: tuple[int, ...]) -> dict[str, Any]:
    return {"a": torch.arange(float(torch.Size(size).numel())).reshape(size), "b": torch.ones(*size, 2)}


class Around(tensordict.TensorClass):  # type: ignore[misc, name-defined] # imported where it is installed
    """A class that tensordict makes, with a field of another one."""

    inside: Made
    b: Tensor


class Deeper(TensorClass):
    around: Around


def around(size: tuple[int, ...] = (2,)) -> Around:
    construct: Any = Made  # the decorator hides the parameters that it adds
    made: Around = Around(
        inside=construct(torch.ones(size), "x", batch_size=size), b=torch.zeros(size), batch_size=size
    )
    return made


@pytest.mark.parametrize("saved", ["memmap", "safetensors", "dict"])
def test_a_class_of_tensordict_in_another_one_keeps_its_class(saved: str, tmp_path: Path) -> None:
    obj = Deeper(around(), batch_size=2)
    if saved == "memmap":
        obj.memmap(tmp_path)
        loaded = Deeper.load_memmap(tmp_path)
    elif saved == "safetensors":
        obj.save_safetensors(tmp_path / "x.safetensors")
        loaded = Deeper.load_safetensors(tmp_path / "x.safetensors")
    else:
        loaded = Deeper.from_dict(obj.to_dict(), batch_size=2)
    assert type(loaded.around.inside) is Made
    assert (loaded.around.inside.name, loaded.around.inside.a.tolist()) == ("x", [1.0, 1.0])


def test_a_tensordict_becomes_an_object_of_the_class_that_a_field_wants() -> None:
    given: Any = around().to_tensordict()
    obj = Deeper(given, batch_size=2)
    assert (type(obj.around), type(obj.around.inside)) == (Around, Made)
    from_views: Any = Deeper.from_tensordict(TensorDict(around=given, batch_size=[2]))
    assert type(from_views.around.inside) is Made
    wrong: Any = TensorDict(a=torch.ones(2), batch_size=[2])
    with pytest.raises(TypeError, match=r"Deeper\.around: expected a Around, got a TensorDict with the keys \['a'\]"):
        obj.around = wrong


def test_items_are_written_from_a_tensordict_as_from_an_object() -> None:
    value = Held(torch.zeros(2), TensorDict(entries((2,)), batch_size=[2]), batch_size=2)
    expected, obj = Held.stack([value, value]), Held.stack([value, value])
    new = Held(torch.full((2,), 5.0), TensorDict(entries((2,)), batch_size=[2]) + 3, batch_size=2)
    expected[0] = new
    as_td: Any = new.to_tensordict(retain_none=False)
    obj[0] = as_td
    assert all(map(torch.equal, pytree.tree_leaves(obj), pytree.tree_leaves(expected)))
    partly: Any = TensorDict(x=torch.ones(2), batch_size=[2])
    with pytest.raises(TypeError, match=r"Held\.from_tensordict: missing 'inner'"):
        obj[0] = partly


def test_a_new_key_is_set_in_the_tensordict_of_a_field() -> None:
    obj = Kept(
        TensorDict(a=torch.ones(2), deep=TensorDict(batch_size=[2]), batch_size=[2]), around().inside, batch_size=2
    )
    obj.set(("td", "b"), torch.zeros(2, 3)).update({"td": {"c": torch.ones(2)}})
    obj.set(("td", "deep", "word"), "x")
    assert (sorted(obj.td.keys()), obj[0].td["deep", "word"]) == (["a", "b", "c", "deep"], "x")
    with pytest.raises(KeyError, match="Made has no field 'z'"):
        obj.set(("made", "z"), torch.ones(2))
    with pytest.raises(RuntimeError, match="locked"):
        obj.lock_().set(("td", "z"), torch.ones(2))


def test_a_nested_field_takes_a_tensordict_in_a_dict() -> None:
    given = {"x": torch.ones(2), "inner": TensorDict(entries((2,)), batch_size=[2])}
    assert isinstance(Nested.from_dict(given, batch_size=2).inner, Inner)


def test_a_tensordict_with_types_in_brackets_is_a_tensordict() -> None:
    class Typed(TensorClass):
        walls: TensorDict[str, Made]  # type: ignore[type-arg, unused-ignore] # as libraries write it

    obj = Typed(TensorDict(wall=torch.ones(2), batch_size=[2]), batch_size=2)
    assert obj[0].walls["wall"] == 1
