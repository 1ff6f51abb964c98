"""A tensor of which an initialisation fills only some elements is an error, and one that it fills in any way is not."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from qten_gen import Module, buffer, param

DTYPES = [torch.float32, torch.bfloat16, torch.complex64, torch.int64, torch.int16, torch.int8, torch.uint8, torch.bool]


def gap(fill: Callable[[Tensor], object], size: tuple[int, ...], dtype: torch.dtype = torch.float32) -> str | None:
    """What `materialize` says of a buffer that a function fills; None if it has all its values."""

    class Filled(Module):
        table: Tensor = buffer(*size, dtype=dtype)

        def reset_parameters(self) -> None:
            if not self.table.is_meta:
                fill(self.table)

    module = Filled.on_meta()
    try:
        module.materialize("cpu", seed=0)
    except RuntimeError as error:
        assert module.table.is_meta
        found = re.search(r"nothing fills the element (\[.*?\])|is not initialised", str(error))
        assert found is not None, error
        return found[1] or "all"
    return None


FILLED: dict[str, Callable[[Tensor], object]] = {
    "out": lambda x: (torch.ones(3, 4, out=x[:3]), torch.ones(3, 4, out=x[3:])),
    "as integers": lambda x: x.view(torch.int32).fill_(1),
    "data": lambda x: x.data.fill_(1),
    "NumPy": lambda x: x.numpy().fill(1),
    "orthogonal": nn.init.orthogonal_,
}

MISSING: dict[str, tuple[Callable[[Tensor], object], str]] = {
    "nothing": (lambda x: None, "all"),
    "all but one": (lambda x: (x[:5].fill_(1), x[5, :3].fill_(1)), "[5, 3]"),
    "a copy of a copy": (lambda x: x.copy_(torch.empty_like(x).clone().to(torch.float64)), "all"),
    "a sum with nothing": (lambda x: x.fill_(1).add_(x.new_empty(x.shape)), "all"),
    "the part that has values": (lambda x: (made := torch.empty(6, 4), made[:3].fill_(1), x.copy_(made)), "[3, 0]"),
}


@pytest.mark.parametrize("name", [*FILLED, *MISSING])
def test_the_first_element_that_nothing_fills_is_named(name: str) -> None:
    fill, expected = MISSING[name] if name in MISSING else (FILLED[name], None)
    assert gap(fill, (6, 4)) == expected


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int8])
def test_every_number_of_a_byte_may_be_written(dtype: torch.dtype) -> None:
    assert gap(lambda x: x.copy_(torch.arange(256)), (256,), dtype) is None
    assert gap(lambda x: x[:255].copy_(torch.arange(255)), (256,), dtype) == "[255]"


def slices_of(extent: int) -> st.SearchStrategy[slice]:
    ends = st.integers(0, extent)
    return st.builds(slice, ends, ends, st.integers(1, 3))


@given(
    st.lists(st.tuples(slices_of(5), slices_of(4)), max_size=5),
    st.booleans(),
    st.sampled_from(DTYPES),
    st.integers(0, 255),
)
@settings(max_examples=100)
def test_any_slices_leave_the_gap_that_they_leave_in_a_tensor_of_zeros(
    parts: list[tuple[slice, slice]], is_turned: bool, dtype: torch.dtype, number: int
) -> None:
    def fill(x: Tensor, value: float) -> None:
        for rows, columns in parts:
            (x.t()[columns, rows] if is_turned else x[rows, columns]).fill_(value)

    written = torch.zeros(5, 4)
    fill(written, 1)
    missing = (written == 0).nonzero().tolist()
    value = number if dtype not in (torch.int8, torch.bool) else number % 2
    expected = None if not missing else "all" if len(missing) == 20 else str(missing[0])
    assert gap(lambda x: fill(x, value), (5, 4), dtype) == expected


STEPS = ("empty", "ones", "clone", "copy", "fill", "mask", "rows", "add", "double")


@given(
    st.lists(
        st.tuples(st.sampled_from(STEPS), st.integers(0, 3), st.integers(0, 3), slices_of(5), slices_of(4)), max_size=12
    )
)
@settings(max_examples=100)
def test_no_program_brings_memory_that_nothing_wrote_into_a_tensor_unseen(
    steps: list[tuple[str, int, int, slice, slice]],
) -> None:
    """The oracle runs with nan where nothing was written."""

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
    missing = real.isnan().nonzero().tolist()
    expected = None if not missing else "all" if len(missing) == 20 else str(missing[0])
    assert gap(lambda x: program(x, lambda: torch.empty(5, 4)), (5, 4)) == expected


def test_a_tensor_that_is_filled_in_part_is_named_with_the_element_and_may_be_given() -> None:
    class Half(Module):
        dim: int
        weight: nn.Parameter = param("dim", 2)

        def reset_parameters(self) -> None:
            nn.init.ones_(self.weight[: self.dim // 2])

    half = Half.on_meta(6)
    with pytest.raises(RuntimeError) as caught:
        half.materialize("cpu", seed=0)
    assert str(caught.value) == (
        "materialize(): weight, a parameter of Half, is initialised in part: nothing fills the element [3, 0], or by memory that"
        " nothing has written; let Half.reset_parameters fill all of self.weight, or give its values in state_dict=, or build"
        " the module with qten_gen.deferred_init"
    )
    assert half.weight.is_meta
    given = half.materialize("cpu", state_dict={"weight": torch.zeros(6, 2)})
    assert given.weight.tolist() == [[0.0] * 2] * 6
