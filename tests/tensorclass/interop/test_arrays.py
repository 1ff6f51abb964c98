"""To and from NumPy arrays and plain Python values."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from qten_gen import PerItem, TensorClass
from tests.tensorclass.declared import Batch, Flat, assert_applied, batch, flat


class Held(TensorClass):
    """A tensor and an array that is no tensor."""

    x: Tensor
    table: np.ndarray[Any, Any]


def test_numpy_makes_arrays_that_share_memory() -> None:
    value = batch(4, full=False)
    made: Any = value.numpy()
    assert list(made) == ["tokens", "point", "mask", "other", "source", "tags"]
    assert (made["mask"], made["source"]) == (None, "test")
    assert made["point"]["position"].shape == (4, 2)
    made["tokens"][0] = 7
    assert value.tokens[0].tolist() == [7, 7, 7]


def test_numpy_refuses_a_tensor_with_a_gradient_unless_forced() -> None:
    value = flat(4).requires_grad_()
    with pytest.raises(TypeError, match=r"Flat\.x: Can't call numpy\(\) on Tensor that requires grad"):
        value.numpy()
    made: Any = value.numpy(force=True)
    assert np.array_equal(made["y"], value.y.detach())


def test_numpy_names_the_field_of_a_dtype_that_it_does_not_know() -> None:
    with pytest.raises(TypeError, match=r"Flat\.x: .*BFloat16"):
        flat(4).bfloat16().numpy()


def test_from_numpy_is_the_way_back() -> None:
    value = batch(4)
    back = Batch.from_numpy(value.numpy(), batch_size=4)
    assert_applied(back, value, lambda tensor: tensor)
    back.tokens[0] = 7
    assert value.tokens[0].tolist() == [7, 7, 7]


class Heads(TensorClass):
    """Several tensors in one field."""

    logits: dict[str, Tensor]
    layers: list[Tensor]


def test_dicts_and_lists_of_tensors_are_dicts_and_lists_of_arrays() -> None:
    value = Heads({"kind": torch.rand(4, 3)}, [torch.rand(4), torch.rand(4)], batch_size=4)
    made: Any = value.numpy()
    assert np.array_equal(made["logits"]["kind"], value.logits["kind"])
    back = Heads.from_numpy(made, batch_size=4)
    assert torch.equal(back.layers[1], value.layers[1])
    row: Any = value[0].tolist()
    assert row["layers"] == [layer[0].item() for layer in value.layers]
    assert row["logits"] == {"kind": value.logits["kind"][0].tolist()}


def test_values_of_items_stay_what_they_are_and_are_plain_in_lists() -> None:
    class Photos(TensorClass):
        pixels: Tensor
        titles: PerItem[str]

    value = Photos(torch.zeros(2), ["oak", "fern"], batch_size=2)
    made: Any = value.numpy()
    assert made["titles"] is value.titles
    assert Photos.from_numpy(made, batch_size=2).titles == value.titles
    assert value.tolist() == [{"pixels": 0.0, "titles": "oak"}, {"pixels": 0.0, "titles": "fern"}]


def test_from_numpy_leaves_arrays_in_static_fields_alone() -> None:
    table = np.ones(3)
    made = Held.from_numpy({"x": np.zeros((2, 3)), "table": table}, batch_size=2)
    assert made.table is table
    assert made.x.dtype == torch.float64


def test_from_numpy_copies_where_torch_cannot_use_the_memory() -> None:
    array = np.arange(6.0).reshape(3, 2)
    array.setflags(write=False)
    made = Flat.from_numpy({"x": array, "y": np.arange(3)[::-1]}, batch_size=3)
    made.x[0] = 7
    assert (array[0].tolist(), made.y.tolist()) == ([0.0, 1.0], [2, 1, 0])


def test_from_numpy_says_what_it_takes() -> None:
    given: Any = 3
    with pytest.raises(TypeError, match="expected a mapping of arrays, got int 3; of a structured array, "):
        Flat.from_numpy(given)


def test_from_numpy_refuses_what_torch_does_not_know() -> None:
    with pytest.raises(TypeError, match=r"Flat\.x: can't convert np\.ndarray of type numpy\.str_"):
        Flat.from_numpy({"x": np.array(["a"]), "y": np.zeros(1)})
    with pytest.raises(TypeError, match=r"no field 'z'"):
        Flat.from_numpy({"z": np.zeros(1)})


def test_tolist_makes_a_dict_for_each_item() -> None:
    value = Flat(torch.tensor([[1, 2], [3, 4]]), torch.tensor([True, False]), batch_size=2)
    assert value.tolist() == [{"x": [1, 2], "y": True}, {"x": [3, 4], "y": False}]
    assert value[0].tolist() == {"x": [1, 2], "y": True}


def test_tolist_is_what_json_holds() -> None:
    value = batch(2, 3, full=False)
    rows: Any = value.tolist()
    assert json.loads(json.dumps(rows)) == rows
    assert [len(part) for part in rows] == [3, 3]
    assert rows[1][2]["point"]["weight"] == value.point.weight[1, 2].item()
    assert (rows[0][0]["mask"], rows[0][0]["source"]) == (None, "test")


def test_tolist_keeps_the_further_batch_dimensions_of_nested_objects() -> None:
    row: Any = batch(4)[0].tolist()
    assert [set(inner) for inner in row["other"]] == [{"position", "weight"}] * 2


@pytest.mark.parametrize(
    "made", [np.asarray, lambda value: np.array([value, value]), lambda value: np.asarray(value, "f4")]
)
def test_a_batch_is_not_one_array(made: Callable[[object], object]) -> None:
    with pytest.raises(TypeError, match=r"^a Flat is not one array; use \.numpy\(\)"):
        made(flat(3))
