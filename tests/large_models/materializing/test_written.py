"""A tensor of which an initialisation fills only some elements is an error, and one that it fills in any way is not."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.nn.utils import parametrizations

from qten_gen import Module, param, submodule
from qten_gen.large_models.materializing.written import Gap, gap_in

from .recorded import record

FILLED: dict[str, Callable[[Tensor], object]] = {
    "halves": lambda x: [half.fill_(1) for half in x.chunk(2)],
    "columns": lambda x: [x[:, i].normal_() for i in range(x.shape[1])],
    "every other row": lambda x: (x[::2].fill_(1), x[1::2].fill_(2)),
    "blocks": lambda x: (x[:3, :2].fill_(0), x[3:].fill_(1), x[:, 2:].uniform_()),
    "rows through a transpose": lambda x: [row.zero_() for row in x.t()],
    "flat": lambda x: (x.view(-1)[:5].fill_(1), x.view(-1)[5:].fill_(1)),
    "an index": lambda x: x.index_fill_(0, torch.arange(6), 1.0),
    "a mask": lambda x: x.masked_fill_(torch.ones(6, 4, dtype=torch.bool), 1.0),
    "elements": lambda x: [x[i, j].fill_(i) for i in range(6) for j in range(4)],
    "copies": lambda x: (x[:3].copy_(torch.ones(4)), x[3:].copy_(torch.ones(3, 4))),
    "out": lambda x: (torch.ones(3, 4, out=x[:3]), torch.ones(3, 4, out=x[3:])),
    "as integers": lambda x: x.view(torch.int32).fill_(1),
    "a list at once": lambda x: torch.ops.aten._foreach_zero_.default(list(x.unbind())),
    "scaled afterwards": lambda x: x.fill_(1).mul_(3),
    "eye": nn.init.eye_,
    "statistics of a batch": lambda x: (x.zero_(), _batch_norm(x)),
    "sparse": lambda x: nn.init.sparse_(x, 0.5),
    "orthogonal": nn.init.orthogonal_,
}


def _batch_norm(statistics: Tensor) -> Tensor:
    """Take statistics of a batch into those that are there, as batch norm does in training."""
    mean = statistics.view(-1)
    return torch.nn.functional.batch_norm(torch.ones(5, len(mean)), mean, torch.ones(len(mean)), training=True)


PARTLY: dict[str, tuple[Callable[[Tensor], object], Gap]] = {
    "a half": (lambda x: x[:3].fill_(1), Gap((3, 0), False)),
    "the other half": (lambda x: x[3:].fill_(1), Gap((0, 0), False)),
    "a column": (lambda x: x[:, 0].fill_(1), Gap((0, 1), False)),
    "every other row": (lambda x: x[::2].fill_(1), Gap((1, 0), False)),
    "all but one": (lambda x: (x[:5].fill_(1), x[5, :3].fill_(1)), Gap((5, 3), False)),
    "an index": (lambda x: x.index_fill_(0, torch.tensor([0, 2]), 1.0), Gap((1, 0), False)),
    "elements at indices": (
        lambda x: x.index_put_((torch.arange(5), torch.tensor([0])), torch.ones(5)),
        Gap((0, 1), False),
    ),
    "a sum at indices": (lambda x: x.index_put_((torch.arange(6),), torch.ones(4), accumulate=True), Gap((0, 0), True)),
    "a mask": (lambda x: (x[3:].fill_(1), x.masked_fill_(torch.arange(4) > 0, 1.0)), Gap((0, 0), False)),
    "a scatter": (lambda x: x.scatter_(1, torch.zeros(6, 1, dtype=torch.int64), 1.0), Gap((0, 1), False)),
    "only scaled": (lambda x: x.mul_(2), Gap((0, 0), True)),
    "a half, scaled": (lambda x: (x[:3].fill_(1), x.div_(2)), Gap((3, 0), False)),
    "nothing": (lambda x: None, Gap((0, 0), True)),
    "statistics of a batch": (lambda x: _batch_norm(x), Gap((0, 0), True)),
    "a half, statistics of a batch": (lambda x: (x[:3].fill_(1), _batch_norm(x)), Gap((3, 0), False)),
}


@pytest.mark.parametrize("name", FILLED)
def test_a_tensor_that_is_filled_in_parts_has_no_gap(name: str) -> None:
    found = record(FILLED[name], (6, 4))
    assert gap_in(found.tape, found.slot) is None


@pytest.mark.parametrize("name", PARTLY)
def test_the_first_element_that_nothing_fills_is_found(name: str) -> None:
    fill, gap = PARTLY[name]
    found = record(fill, (6, 4))
    assert gap_in(found.tape, found.slot) == gap


COMPLEX: dict[str, tuple[Callable[[Tensor], object], Gap | None]] = {
    "both parts": (lambda x: (x.real.fill_(1), x.imag.fill_(2)), None),
    "the real part": (lambda x: x.real.fill_(1), Gap((0, 0), False)),
    "no part": (lambda x: None, Gap((0, 0), True)),
    "all of a half of the memory": (lambda x: torch.view_as_real(x[:3]).fill_(1), Gap((3, 0), False)),
}


@pytest.mark.parametrize("name", COMPLEX)
def test_a_complex_number_is_filled_if_both_of_its_parts_are(name: str) -> None:
    fill, gap = COMPLEX[name]
    found = record(fill, (6, 4), torch.complex64)
    assert gap_in(found.tape, found.slot) == gap


def test_a_gap_between_runs_of_a_large_tensor_is_found_without_its_memory() -> None:
    found = record(lambda x: [part.fill_(1) for part in x.chunk(5)[:4]], (50_000, 50_000))
    assert gap_in(found.tape, found.slot) == Gap((40_000, 0), False)


@st.composite
def slices_of(draw: st.DrawFn, extent: int) -> slice:
    start, stop = sorted((draw(st.integers(0, extent)), draw(st.integers(0, extent))))
    return slice(start, stop, draw(st.integers(1, 3)))


@given(st.lists(st.tuples(slices_of(5), slices_of(4), slices_of(3)), max_size=5), st.permutations(range(3)))
@settings(max_examples=60, deadline=None)
def test_any_slices_leave_the_gap_that_they_leave_in_a_real_tensor(
    parts: list[tuple[slice, slice, slice]], order: list[int]
) -> None:
    def fill(x: Tensor) -> None:
        for part in parts:
            index = tuple(part[dim] for dim in order)
            x.permute(order)[index].fill_(1)

    real = torch.zeros(5, 4, 3)
    fill(real)
    missing = (real == 0).nonzero().tolist()
    found = record(fill, (5, 4, 3))
    expected = Gap(tuple(missing[0]), len(missing) == 60) if missing else None
    assert gap_in(found.tape, found.slot) == expected


def from_empty(x: Tensor) -> Tensor:
    return torch.empty(x.shape)


HANDED_ON: dict[str, tuple[Callable[[Tensor], object], tuple[int, ...] | None]] = {
    "a copy of nothing": (lambda x: x.copy_(from_empty(x)), (0, 0)),
    "a copy of a copy": (lambda x: x.copy_(from_empty(x).clone().to(torch.float64)), (0, 0)),
    "a result": (lambda x: x.copy_(from_empty(x) * 2), (0, 0)),
    "a sum with nothing": (lambda x: x.fill_(1).add_(from_empty(x)), (0, 0)),
    "a product into it": (lambda x: torch.mul(from_empty(x), 2, out=x), (0, 0)),
    "the part that has values": (lambda x: (made := from_empty(x), made[:3].fill_(1), x.copy_(made)), (3, 0)),
    "a column": (lambda x: (made := from_empty(x), made[:, :2].fill_(1), x.copy_(made.clone())), (0, 2)),
    "what was filled later": (lambda x: (x.copy_(from_empty(x)), x[:2].fill_(1)), (2, 0)),
    "filled before, overwritten": (lambda x: (x.fill_(1), x[4:].copy_(torch.empty(2, 4))), (4, 0)),
    "its own changes": (lambda x: x.clamp_(min=0), (0, 0)),
    "nothing, replaced": (lambda x: (x.copy_(from_empty(x)), x.normal_()), None),
    "sizes alone": (lambda x: x.copy_(torch.zeros_like(from_empty(x))), None),
    "memory that was filled": (lambda x: x.copy_(from_empty(x).normal_() * 2), None),
    "a mask and its opposite": (
        lambda x: (
            made := from_empty(x),
            made.masked_fill_(mask := torch.arange(4) > 1, 1),
            made.masked_fill_(~mask, 2),
            x.copy_(made),
        ),
        None,
    ),
    "two halves": (lambda x: (made := from_empty(x), made[:3].fill_(1), made[3:].fill_(2), x.copy_(made)), None),
    "a comparison": (lambda x: x.copy_(from_empty(x) > 3), (0, 0)),
    "truth values": (lambda x: x.copy_(from_empty(x).bool()), (0, 0)),
    "truth values of one number": (lambda x: x.copy_(torch.empty(()).bool()), (0, 0)),
    "small integers": (lambda x: x.copy_(from_empty(x).to(torch.int8)), (0, 0)),
    "whether any is true": (lambda x: x.copy_(from_empty(x).any()), (0, 0)),
    "the place of the largest": (lambda x: x.copy_(from_empty(x).argmax()), (0, 0)),
    "the order": (lambda x: x.copy_(from_empty(x).argsort(0)), (0, 0)),
    "nothing times zero": (lambda x: x.mul_(0).add_(1), (0, 0)),
    "its own memory": (lambda x: x.copy_(x.view(24).view(6, 4)), (0, 0)),
    "its own element": (lambda x: x.fill_(x[0, 0]), (0, 0)),
    "a list that reads what it changes": (
        lambda x: (x.fill_(1), made := from_empty(x), torch.ops.aten._foreach_add_.List([x, made], [made, x])),
        (0, 0),
    ),
    "memory that grows": (lambda x: x.copy_(torch.zeros(2, 4).resize_(6, 4)), (0, 0)),
    "memory that grows and is filled": (lambda x: x.copy_(torch.zeros(2, 4).resize_(6, 4).fill_(1)), None),
    "a product with weight zero": (lambda x: x.addmm_(torch.ones(6, 2), torch.ones(2, 4), beta=0), None),
}
"""What an initialiser does with memory that was never written, and the first element that has no value afterwards."""


@pytest.mark.parametrize("name", HANDED_ON)
def test_what_comes_from_memory_that_nothing_wrote_is_not_written(name: str) -> None:
    fill, index = HANDED_ON[name]
    found = record(fill, (6, 4))
    gap = gap_in(found.tape, found.slot)
    assert (gap.index if gap else None) == index


STEPS = ("empty", "ones", "clone", "copy", "fill", "mask", "rows", "add", "double")


@given(
    st.lists(
        st.tuples(st.sampled_from(STEPS), st.integers(0, 3), st.integers(0, 3), slices_of(5), slices_of(4)), max_size=12
    )
)
@settings(max_examples=200, deadline=None)
def test_no_program_brings_memory_that_nothing_wrote_into_a_tensor_unseen(
    steps: list[tuple[str, int, int, slice, slice]],
) -> None:
    """The oracle runs on real tensors, with nan where nothing was written."""

    def program(x: Tensor, empty: Callable[[], Tensor]) -> None:
        made = [x, empty(), torch.ones(5, 4), empty()]
        for what, to, of, *index in steps:
            rows, columns = index
            match what:
                case "empty":
                    made[max(to, 1)] = empty()
                case "ones":
                    made[max(to, 1)] = torch.ones(5, 4)
                case "clone":
                    made[max(to, 1)] = made[of].clone()
                case "copy":
                    made[to][rows, columns].copy_(made[of][rows, columns])
                case "fill":
                    made[to][rows, columns].fill_(1)
                case "mask":
                    made[to].masked_fill_(torch.arange(20).view(5, 4) % 3 == of, 1.0)
                case "rows":
                    made[to].index_copy_(0, torch.tensor([of]), made[of][:1].clone())
                case "add":
                    made[to].add_(made[of])
                case "double":
                    made[max(to, 1)] = made[of] * 2

    real = torch.full((5, 4), torch.nan)
    program(real, lambda: torch.full((5, 4), torch.nan))
    found = record(lambda x: program(x, lambda: torch.empty(5, 4)), (5, 4))
    gap = gap_in(found.tape, found.slot)
    missing = real.isnan().nonzero().tolist()
    assert gap is not None or not missing
    if not {"add", "double"} & {what for what, *_ in steps}:
        assert (gap.index if gap else None) == (tuple(missing[0]) if missing else None)


def test_spectral_norm_starts_from_vectors_of_the_weight() -> None:
    class Net(Module):
        dim: int
        linear: nn.Linear = submodule(nn.Linear, "dim", "dim")

        def __post_init__(self) -> None:
            parametrizations.spectral_norm(self.linear)

        def forward(self, x: Tensor) -> Tensor:
            return self.linear(x)  # type: ignore[no-any-return] # torch gives it no type

    made = Net.on_meta(16).materialize("cpu", seed=0).eval()
    weight = made.linear.parametrizations["weight"].original  # type: ignore[union-attr, index] # a ModuleDict
    largest = torch.linalg.matrix_norm(weight, ord=2)
    torch.testing.assert_close(made.linear.weight * largest, weight, rtol=0.1, atol=0.02)


def test_a_tensor_that_gets_values_from_memory_that_nothing_wrote_is_named_with_the_line() -> None:
    class Copied(Module):
        weight: nn.Parameter = param(6)

        def reset_parameters(self) -> None:
            with torch.no_grad():
                self.weight.copy_(torch.empty(6))

    with pytest.raises(RuntimeError) as caught:
        Copied.on_meta().materialize("cpu", seed=0)
    assert re.sub(r"/\S*/(?=test_)", "", str(caught.value)).partition(", or fill")[0] == (
        "materialize(): weight, a parameter of Copied, gets values from memory that nothing has written, by aten::copy_ at"
        f" test_written.py:{Copied.reset_parameters.__code__.co_firstlineno + 2}; fill what it reads"
    )


def test_a_tensor_that_is_filled_in_part_is_named_with_the_element() -> None:
    class Half(Module):
        dim: int
        weight: nn.Parameter = param("dim", 2)

        def reset_parameters(self) -> None:
            nn.init.ones_(self.weight[: self.dim // 2])

    half = Half.on_meta(6)
    with pytest.raises(RuntimeError) as caught:
        half.materialize("cpu", seed=0)
    assert str(caught.value) == (
        "materialize(): weight, a parameter of Half, is initialised in part: nothing fills the element [3, 0]; let"
        " Half.reset_parameters fill all of self.weight, or fill it in the reset_parameters of a module above it, or give its"
        " values in state_dict=, or build the module with qten_gen.deferred_init"
    )
    assert half.weight.is_meta
    given = half.materialize("cpu", state_dict={"weight": torch.zeros(6, 2)})
    assert given.weight.tolist() == [[0.0] * 2] * 6
