"""Random programs on fake tensors and on real ones: the same shapes, strides, dtypes and gradients, or the same errors."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

import pytest
import torch
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from torch import Tensor

from qten_gen import fake_mode, is_fake, meta_like

DTYPES = (torch.float32, torch.float64, torch.bfloat16, torch.int64, torch.bool, torch.complex64)

MAKERS: dict[str, Callable[..., Tensor]] = {
    "ones": torch.ones,
    "empty": torch.empty,
    "transposed": lambda *size, **options: torch.zeros(*size[::-1], **options).permute(*reversed(range(len(size)))),
    "expanded": lambda *size, **options: torch.ones((), **options).expand(size),
    "sliced": lambda *size, **options: torch.ones(*(2 * side for side in size), **options)[
        tuple(slice(s) for s in size)
    ],
}

UNARY: dict[str, Callable[[Tensor], Tensor]] = {
    "t": lambda x: x.transpose(0, -1),
    "double": lambda x: x.double(),
    "sum": lambda x: x.sum(-1),
    "mean": lambda x: x.mean(0, keepdim=True),
    "argmax": lambda x: x.argmax(0),
    "reshape": lambda x: x.reshape(-1),
    "view": lambda x: x.view(-1),
    "first": lambda x: x[0],
    "reversed-steps": lambda x: x[..., ::2],
    "unsqueeze": lambda x: x.unsqueeze(1),
    "softmax": lambda x: x.softmax(-1),
    "exp": torch.exp,
    "sqrt_": lambda x: x.clone().sqrt_(),
    "contiguous": lambda x: x.contiguous(),
    "cumsum": lambda x: x.cumsum(0),
    "sort": lambda x: x.sort(-1).values,
    "topk": lambda x: x.topk(2, -1).indices,
    "flip": lambda x: x.flip(0),
    "unfold": lambda x: x.unfold(0, 2, 1),
    "detach": lambda x: x.detach(),
    "squeeze": lambda x: x.squeeze(),
    "var": lambda x: x.var(0),
    "norm": lambda x: torch.linalg.vector_norm(x, dim=-1),
    "conj": lambda x: x.conj(),
    "real": lambda x: x.real,
    "zeros-like": torch.zeros_like,
    "new-ones": lambda x: x.new_ones(2, 3),
    "repeat": lambda x: x.repeat(2, 1, 1),
    "interpolate": lambda x: torch.nn.functional.interpolate(x[None], scale_factor=2.0),
    "layer-norm": lambda x: torch.nn.functional.layer_norm(x, x.shape[-1:]),
    "chunk": lambda x: x.chunk(2, 0)[-1],
    "channels-last": lambda x: x[None].contiguous(memory_format=torch.channels_last),
}

BINARY: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "add": torch.add,
    "add_": lambda x, y: x.clone().add_(y),
    "mul": torch.mul,
    "matmul": torch.matmul,
    "where": lambda x, y: torch.where(x > 0, x, y),
    "cat": lambda x, y: torch.cat([x, y]),
    "stack": lambda x, y: torch.stack([x, y], -1),
    "maximum": torch.maximum,
    "index": lambda x, y: x[y.long() * 0],
    "embedding": lambda x, y: torch.nn.functional.embedding(y.long() * 0, x),
    "copy_": lambda x, y: torch.empty_like(x).copy_(y),
    "divide": lambda x, y: x // y,
    "bmm": torch.bmm,
    "outer": lambda x, y: torch.einsum("...i,...j->...ij", x, y),
    "gather": lambda x, y: x.gather(0, y.long() * 0),
}


WITHOUT_A_KERNEL = re.compile(
    "not implemented for|not support|only support|can only calculate|Only floating|std and var"
)
"""Real tensors of some dtypes are refused because nobody wrote a kernel. Fake tensors run no kernel, and accept them."""


@dataclass(frozen=True)
class Step:
    """One operation on results of earlier steps, by their position from the end."""

    name: str
    first: int
    second: int


@dataclass(frozen=True)
class Start:
    """A tensor that a program starts with."""

    maker: str
    size: tuple[int, ...]
    dtype: torch.dtype
    requires_grad: bool


STARTS = st.builds(
    Start,
    st.sampled_from(sorted(MAKERS)),
    st.lists(st.sampled_from([0, 1, 2, 3, 4]), min_size=1, max_size=3).map(tuple),
    st.sampled_from(DTYPES),
    st.booleans(),
)
STEPS = st.builds(Step, st.sampled_from(sorted(UNARY) + sorted(BINARY)), st.integers(0, 3), st.integers(0, 3))


def start(made: Start, device: str) -> Tensor:
    tensor = MAKERS[made.maker](*made.size, dtype=made.dtype, device=device)
    return tensor.detach().requires_grad_(
        made.requires_grad and (made.dtype.is_floating_point or made.dtype.is_complex)
    )


def run(starts: list[Start], steps: list[Step], device: str = "cpu") -> list[Tensor | type[Exception]]:
    """The tensors that a program makes; an operation that fails gives the type of its error."""
    found: list[Tensor] = [start(made, device) for made in starts]
    seen: list[Tensor | type[Exception]] = [*found]
    for step in steps:
        first, second = found[-1 - step.first % len(found)], found[-1 - step.second % len(found)]
        try:
            made = UNARY[step.name](first) if step.name in UNARY else BINARY[step.name](first, second)
        except (RuntimeError, IndexError, ValueError, TypeError) as error:
            assume(not WITHOUT_A_KERNEL.search(str(error)))
            seen.append(IndexError if isinstance(error, IndexError) else RuntimeError)
        else:
            found.append(made)
            seen.append(made)
    outputs = [made for made in found if made.requires_grad and made.is_floating_point() and made.numel()]
    if outputs:
        try:
            outputs[-1].backward(torch.ones_like(outputs[-1]))  # type: ignore[no-untyped-call] # torch gives it no types
        except RuntimeError as error:
            seen.append(type(error))
    return [*seen, *(made.grad for made in found if made.is_leaf and made.grad is not None)]


def strides(tensor: Tensor) -> tuple[int, ...]:
    """The strides that say where elements are: not those of sides of length one, or of a tensor without elements."""
    return tuple(step for side, step in zip(tensor.shape, tensor.stride(), strict=True) if side > 1 and tensor.numel())


def facts(tensor: Tensor | type[Exception]) -> object:
    """What a real and a fake tensor have in common, their device aside."""
    if not isinstance(tensor, Tensor):
        return tensor.__name__
    return (
        tuple(tensor.shape),
        strides(tensor),
        tensor.storage_offset(),
        tensor.dtype,
        tensor.requires_grad,
        tensor.is_leaf,
        tensor.grad_fn is None,
        tensor.is_conj(),
    )


@pytest.mark.filterwarnings("ignore")
@settings(
    max_examples=60,
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
@given(st.lists(STARTS, min_size=1, max_size=2), st.lists(STEPS, max_size=5))
def test_a_program_makes_the_same_tensors(starts: list[Start], steps: list[Step]) -> None:
    real = run(starts, steps)
    for device in ("cpu", "cuda:1"):
        with fake_mode(fake_cuda=True):
            fake = run(starts, steps, device)
        assert [facts(tensor) for tensor in fake] == [facts(tensor) for tensor in real]
        for tensor in fake:
            if isinstance(tensor, Tensor):
                assert is_fake(tensor) and str(tensor.device) == device
                like = meta_like(tensor)
                assert (like.shape, like.stride(), like.dtype) == (tensor.shape, tensor.stride(), tensor.dtype)
