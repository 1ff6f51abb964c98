"""The example `decoder`: it computes what is written by hand, to the last bit, and the same when it reads byte by byte."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import torch
from decoder import plain, text
from decoder.model import Cache, Decoder, Passages
from decoder.serve import main as serving
from decoder.serve import serve
from decoder.train import assert_equal, checkpoint, compare, gradients, main
from torch._dynamo.testing import CompileCounterWithBackend


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


def prompted(decoder: Decoder, *texts: str) -> Cache:
    """The cache of texts of one length that have been read."""
    cache = decoder.cache(len(texts))
    decoder(torch.stack([text.encode(each) for each in texts]), cache)
    return cache


@torch.no_grad()
def test_bytes_read_one_by_one_and_beside_other_texts_give_the_logits_of_the_whole_text(declared: Decoder) -> None:
    whole = declared(text.encode("the mill wheel")[None])
    cache = Cache.cat([prompted(declared, "snow"), prompted(declared, "the", "tea")])[[1, 0]]
    assert cache.length.tolist() == [3, 4]
    for position, byte in enumerate(b" mill wheel", start=3):
        logits = declared(torch.tensor([[byte], [position]]), cache)
        torch.testing.assert_close(logits[0, 0], whole[0, position])


def test_the_compiled_and_the_exported_step_serve(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    decoder = Decoder(context=24, width=16, heads=2, depth=1)
    torch.save({"config": decoder.get_config(), "state": decoder.state_dict()}, tmp_path / "decoder.pt")
    counter = CompileCounterWithBackend("eager")
    serving(tmp_path / "decoder.pt", backend=counter)  # which compares the exported step with the decoder
    assert counter.frame_count <= 3, "one text, four texts, and any other number"
    assert "On Monday the wind" in capsys.readouterr().out
    assert (tmp_path / "decoder.pt2").exists()


def test_prompts_are_continued_to_the_end_and_wait_for_a_place(declared: Decoder) -> None:
    prompts = ["On", "The mill", "Snow"]
    written = list(serve(declared, declared, prompts, at_once=2))
    assert sorted(each[: len(prompt)] for prompt, each in zip(sorted(prompts), sorted(written), strict=True)) == sorted(
        prompts
    )
    assert all(each.endswith(".") or len(each.encode()) >= 16 for each in written)


def test_the_example_learns_and_compares(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(tmp_path / "decoder.pt", steps=20)
    trained = capsys.readouterr().out
    losses = [float(loss) for loss in re.findall(r"loss (\d+\.\d+)  #", trained)]
    assert len(losses) == 10
    assert losses[-1] < 0.8 * losses[0]
    assert "\nlogits, gradients and checkpoints equal to the plain model\n" in trained
    assert (tmp_path / "decoder.pt").exists()
