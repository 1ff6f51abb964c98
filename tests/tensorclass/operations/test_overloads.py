"""Every form in which a function of torch can be called does with an object what it does with each of its tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn import functional

from .declared import SIZE, Batch, example, tensors

fn: Any = torch  # objects in place of tensors, and keyword arguments under NumPy's names

CALLS: dict[str, Callable[[Any], Any]] = {
    "sum": lambda a: fn.sum(a),
    "sum dim": lambda a: fn.sum(a, 0),
    "sum dims": lambda a: fn.sum(a, (0, 1), True),
    "sum axis": lambda a: fn.sum(a, axis=1, keepdims=True),
    "sum dtype": lambda a: fn.sum(a, [1], dtype=torch.float64),
    "sum input": lambda a: fn.sum(input=a, dim=-0),
    "mean": lambda a: fn.mean(a, 0, True),
    "prod": lambda a: fn.prod(a, 0, True, dtype=torch.float64),
    "std keyword": lambda a: fn.std(a, unbiased=False),
    "std dim": lambda a: fn.std(a, 0),
    "var dims": lambda a: fn.var(a, (0, 1), unbiased=False),
    "std correction": lambda a: fn.std(a, (0, 1), correction=0, keepdim=True),
    "std axis": lambda a: fn.std(a, axis=1, unbiased=False),
    "norm": lambda a: fn.norm(a),
    "norm order": lambda a: fn.norm(a, 1, 0),
    "norm name": lambda a: fn.norm(a, p="fro", dim=1, keepdim=True),
    "norm dtype": lambda a: fn.norm(a, dtype=torch.float64),
    "amax": lambda a: fn.amax(a, 0, True),
    "logsumexp": lambda a: fn.logsumexp(a, (0, 1)),
    "special logsumexp": lambda a: fn.special.logsumexp(a, 0),
    "max": lambda a: fn.max(a, 0, True)[0],
    "min axis": lambda a: fn.min(a, axis=1)[1],
    "cumsum": lambda a: fn.cumsum(a, axis=0, dtype=torch.float64),
    "softmax dtype": lambda a: fn.softmax(a, 0, torch.float64),
    "log_softmax dtype": lambda a: fn.log_softmax(a, 1, torch.float64),
    "functional softmax": lambda a: functional.softmax(a, 1, 3, torch.float64),
    "functional softmin": lambda a: functional.softmin(a, dim=0),
    "squeeze": lambda a: fn.squeeze(a[:1], (0, 1)),
    "squeeze several": lambda a: fn.squeeze(a[:1, :, None], (0, 2)),
    "unsqueeze": lambda a: fn.unsqueeze(a, dim=1),
    "flip": lambda a: fn.flip(a, [0, 1]),
    "round": lambda a: fn.round(a, decimals=1),
    "clamp": lambda a: fn.clip(a, max=0.5),
    "add": lambda a: fn.add(a, 2, alpha=3),
    "method add": lambda a: torch.ones(()).add(a, alpha=2),
    "div": lambda a: torch.ones(()).div(a, rounding_mode="floor"),
    "zeros_like": lambda a: fn.zeros_like(a),
    "ones_like dtype": lambda a: fn.ones_like(a, dtype=torch.float64),
    "full_like": lambda a: fn.full_like(a, 3),
    "allclose": lambda a: torch.tensor(fn.allclose(a, a + 1e-9)),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_form_does_with_an_object_what_it_does_with_each_tensor(name: str) -> None:
    call, value = CALLS[name], example()
    got = call(value)
    for path, tensor in tensors(value).items():
        found = got if isinstance(got, Tensor) else tensors(got)[path]
        torch.testing.assert_close(found, call(tensor))


ONE = np.int64(1)

METHODS: dict[str, Callable[[Any, Any], Any]] = {
    "all": lambda a, one: a.all((one, 0)),
    "unsqueeze": lambda a, one: a.unsqueeze(one),
    "squeeze": lambda a, one: a[:, :1].squeeze(one),
    "permute": lambda a, one: a.permute(one, 0),
    "transpose": lambda a, one: a.transpose(0, one),
    "movedim": lambda a, one: a.movedim(one, 0),
    "flatten": lambda a, one: a.flatten(0, one),
    "unflatten": lambda a, one: a.unflatten(one, (3, one)),
    "flip": lambda a, one: a.flip(one),
    "roll": lambda a, one: a.roll(one, one),
    "repeat": lambda a, one: a.repeat(2, one),
    "repeat_interleave": lambda a, one: a.repeat_interleave(one + 1, one),
    "reshape": lambda a, one: a.reshape(one, 6),
    "split": lambda a, one: a.split(one, one)[1],
    "chunk": lambda a, one: a.chunk(one + 1, one)[1],
    "pad": lambda a, one: a.pad((one, 0)),
    "new_zeros": lambda a, one: a.new_zeros(one, one),
    "stack": lambda a, one: Batch.stack([a, a], one),
    "cat": lambda a, one: Batch.cat([a, a], one),
    "unbind": lambda a, one: a.unbind(one)[1],
}


@pytest.mark.parametrize("name", METHODS)
def test_integers_of_numpy_are_sizes_and_dimensions(name: str) -> None:
    got, wanted = METHODS[name](example(), ONE), METHODS[name](example(), 1)
    assert got.batch_size == wanted.batch_size
    assert all(type(size) is int for size in got.batch_size)
    assert torch.equal(got.inner.q, wanted.inner.q)


@pytest.mark.parametrize("call", [lambda a: a.all(True), lambda a: a.unbind(False)])
def test_a_bool_is_not_a_dimension(call: Callable[[Batch], object]) -> None:
    with pytest.raises(TypeError, match=r"expected an integer or the name of a batch dimension, got (True|False)"):
        call(example())


def test_objects_are_equal_where_all_that_they_hold_is() -> None:
    value = example()
    assert fn.equal(value, value.clone())
    assert not fn.equal(value, value.replace(name="other"))
    assert not fn.equal(value, value.replace(none=torch.ones(SIZE)))
    assert not fn.equal(value, value.flatten())
    assert not fn.equal(value, value.inner)
    assert not fn.equal(value, value + 1)
    with pytest.raises(TypeError, match=r"equal: expected two objects, got a Tensor"):
        fn.equal(value, torch.ones(SIZE))


@pytest.mark.parametrize("name", ["zeros_like", "ones_like", "empty_like", "rand_like", "randn_like"])
def test_new_objects_may_be_elsewhere_and_of_another_dtype(name: str) -> None:
    made = getattr(torch, name)(example(), dtype=torch.float64, device="meta")
    assert (made.x.shape, made.x.dtype, made.device) == ((*SIZE, 4), torch.float64, torch.device("meta"))


def test_random_numbers_are_drawn_for_one_tensor_after_the_other() -> None:
    value = example()
    for function in (fn.bernoulli, fn.poisson, fn.rand_like, fn.randn_like, fn.nn.functional.dropout):
        torch.manual_seed(3)
        got = function(value)
        torch.manual_seed(3)
        for path, tensor in tensors(value).items():
            assert torch.equal(tensors(got)[path], function(tensor))
