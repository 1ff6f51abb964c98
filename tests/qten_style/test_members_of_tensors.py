"""What users of tensors and dicts write: a LabelledTensor and a FrozenDict do it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.utils import _pytree

from qten_gen import FrozenDict, LabelledTensor, Module

DIMS = ("row", "column")


def labelled(data: Tensor | None = None) -> Any:
    return LabelledTensor(torch.arange(6.0).reshape(2, 3) if data is None else data, DIMS)


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
