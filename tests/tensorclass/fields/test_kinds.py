"""What the class flags and the annotation of a field decide; numbers, whose annotation decides the dtype."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

import numpy
import pytest
import torch
from torch import Tensor

from qten_gen import DeclarationError, TensorClass
from tests.tensorclass.declared import Point, point

T = TypeVar("T", bound=str)


class Default(TensorClass):
    number: int
    rate: float | None = None


class Cast(TensorClass, autocast=True):
    x: Tensor
    point: Point
    number: int = 0
    rate: float = 1.0
    name: str | None = None


class Dense(TensorClass, tensor_only=True):
    x: Tensor
    number: int = 0
    table: dict[str, Tensor] | None = None


class Pair(TensorClass, Generic[T]):
    left: Tensor
    extra: T


class Shadowing(TensorClass, shadow=True):
    """Fields called like methods."""

    split: Tensor  # type: ignore[assignment] # this is what `shadow` is for
    to: Tensor  # type: ignore[assignment] # the same
    items: Tensor  # type: ignore[assignment] # the same
    reshape: str = ""  # type: ignore[assignment] # the same


class Open(TensorClass, open=True):
    x: Tensor


def test_a_number_field_takes_tensors_and_nothing_else() -> None:
    maker: Any = Default
    assert maker(torch.ones(2), batch_size=2).number.tolist() == [1, 1]
    with pytest.raises(TypeError, match=r"^Default\.number: expected a Tensor, got str '3'$"):
        maker("3")
    with pytest.raises(ValueError, match=r"Default\.number: expected a shape that starts with \[3\]"):
        maker(torch.ones(2), batch_size=3)


def test_with_autocast_values_become_what_the_annotation_says() -> None:
    given: Any = {"x": [1.0, 2.0], "number": torch.tensor(3.7), "rate": 2, "name": 4}
    given["point"] = {"position": torch.zeros(2), "weight": torch.ones(2)}
    value = Cast(**given, batch_size=2)
    assert torch.equal(value.x, torch.tensor([1.0, 2.0]))
    assert (value.number, value.rate, value.name) == (3, 2.0, "4")
    assert type(value.rate) is float
    assert type(value.point) is Point
    assert value.point.batch_size == (2,)
    written: Any = value
    written.number = "12"
    written.x = [3, 4]
    assert value.number == 12
    assert value.x.tolist() == [3, 4]


def test_with_autocast_what_cannot_be_converted_is_refused() -> None:
    maker: Any = Cast
    with pytest.raises(TypeError, match=r"^Cast\.number: cannot convert str 'ten' to int: invalid literal"):
        maker(torch.zeros(2), point(2), "ten", batch_size=2)
    with pytest.raises(TypeError, match=r"^Cast\.x: cannot make a Tensor of a dict"):
        maker({}, point(2), batch_size=2)


def test_with_tensor_only_what_is_not_a_tensor_is_refused() -> None:
    maker: Any = Dense
    with pytest.raises(TypeError, match=r"^Dense\.x: cannot make a Tensor of str 'text'"):
        maker("text")
    with pytest.raises(TypeError, match=r"^Dense\.x: expected a Tensor, got None$"):
        maker(None)


def test_an_unknown_flag_is_refused_also_where_it_is_off() -> None:
    with pytest.raises(DeclarationError, match=r"QG104 \[unknown-flag\]: TensorClass has no flag 'bogus'"):

        class Misspelled(TensorClass, bogus=False):  # pyright: ignore[reportGeneralTypeIssues] # what the test is about
            x: Tensor


def test_a_flag_is_true_or_false() -> None:
    with pytest.raises(TypeError, match="^the flag 'frozen' must be a bool, got 'yes'$"):

        class Sometimes(TensorClass, frozen="yes"):  # type: ignore[literal-required] # what the test is about
            x: Tensor


def test_a_generic_class_is_one_class() -> None:
    value = Pair[str](torch.zeros(2), "a", batch_size=2)
    assert type(value) is Pair
    assert value[0].extra == "a"


def test_fields_may_shadow_methods_where_the_class_says_so() -> None:
    value = Shadowing(torch.ones(4), torch.ones(4), torch.ones(4), "s", batch_size=4)
    assert value[1:].split.shape == (3,)
    assert value.replace(reshape="t").reshape == "t"
    assert [item.to for item in value] == [1, 1, 1, 1]
    assert (value + value).items.tolist() == [2, 2, 2, 2]


def test_an_open_class_takes_undeclared_attributes() -> None:
    value: Any = Open(torch.zeros(2), batch_size=2)
    value.note = "kept by this object only"
    assert value.note
    assert not hasattr(value[0], "note")


class Step(TensorClass):
    reward: float
    done: bool = 0  # type: ignore[assignment] # 0 and 1 are booleans
    count: int = 0
    phase: complex = 0
    either: int | float = 0
    maybe: float | None = None


DTYPES = {
    "reward": torch.float32,
    "done": torch.bool,
    "count": torch.int64,
    "phase": torch.complex64,
    "either": torch.float32,
    "maybe": torch.float32,
}
WIDTHS = {"done": 0, "count": 1, "reward": 2, "either": 2, "maybe": 2, "phase": 3}
"""How wide a number a field takes: a bool, an int, a float or a complex one."""
VALUES: list[tuple[int, Any]] = [
    (0, True),
    (0, 0),
    (0, numpy.bool_(True)),
    (0, numpy.int64(1)),
    (0, numpy.array(1)),
    (1, 7),
    (1, numpy.int64(7)),
    (1, numpy.uint8(7)),
    (2, 0.5),
    (2, numpy.float32(0.5)),
    (2, numpy.float64(0.5)),
    (2, numpy.array(0.5)),
    (3, 1j),
    (3, numpy.complex64(1j)),
]


@pytest.mark.parametrize("name", DTYPES)
@pytest.mark.parametrize(("width", "value"), VALUES)
def test_the_annotation_decides_the_dtype(name: str, width: int, value: Any) -> None:
    if width > WIDTHS[name]:
        with pytest.raises(
            TypeError, match=rf"^Step\.{name}: expected an? \w+, got .*; pass a Tensor, or change the annot"
        ):
            Step(**{"reward": 0.0, name: value}, batch_size=2)
        return
    built = Step(**{"reward": 0.0, name: value}, batch_size=2)
    assigned = Step(0.0, batch_size=2)
    setattr(assigned, name, value)
    for step in (built, assigned):
        found = getattr(step, name)
        assert found.dtype == DTYPES[name]
        assert found.shape == (2,)
        assert (found == torch.full((2,), complex(value))).all()


def test_later_writes_are_not_truncated_and_a_tensor_keeps_its_dtype() -> None:
    step: Any = Step(0, batch_size=2)
    step.reward[0] = 0.5
    assert step.reward.tolist() == [0.5, 0.0]
    kept: Any = Step(torch.zeros(2, dtype=torch.int32), batch_size=2)  # type: ignore[arg-type] # a tensor for a number
    assert kept.reward.dtype == torch.int32


def test_anything_else_is_refused_and_by_torch_a_number_that_is_too_large() -> None:
    wrong: list[Any] = ["a", [1.0], numpy.ones(2), numpy.datetime64("2020-01-01"), None]
    large: list[Any] = [2**63, 2**70, -(2**63) - 1, numpy.uint64(2**63)]
    for value in wrong:
        with pytest.raises(TypeError, match=r"^Step\.reward: expected a Tensor, got"):
            Step(value, batch_size=2)
    for value in large:
        with pytest.raises((RuntimeError, OverflowError)):
            Step(0, count=value)
