"""Train the decoder, and compare it with the plain one: `python -m decoder.train` in the folder `examples`."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.testing import assert_close

from . import plain, text
from .model import Decoder, Passages


def train(decoder: Decoder, passages: Passages, steps: int) -> Iterator[float]:
    """Train the decoder in-place, and yield the loss of each step."""
    optimizer = torch.optim.AdamW(decoder.parameters())
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.006, total_steps=steps)
    for _ in range(steps):
        loss = decoder(passages[torch.randint(len(passages), (12,))])
        optimizer.zero_grad()
        torch.autograd.backward(loss)
        optimizer.step()
        schedule.step()
        yield loss.item()


def compare(decoder: Decoder, other: plain.Decoder, passages: Passages) -> None:
    """Exchange the weights through checkpoint files, and compare what both models compute.

    Raises:
        AssertionError: checkpoints, logits or gradients are not exactly equal.
    """
    other.load_state_dict(checkpoint(decoder))
    decoder.load_state_dict(checkpoint(other))
    assert_equal(checkpoint(decoder), checkpoint(other))
    assert_equal(decoder(passages.tokens), other(passages.tokens))
    assert_equal(gradients(decoder, passages), gradients(other, passages))


def checkpoint(module: nn.Module) -> dict[str, Tensor]:
    """The state dict of a module, after saving and loading it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "decoder.pt"
        torch.save(module.state_dict(), path)
        state: dict[str, Tensor] = torch.load(path)
    return state


def gradients(decoder: Decoder | plain.Decoder, passages: Passages) -> dict[str, Tensor]:
    """The gradient of the mean cross entropy for each parameter."""
    parameters = dict(decoder.named_parameters())
    logits: Tensor = decoder(passages.tokens)
    loss = functional.cross_entropy(logits.flatten(0, 1), passages.targets.flatten())
    return dict(zip(parameters, torch.autograd.grad(loss, list(parameters.values())), strict=True))


def assert_equal(actual: object, expected: object) -> None:
    assert_close(actual, expected, rtol=0, atol=0)


def main(file: Path = Path("decoder.pt"), steps: int = 400) -> None:
    torch.manual_seed(0)
    decoder = Decoder()
    tokens = text.load()
    training = text.passages(tokens[:-3000], decoder.context)
    held_out = text.passages(tokens[-3000:], decoder.context)[:: decoder.context]
    print(f"{len(tokens)} bytes of text, {sum(p.numel() for p in decoder.parameters())} parameters\n")

    losses: list[float] = []
    for step, loss in enumerate(train(decoder, training, steps), start=1):
        losses.append(loss)
        if step % (steps // 10) == 0:
            mean = sum(losses) / len(losses)
            print(f"step {step:3}  loss {mean:.3f}  {'#' * round(10 * mean)}", flush=True)
            losses.clear()
    with torch.no_grad():
        print(f"\nheld-out loss {decoder(held_out):.3f}")

    compare(decoder, plain.Decoder(**decoder.get_config()), held_out)
    print("logits, gradients and checkpoints equal to the plain model")
    torch.save({"config": decoder.get_config(), "state": decoder.state_dict()}, file)
    print(f"saved to {file}; now run: python -m decoder.serve")


if __name__ == "__main__":
    # The matrices are small. On a busy machine, threads would wait for each other longer than they compute.
    torch.set_num_threads(1)
    main()
