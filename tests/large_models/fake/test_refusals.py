"""What a fake tensor cannot do: the error says what was asked for, why not, and what to do."""

from __future__ import annotations

import copy
import io
import pickle
from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.utils.dlpack import from_dlpack

from qten_gen import fake_mode, is_fake

READING = "needs the values of a fake tensor, and a fake tensor has none; do not branch on values"
SHAPE = "depends on the values of a fake tensor"
MEMORY = "needs the memory of a fake tensor, and a fake tensor has none"

REFUSED: dict[str, tuple[Callable[[Tensor], object], str]] = {
    "item": (lambda x: x.sum().item(), READING),
    "bool": (lambda x: bool(x.sum()), READING),
    "format": (lambda x: f"{x.sum():.3f}", READING),
    "index": (lambda x: range(x.int()[0]), READING),
    "tolist": (lambda x: x.tolist(), READING),
    "equal": (lambda x: torch.equal(x, x), READING),
    "nonzero": (lambda x: x.nonzero(), SHAPE),
    "mask": (lambda x: x[x > 1], SHAPE),
    "unique": (lambda x: torch.unique_consecutive(x), SHAPE),
    "numpy": (lambda x: x.numpy(), MEMORY),
    "numpy-force": (lambda x: x.numpy(force=True), MEMORY),
    "asarray": (lambda x: np.asarray(x), MEMORY),
    "from-dlpack": (lambda x: np.from_dlpack(x), MEMORY),
    "dlpack": (lambda x: from_dlpack(x), MEMORY),
    "data-ptr": (lambda x: x.data_ptr(), MEMORY),
    "address": (lambda x: x.untyped_storage().data_ptr(), "Cannot access data pointer"),
    "pin-memory": (lambda x: x.pin_memory(), MEMORY),
    "share-memory": (Tensor.share_memory_, MEMORY),
    "pickle": (lambda x: pickle.dumps(x), f"pickling or saving {MEMORY}"),
    "save-module": (lambda x: torch.save(nn.Linear(2, 2), io.BytesIO()), f"pickling or saving {MEMORY}"),
}


@pytest.mark.parametrize(("ask", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_what_needs_data_is_refused_where_it_is_asked_for(ask: Callable[[Tensor], object], message: str) -> None:
    with fake_mode():
        fake = torch.ones(3)
        with pytest.raises(RuntimeError, match=message):
            ask(fake)
    for after in (lambda: fake.sum().item(), fake.nonzero, fake.numpy, lambda: pickle.dumps(fake)):
        with pytest.raises(RuntimeError, match="a fake tensor has none"):
            after()
    with pytest.raises(RuntimeError, match="Cannot access data pointer"):
        torch._C._to_dlpack(fake)


def test_an_operation_without_a_rule_is_tried_on_small_tensors_only() -> None:
    """torch computes such operations on zeros; that is refused for tensors that may not fit into memory."""
    torch.library.define("qten_tests::no_rule", "(Tensor x) -> Tensor")
    torch.library.impl("qten_tests::no_rule", "CPU", lambda x: x.clone())
    with fake_mode(fake_cuda=True):
        hist, edges = torch.histogram(torch.ones(5), bins=4)
        assert (hist.shape, edges.shape) == ((4,), (5,)) and is_fake(hist)
        for tensor in (torch.ones(10**9), torch.ones(5, device="cuda")):
            with pytest.raises(RuntimeError, match=r"aten\.histogram has no rule .* on the CPU of at most 64 MiB"):
                torch.histogram(tensor, bins=4)
        with pytest.raises(RuntimeError, match=r"qten_tests\.no_rule has no rule .* torch\.library\.register_fake"):
            torch.ops.qten_tests.no_rule(torch.ones(3))


def test_copies_are_not_refused() -> None:
    with fake_mode():
        weight = nn.Parameter(torch.ones(4, 3).t())
        weight.tag = "mine"  # type: ignore[attr-defined] # an attribute of the user
        for made in (copy.copy(weight), copy.deepcopy(weight)):
            assert isinstance(made, nn.Parameter) and is_fake(made) and made is not weight
            assert (made.shape, made.stride(), made.requires_grad) == ((3, 4), (1, 3), True)
        assert vars(copy.copy(weight))["tag"] == "mine"


def test_batch_norm_does_not_lose_the_statistics_of_fake_inputs_that_a_real_layer_would_keep() -> None:
    layer = nn.BatchNorm1d(2)
    with fake_mode():
        with pytest.raises(RuntimeError, match="into the real tensor given as 'running_mean'"):
            layer(torch.randn(4, 2))
        assert is_fake(layer.eval()(torch.randn(4, 2)))
