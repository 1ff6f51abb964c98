"""Annotated shapes against the tensors of a run: what holds, what does not, and what is said about it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jaxtyping
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn

from qten_gen.tools.inspect.forward_backward import run
from qten_gen.tools.inspect.model_building import build, on_fakes
from qten_gen.tools.inspect.named_sizes import Binding, UnknownSize, evaluate
from qten_gen.tools.inspect.recorded_calls import Run
from qten_gen.tools.inspect.shape_matching import Matcher, Mismatch, Tally

from .samples import Half, Net, Wrong

CPU = torch.device("cpu")


def run_of(make: Callable[[], nn.Module], *inputs: str) -> Run:
    return run(on_fakes(build(make, {}), CPU, None), inputs, CPU)


def reasons(dims: str, *shape: int, dtype: str = "Float", **names: int) -> list[str]:
    """What is wrong with one tensor, where names have sizes already."""
    module = nn.Linear(4, 6)
    bound = {name: Binding(size, "the config") for name, size in names.items()}
    matcher = Matcher(bound, module, Tally())
    found = [*matcher.tensor("x", torch.empty(shape), dtype, dims), *matcher.expressions()]
    return [reason for mismatch in found for reason in mismatch.reasons]


@pytest.mark.parametrize(
    ("dims", "shape"),
    [
        ("", ()),
        ("b t", (2, 3)),
        ("b b", (2, 2)),
        ("2 3", (2, 3)),
        ("rows=2 _ _cols", (2, 5, 6)),
        ("...", (1, 2, 3)),
        ("*batch 3", (1, 2, 3)),
        ("b ... c", (1, 3)),
        ("*_ c", (1, 3)),
        ("width heads", (8, 2)),
        ("width//heads", (4,)),
        ("width // heads 2*width - 1", (4, 15)),
        ("(width+1)*2", (18,)),
        ("-1+width", (7,)),
        ("{self.in_features} {self.out_features}-1", (4, 5)),
        ("{width}", (8,)),
        ("b #b", (3, 1)),
        ("b ?b ?b", (3, 1, 2)),
        ("b #b", (3, 3)),
        ("seq seq-1", (5, 4)),
    ],
)
def test_a_shape_that_fits_has_no_mismatch(dims: str, shape: tuple[int, ...]) -> None:
    assert reasons(dims, *shape, width=8, heads=2) == []


@pytest.mark.parametrize(
    ("dims", "shape", "reason"),
    [
        ("b t", (2,), "it has 1 dimension, expected 2"),
        ("b ... c d", (2,), "it has 1 dimension, expected at least 3"),
        ("", (2,), "it has 1 dimension, expected 0"),
        ("b 3", (2, 4), "dimension 1 of x is 4, expected 3"),
        ("b b", (2, 3), "dimension 1 of x is 3, but b = 2 (from dimension 0 of x)"),
        ("width", (7,), "dimension 0 of x is 7, but width = 8 (from the config)"),
        (
            "b width//heads",
            (2, 3),
            "dimension 1 of x is 3, but width//heads = 4, where heads = 2 (from the config) and width = 8 (from the config)",
        ),
        ("{self.in_features}", (3,), "dimension 0 of x is 3, but {self.in_features} = 4"),
        ("b #b", (3, 2), "dimension 1 of x is 2, but b = 3 or 1 (from dimension 0 of x)"),
        ("width-other", (1,), "it cannot be checked: other of 'width-other' has no size here"),
        ("{self.absent}", (1,), "it cannot be checked: self.absent of '{self.absent}' is not an int here"),
        ("*a *b", (1,), "it cannot be checked: only one word can match any number of dimensions"),
        ("?3", (1,), "it cannot be checked: '?3' is not a size, a name, `*name`, `#name`, `_` or `...`"),
    ],
)
def test_a_shape_that_does_not_fit_says_what_is_different_and_why(
    dims: str, shape: tuple[int, ...], reason: str
) -> None:
    assert reasons(dims, *shape, width=8, heads=2) == [reason]


def test_a_name_for_several_dimensions_is_compared_as_a_whole() -> None:
    matcher = Matcher({}, None, Tally())
    assert [*matcher.tensor("x", torch.empty(2, 3, 4), "Float", "*b c")] == []
    (found,) = matcher.tensor("y", torch.empty(2, 5), "Float", "*b")
    assert found.reasons == ("[2, 5] of y is not *b = [2, 3] (from x)",)


def test_a_wrong_dtype_is_a_reason_beside_the_shape() -> None:
    assert reasons("b 3", 2, 4, dtype="Int") == [
        "the dtype is float32, not one of Int",
        "dimension 1 of x is 4, expected 3",
    ]


@given(
    st.lists(st.sampled_from(["a", "b", "2", "#a", "_", "...", "*rest"]), max_size=4).filter(
        lambda words: sum(word in ("...", "*rest") for word in words) < 2 and words[:1] != ["#a"]
    ),
    st.lists(st.integers(1, 3), max_size=5),
)
def test_a_shape_fits_if_jaxtyping_says_so(words: list[str], shape: list[int]) -> None:
    tensor = torch.empty(shape)
    annotation: Any = jaxtyping.Float[Tensor, " ".join(words)]
    with jaxtyping.jaxtyped("context"):
        expected = isinstance(tensor, annotation)
    if "#a" in words and ("a" not in words or words.index("#a") < words.index("a")):
        return  # jaxtyping takes the first size that it meets, and 1 for none
    assert (reasons(" ".join(words), *shape) == []) is expected


def test_true_annotations_of_a_whole_model_hold() -> None:
    found = run_of(lambda: Net(8), "Batch(tokens=Int[2,7], mask=Bool[2,7], batch_size=[2])")
    assert found.findings == ()
    # Two fields of the batch, the logits, and for each block its input and two results.
    assert found.compared == 2 + 1 + 3 * 3


def test_all_that_is_different_in_a_tensor_is_one_mismatch() -> None:
    class Swapped(nn.Module):
        def __init__(self, width: int = 8, heads: int = 2) -> None:
            super().__init__()
            self.width, self.heads = width, heads

        def forward(self, x: Any) -> Any:
            return x.reshape(-1, self.width // self.heads, self.heads)

    forward: Any = Swapped.forward
    forward.__annotations__ = {"return": jaxtyping.Float[Tensor, "b heads width//heads"]}
    ((_, found),) = mismatches(run_of(Swapped, "Float[3,8]"))
    assert found.reasons == (
        "dimension 1 of result is 4, but heads = 2 (from the config of the model)",
        "dimension 2 of result is 2, but width//heads = 4, where heads = 2 (from the config of the model)"
        " and width = 8 (from the config of the model)",
    )


def mismatches(found: Run) -> list[tuple[str, Mismatch]]:
    return [(finding.path, finding.mismatch) for finding in found.findings]


def test_all_mismatches_are_listed_with_the_module_that_made_the_tensor() -> None:
    found = run_of(Wrong, "x: Float[3,8], y: Float[3,2,6]")
    listed = [(finding.path, finding.mismatch.name, finding.origin) for finding in found.findings]
    assert listed == [
        ("", "y", None),
        ("first", "x", None),
        ("first", "result", "first.linear"),
        ("second", "x", None),
        ("second", "result", "second.linear"),
    ]
    first, *_, last = (finding.mismatch for finding in found.findings)
    assert first.expected == 'Float[Tensor, "b 2 width-1"]'
    assert first.reasons == ("dimension 2 of y is 6, but width-1 = 7, where width = 8 (from the config of the model)",)
    assert last.reasons == ("dimension 1 of result is 4, but width = 8 (from the config of second)",)


def test_a_tensor_that_another_module_returned_is_traced_to_it() -> None:
    found = run_of(lambda: nn.Sequential(nn.Linear(4, 6), Half(8)), "Float[2,4]")
    assert [finding.origin for finding in found.findings] == ["0"]
    assert found.failure is not None


def test_each_object_has_sizes_of_its_own() -> None:
    class First(nn.Module):
        def __init__(self, width: int) -> None:
            super().__init__()
            self.width = width

        def forward(self, x: Any) -> Any:
            return x[..., : self.width]

    forward: Any = First.forward
    forward.__annotations__ = {"return": jaxtyping.Float[Tensor, "*b width"]}
    found = run_of(lambda: nn.Sequential(First(8), First(4)), "Float[2,9]")
    assert (found.findings, found.compared) == ((), 2)
    found = run_of(lambda: nn.Sequential(First(4), First(8)), "Float[2,9]")
    assert [finding.path for finding in found.findings] == ["1"]


def test_unions_take_the_member_that_fits() -> None:
    class Either(nn.Module):
        def forward(self, x: Any, y: Any) -> Any:
            return x

    forward: Any = Either.forward
    Float: Any = jaxtyping.Float
    forward.__annotations__ = {
        "x": Float[Tensor, "b"] | Float[Tensor, "b c"],
        "y": Float[Tensor, "c"] | None,
        "return": Float[Tensor, "b"] | Float[Tensor, "b c+1"] | None,
    }
    found = run_of(Either, "Float[2,3], Float[3]")
    assert [(mismatch.name, mismatch.expected) for _, mismatch in mismatches(found)] == [
        ("result", 'Float[Tensor, "b"]')
    ]


def test_tuples_lists_and_dicts_are_looked_into() -> None:
    class Many(nn.Module):
        def forward(self, xs: Any, pairs: Any, named: Any) -> Any:
            return xs[0], xs[1]

    forward: Any = Many.forward
    item = jaxtyping.Float[Tensor, "b"]
    forward.__annotations__ = {
        "xs": list[item],
        "pairs": tuple[item, ...],
        "named": dict[str, item],
        "return": tuple[item],
    }
    found = run_of(Many, "xs: [Float[2], Float[3]], pairs: (Float[2], Float[4]), named: {'a': Float[5]}")
    assert [(mismatch.name, mismatch.got) for _, mismatch in mismatches(found)] == [
        ("xs[1]", "float32 [3]"),
        ("pairs[1]", "float32 [4]"),
        ("named['a']", "float32 [5]"),
        ("result", "a tuple of 2"),
    ]


def test_what_should_be_a_tensor_and_is_none_is_a_mismatch() -> None:
    class Nothing(nn.Module):
        def forward(self, x: Any) -> Any:
            return None

    forward: Any = Nothing.forward
    forward.__annotations__ = {"return": jaxtyping.Float[Tensor, "b"]}
    ((_, found),) = mismatches(run_of(Nothing, "Float[2]"))
    assert (found.name, found.got, found.reasons) == ("result", "None", ("it is not a tensor",))


def test_an_expression_that_has_no_value_says_why() -> None:
    with pytest.raises(UnknownSize, match="integer division or modulo by zero"):
        evaluate("width//zero", {"width": Binding(3, ""), "zero": Binding(0, "")})
    with pytest.raises(UnknownSize, match="is 1.5, not an integer"):
        evaluate("width/2", {"width": Binding(3, "")})


def test_a_tuple_without_shapes_is_left_to_type_checkers() -> None:
    class Loose(nn.Module):
        def forward(self, x: Tensor) -> tuple[Tensor]:
            return (x, x)  # type: ignore[return-value] # wrong on purpose

    assert run_of(Loose, "Float[2]").findings == ()
