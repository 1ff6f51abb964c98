"""Labelled tensors as values, and what users of tensors and dicts write: a LabelledTensor and a FrozenDict do it."""

from __future__ import annotations

import copy
import io
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.utils import _pytree

from qten_gen import Device, FrozenDict, LabelledTensor, Module

DIMS = ("row", "column")


def labelled() -> Any:
    return LabelledTensor(torch.arange(6.0).reshape(2, 3), DIMS)


def test_it_shows_its_data_and_labels() -> None:
    data = torch.zeros(2, 3, dtype=torch.float64)
    tensor = LabelledTensor(data=data, dims=DIMS)
    assert tensor.data is data
    assert (tensor.dims, tensor.shape, tensor.ndim, tensor.dtype) == (DIMS, (2, 3), 2, torch.float64)
    assert tensor.device == Device("cpu")
    assert repr(LabelledTensor(torch.ones(1), ["k"])) == "LabelledTensor(tensor([1.]), dims=('k',))"


def test_it_is_frozen() -> None:
    tensor = labelled()
    with pytest.raises(AttributeError, match="property 'data' of 'LabelledTensor' object has no setter"):
        setattr(tensor, "data", torch.ones(2, 3))  # noqa: B010
    with pytest.raises(AttributeError, match="property 'dims' of 'LabelledTensor' object has no deleter"):
        delattr(tensor, "dims")


@pytest.mark.parametrize(
    ("data", "dims", "error"),
    [
        (torch.ones(2, 3), ("row",), r"shape \(2, 3\) takes 2 labels, got \('row',\)"),
        (torch.ones(2), "r", "dims is a tuple of labels, got the string 'r'"),
        (torch.ones(2), ([],), "unhashable"),
        ([1.0], ("row",), "made of a tensor, got list"),
    ],
)
def test_what_does_not_fit_is_refused(data: Any, dims: Any, error: str) -> None:
    with pytest.raises((TypeError, ValueError), match=error):
        LabelledTensor(data, dims)


@pytest.mark.parametrize(
    "function",
    [
        lambda t: t + 1,
        lambda t: 1 - t,
        lambda t: t * t,
        lambda t: torch.ones(3) / (t + 1),
        lambda t: -t,
        lambda t: abs(t),
        lambda t: 2**t,
        lambda t: t == 1,
        lambda t: t < 3,
        torch.relu,
        torch.sin,
        torch.nn.functional.gelu,
        torch.zeros_like,
        lambda t: torch.softmax(t, 0),
        lambda t: torch.where(t > 1, t, 0.0),
        lambda t: torch.clamp(t, min=torch.ones(3)),
        lambda t: torch.add(input=torch.ones(2, 3), other=t),
    ],
)
def test_what_leaves_each_dimension_in_its_place_keeps_labels(function: Callable[[Any], Any]) -> None:
    made = function(labelled())
    assert isinstance(made, LabelledTensor)
    assert made.dims == DIMS
    assert torch.equal(made.data, function(labelled().data))


@pytest.mark.parametrize(
    "function",
    [
        torch.sum,
        lambda t: torch.sum(t, 0),
        lambda t: torch.matmul(t, torch.ones(3, 2)),
        lambda t: torch.nn.functional.linear(torch.ones(3), t),
        lambda t: torch.transpose(t, 0, 1),
        lambda t: torch.stack([t, t]),
        lambda t: torch.einsum("ij,ij->i", t, t),
    ],
)
def test_every_other_function_of_torch_gives_plain_tensors(function: Callable[[Any], Any]) -> None:
    made = function(labelled())
    assert type(made) is Tensor
    assert torch.equal(made, function(labelled().data))


def test_labels_that_differ_are_an_error() -> None:
    with pytest.raises(ValueError, match=r"add: the labels \('row', 'column'\) and \('row', 'feature'\) differ"):
        labelled() + LabelledTensor(torch.ones(2, 3), ("row", "feature"))


def test_a_plain_tensor_must_not_add_dimensions() -> None:
    with pytest.raises(ValueError, match="mul: a plain tensor adds dimensions without label"):
        labelled() * torch.ones(4, 2, 3)


def test_other_operands_are_left_to_python() -> None:
    with pytest.raises(TypeError, match="unsupported operand"):
        labelled() + "1"


def test_a_comparison_is_element_by_element_and_has_no_truth_of_its_own() -> None:
    with pytest.raises(RuntimeError, match="ambiguous"):
        bool(labelled() == labelled())
    assert LabelledTensor(torch.tensor(1), ()) == 1
    assert len({labelled(), labelled()}) == 2


def test_attach_gives_a_leaf_of_its_own_and_detach_the_same_data() -> None:
    plain = labelled()
    attached = plain.attach()
    assert attached.requires_grad and attached.data.is_leaf and attached.dims == DIMS
    assert not plain.requires_grad
    assert attached.attach() is attached
    assert attached.detach().data.data_ptr() == attached.data.data_ptr()
    assert not attached.detach().requires_grad


def test_it_moves_to_a_device() -> None:
    moved = labelled().to_device(Device("meta"))
    assert (moved.device, moved.dims, moved.data.is_meta) == (Device("meta"), DIMS, True)
    assert torch.equal(labelled().cpu().data, labelled().data)


def test_it_is_a_pytree_of_one_leaf() -> None:
    tensor = labelled()
    leaves, structure = _pytree.tree_flatten({"a": tensor})
    assert leaves == [tensor.data]
    assert _pytree.tree_unflatten([1], structure)["a"].data == 1
    doubled = _pytree.tree_map(lambda leaf: leaf * 2, tensor)
    assert isinstance(doubled, LabelledTensor) and doubled.dims == DIMS
    (path, _), *_ = _pytree.tree_flatten_with_path(tensor)[0]
    assert _pytree.keystr(path) == ".data"


def test_vmap_grad_and_compile_take_it() -> None:
    tensor = labelled()
    assert torch.equal(torch.vmap(lambda t: t * 2)(tensor).data, tensor.data * 2)
    assert torch.equal(torch.func.grad(lambda t: torch.sum(t * t))(tensor).data, tensor.data * 2)

    def step(t: Any) -> tuple[Any, Any]:  # torch's signatures name tensors
        return torch.relu(t + t) * 2, torch.sum(t)

    made, total = torch.compile(step, fullgraph=True, backend="eager")(tensor)
    assert made.dims == DIMS and torch.equal(made.data, tensor.data * 4) and total == 15


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda t: pickle.loads(pickle.dumps(t))])
def test_a_copy_has_the_same_data_and_labels(copied: Callable[[LabelledTensor], LabelledTensor]) -> None:
    made = copied(labelled())
    assert made.dims == DIMS
    assert torch.equal(made.data, labelled().data)


def test_a_safe_load_reads_it() -> None:
    file = io.BytesIO()
    torch.save(FrozenDict({"a": labelled()}), file)
    file.seek(0)
    loaded = torch.load(file)
    assert isinstance(loaded, FrozenDict)
    assert torch.equal(loaded["a"].data, labelled().data)


def test_a_frozen_dict_cannot_change() -> None:
    frozen = FrozenDict({"a": 1})
    with pytest.raises(TypeError):
        frozen["a"] = 2  # type: ignore[index] # the mistake under test
    assert frozen == {"a": 1}
    assert frozen | {"b": 2} == {"a": 1, "b": 2}
    assert hash(frozen) == hash(FrozenDict({"a": 1}))
    assert repr(frozen) == "FrozenDict({'a': 1})"
    assert _pytree.tree_map(lambda leaf: leaf + 1, frozen) == FrozenDict({"a": 2})


SAME: list[Callable[[Any], object]] = [
    lambda t: t[0, 0].item(),
    lambda t: t.tolist(),
    lambda t: (t.size(), t.size(1), t.size(-1), t.shape, t.ndim, t.dtype),
    lambda t: (t.is_leaf, t.requires_grad, t.grad),
    lambda t: t[1].tolist(),
    lambda t: t[:, [0, 2]].tolist(),
    lambda t: t[t > 2].tolist(),
    lambda t: [row.tolist() for row in t],
    lambda t: (3.0 in t, 9.0 in t, len(t)),
    lambda t: (t @ torch.ones(3, 2)).tolist(),
    lambda t: (torch.ones(2) @ t).tolist(),
    lambda t: (t @ t.clone()[0]).tolist(),
    lambda t: np.asarray(t).tolist(),
    lambda t: np.asarray(t, dtype=np.int64).tolist(),
    lambda t: t.to(torch.int64).tolist(),
    lambda t: (t.to(torch.int64) << 1).tolist(),
    lambda t: t.allclose(t + 1e-9),
    lambda t: t.equal(t.clone()),
    lambda t: "zz" in f"{t}",
    lambda t: t.item(),
    lambda t: t[5],
    lambda t: float(t),
    lambda t: t.backward(),
]


def answer(function: Callable[[Any], object], given: object) -> str:
    try:
        return str(function(given))
    except Exception as error:  # whatever it is, it is that of a tensor
        return f"{type(error).__name__}: {error}"


@pytest.mark.parametrize("function", SAME)
def test_it_does_what_a_tensor_does(function: Callable[[Any], object]) -> None:
    assert answer(function, labelled()) == answer(function, labelled().data)


@pytest.mark.parametrize("convert", [int, float, complex, bool, lambda t: [1, 2, 3][t], lambda t: f"{t:.2f}"])
def test_one_element_is_a_number(convert: Callable[[Any], object]) -> None:
    data = torch.tensor(2)
    assert convert(LabelledTensor(data, ())) == convert(data)


@pytest.mark.parametrize("number", [2, 2.0, True, np.float64(2), np.float32(2), np.int64(2), np.bool_(True)])
def test_numbers_of_numpy_are_numbers_on_both_sides(number: Any) -> None:
    for made in (labelled() * number, number * labelled(), labelled() + number, number / labelled()):
        assert isinstance(made, LabelledTensor)
    assert (number / labelled()).tolist() == (int(number) / labelled().data).tolist()


def test_arrays_of_numpy_are_not_mixed_in() -> None:
    mixes: list[Callable[[], object]] = [
        lambda: labelled() * np.ones(3),
        lambda: np.ones(3) * labelled(),
        lambda: np.exp(labelled()),
    ]
    for mix in mixes:
        with pytest.raises(TypeError, match="unsupported operand|does not support ufuncs"):
            mix()


def test_what_has_other_labels_is_not_equal() -> None:
    other = LabelledTensor(labelled().data, ("row", "feature"))
    equals: list[Callable[..., bool]] = [LabelledTensor.equal, torch.equal]
    closes: list[Callable[..., bool]] = [LabelledTensor.allclose, torch.allclose]
    for equal in equals:
        assert not equal(labelled(), other)
        assert equal(labelled(), labelled()) and equal(labelled(), labelled().data)
    assert torch.equal(labelled().data, labelled())
    for close in closes:
        assert close(labelled(), labelled()) is True
        with pytest.raises(ValueError, match="allclose: the labels .* and .* differ"):
            close(labelled(), other)


def test_backward_takes_a_labelled_gradient() -> None:
    leaf = labelled().attach()
    (leaf * 2).backward(labelled())
    assert leaf.grad.equal(labelled() * 2)
    leaf.to(torch.float64).backward(labelled().data.double(), retain_graph=True)
    assert leaf.grad.equal(labelled() * 3)
    with pytest.raises(ValueError, match="backward: the labels .* differ"):
        (leaf * 2).backward(LabelledTensor(torch.ones(2, 3), ("row", "feature")))


@pytest.mark.parametrize("moved", [labelled, lambda: Module.__new__(Module)])
def test_a_device_that_is_none_is_refused_with_advice(moved: Callable[[], Any]) -> None:
    with pytest.raises(TypeError, match=r"to_device\(\) takes a Device, got 'cpu'; write Device.new\('cpu'\)"):
        moved().to_device("cpu")
    with pytest.raises(TypeError, match=r"got device\(type='cpu'\); write Device.of\(\) of a torch device"):
        moved().to_device(torch.device("cpu"))


ARGUMENTS: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
    ((), {}),
    ((), {"a": 1}),
    (({"a": 1},), {}),
    (({"a": 1},), {"a": 2, "b": 3}),
    (([("a", 1), ("b", 2)],), {}),
    (({"items": 1},), {"items": 2, "self": 3}),
    ((FrozenDict(a=1),), {"b": 2}),
    ((3,), {}),
    ((["abc"],), {}),
]


@pytest.mark.parametrize(("given", "keywords"), ARGUMENTS)
def test_a_frozen_dict_takes_what_a_dict_takes(given: tuple[Any, ...], keywords: dict[str, Any]) -> None:
    def made(cls: Any) -> str:
        return answer(lambda _: dict(cls(*given, **keywords)), None)

    assert made(FrozenDict) == made(dict)


READS: list[Callable[[Any], object]] = [
    lambda d: (d["a"], d.get("c"), d.get("c", 5), "a" in d, "c" in d, len(d)),
    lambda d: (list(d), list(reversed(d)), list(d.keys()), list(d.values()), list(d.items())),
    lambda d: dict(d | {"c": 3}),
    lambda d: dict({"c": 3, "a": 0} | d),
    lambda d: {**d},
    lambda d: d == {"b": 2, "a": 1},
    lambda d: d != {"b": 2},
    lambda d: d["c"],
    lambda d: d | 3 if type(d) is dict else dict(d) | 3,  # type: ignore[operator] # the mistake under test
    lambda d: [] in d,
    lambda d: _pytree.tree_map(lambda leaf: leaf + 1, d) == {"a": 2, "b": 3},
]


@pytest.mark.parametrize("read", READS)
def test_a_frozen_dict_is_read_as_a_dict(read: Callable[[Any], object]) -> None:
    assert answer(read, FrozenDict(a=1, b=2)) == answer(read, {"a": 1, "b": 2})
