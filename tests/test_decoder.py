"""The example `decoder`: what is declared computes what is written by hand, to the last bit."""

from __future__ import annotations

import re

import pytest
import torch
from decoder import plain, text
from decoder.model import Decoder, Passages
from decoder.train import assert_equal, checkpoint, compare, gradients, main


@pytest.fixture
def declared() -> Decoder:
    torch.manual_seed(0)
    return Decoder(context=16, width=32, depth=2)


@pytest.fixture
def by_hand(declared: Decoder) -> plain.Decoder:
    """The plain model with the same weights."""
    module = plain.Decoder(**declared.get_config())
    module.load_state_dict(declared.state_dict())
    return module


@pytest.fixture
def passages() -> Passages:
    return text.passages(text.load(), length=16)[:64:16]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_logits_are_equal(declared: Decoder, by_hand: plain.Decoder, passages: Passages, dtype: torch.dtype) -> None:
    assert_equal(declared.to(dtype)(passages.tokens), by_hand.to(dtype)(passages.tokens))


def test_gradients_are_equal(declared: Decoder, by_hand: plain.Decoder, passages: Passages) -> None:
    assert_equal(gradients(declared, passages), gradients(by_hand, passages))


def test_a_batch_gives_the_loss_that_the_gradients_are_of(declared: Decoder, passages: Passages) -> None:
    torch.autograd.backward(declared(passages))
    assert_equal({name: weight.grad for name, weight in declared.named_parameters()}, gradients(declared, passages))


def test_checkpoints_are_interchangeable(declared: Decoder, by_hand: plain.Decoder) -> None:
    assert list(declared.state_dict()) == list(by_hand.state_dict())
    by_hand.load_state_dict(checkpoint(Decoder.from_config(declared.get_config())), strict=True)
    declared.load_state_dict(checkpoint(by_hand), strict=True)
    assert_equal(declared.state_dict(), by_hand.state_dict())


def test_equal_seeds_give_equal_weights() -> None:
    torch.manual_seed(1)
    declared = Decoder()
    torch.manual_seed(1)
    by_hand = plain.Decoder()
    assert_equal(declared.state_dict(), by_hand.state_dict())


def test_the_comparison_sees_a_single_bit(declared: Decoder, by_hand: plain.Decoder, passages: Passages) -> None:
    compare(declared, by_hand, passages)
    by_hand.rotary[0, 3, 0] = by_hand.rotary[0, 3, 0].nextafter(torch.tensor(2.0))
    with pytest.raises(AssertionError):
        compare(declared, by_hand, passages)


def test_the_head_stays_the_embedding(declared: Decoder) -> None:
    on_meta = Decoder.from_config(declared.get_config(), device="meta")
    on_meta.load_state_dict(declared.state_dict(), assign=True)
    assert on_meta.head is on_meta.embedding


def test_rotary_positions_are_right_after_to_empty(declared: Decoder, passages: Passages) -> None:
    made_empty = Decoder.from_config(declared.get_config(), device="meta").to_empty(device="cpu")
    made_empty.load_state_dict(declared.state_dict())
    assert_equal(made_empty(passages.tokens), declared(passages.tokens))


def test_rotary_positions_lose_nothing_on_the_way_through_half_precision(declared: Decoder) -> None:
    before = declared.rotary
    assert declared.bfloat16().rotary.dtype == torch.bfloat16
    assert_equal(declared.float().rotary, before)


def test_the_example_learns_writes_and_compares(capsys: pytest.CaptureFixture[str]) -> None:
    main(steps=40)
    output = capsys.readouterr().out
    losses = [float(loss) for loss in re.findall(r"loss (\d+\.\d+)  #", output)]
    assert len(losses) == 10
    assert losses[-1] < 0.6 * losses[0]
    assert "  On Monday " in output
    assert output.endswith("\nlogits, gradients and checkpoints equal to the plain model\n")
