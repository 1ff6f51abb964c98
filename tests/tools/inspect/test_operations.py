"""Operations that torch's counter has no formula for count as the products that they stand for."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention
from torch.utils.flop_counter import FlopCounterMode

from qten_gen.tools.inspect.forward_backward import counter, run
from qten_gen.tools.inspect.model_building import build, on_fakes

CPU = torch.device("cpu")


def rand(*shape: int) -> Tensor:
    return torch.rand(*shape, requires_grad=True)


def written_out(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Attention as three operations that torch's counter knows."""
    return (query @ key.transpose(-1, -2)).softmax(-1) @ value


def operations_of(function: Callable[[], Tensor], mode: FlopCounterMode) -> tuple[int, int]:
    """Those of forward, and of backward."""
    with mode:
        result = function()
        forward = mode.get_total_flops()
        torch.autograd.backward(result.sum())
    return forward, mode.get_total_flops() - forward


@pytest.mark.parametrize("keys", [6, 9])
def test_fused_attention_counts_as_its_products_and_backward_makes_the_scores_anew(keys: int) -> None:
    query, key, value = rand(2, 3, 6, 8), rand(2, 3, keys, 8), rand(2, 3, keys, 8)
    found = operations_of(partial(scaled_dot_product_attention, query, key, value), counter())
    forward, backward = operations_of(partial(written_out, query, key, value), FlopCounterMode(display=False))
    assert found == (forward, backward + forward // 2)


def test_attention_of_fewer_heads_for_keys_counts_each_head_of_the_queries() -> None:
    query, key, value = rand(2, 8, 6, 4), rand(2, 2, 6, 4), rand(2, 2, 6, 4)
    found = operations_of(partial(scaled_dot_product_attention, query, key, value, enable_gqa=True), counter())
    repeated = [tensor.repeat_interleave(4, 1) for tensor in (key, value)]
    assert found[0] == operations_of(partial(written_out, query, *repeated), FlopCounterMode(display=False))[0]


def test_a_run_counts_the_attention_of_an_encoder() -> None:
    model = on_fakes(
        build(partial(nn.TransformerEncoderLayer, 16, 2, 32, batch_first=True, dropout=0.0), {}), CPU, None
    )
    found = run(model, ("Float[3, 5, 16]",), CPU)
    tokens, width, inner = 3 * 5, 16, 32
    projections = 2 * tokens * (4 * width * width + 2 * width * inner)
    attention = 2 * 2 * tokens * 5 * width
    assert found.forward_flops == projections + attention


def test_a_fused_lstm_counts_as_one_that_is_not_fused() -> None:
    inputs = rand(5, 2, 3)
    layer = nn.LSTM(3, 4, 2, bidirectional=True)
    # Five steps of two items: the first layer in both directions, then the second, which takes both outputs.
    forward = 2 * 5 * 2 * 2 * (16 * (3 + 4) + 16 * (8 + 4))
    assert operations_of(lambda: layer(inputs)[0], counter()) == (forward, 2 * forward)


def test_products_of_groups_count_all_rows() -> None:
    rows, experts = torch.rand(8, 16, dtype=torch.bfloat16), torch.rand(4, 16, 32, dtype=torch.bfloat16)
    ends = torch.tensor([2, 4, 4, 8], dtype=torch.int32)
    with counter() as mode:
        torch.nn.functional.grouped_mm(rows, experts, offs=ends)
    assert mode.get_total_flops() == 2 * 8 * 16 * 32


def test_a_matrix_times_a_vector_counts_two_operations_for_each_multiplication() -> None:
    assert operations_of(lambda: rand(3, 4) @ rand(4), counter())[0] == 2 * 3 * 4
