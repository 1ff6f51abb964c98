"""Fields that hold a dict or a list of tensors; dicts with the same keys are alike in whatever order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from qten_gen import TensorClass, Unbatched, field, lifted
from qten_gen.runtime.tensorclass.processes.sharing import schema, tensors_by_path


class Layers(TensorClass):
    """Several tensors in a field, of every kind."""

    x: Tensor
    states: list[Tensor]
    heads: dict[str, Tensor] | None = None
    tables: Unbatched[dict[str, Tensor]] = field(default_factory=dict)
    codes: Unbatched[list[Tensor]] | None = None


class Heads(TensorClass):
    heads: dict[str, Tensor]


class Cast(TensorClass, autocast=True):
    heads: dict[str, Tensor]


def layers(*batch_size: int) -> Layers:
    return Layers(
        torch.rand(*batch_size, 3),
        [torch.rand(batch_size), torch.rand(*batch_size, 2)],
        {"kind": torch.rand(*batch_size, 5), "age": torch.rand(batch_size)},
        {"names": torch.arange(7.0)},
        batch_size=batch_size,
    )


ROWS: list[tuple[dict[str, Any], type[Exception], str]] = [
    (
        {"heads": {"age": 1}},
        TypeError,
        r"^Layers\.heads\['age'\]: expected a Tensor, got int 1; tensor_only=True on the class",
    ),
    ({"heads": {3: torch.ones(4)}}, TypeError, r"^Layers\.heads: expected names as keys, got int 3$"),
    ({"heads": [torch.ones(4)]}, TypeError, r"^Layers\.heads: expected a dict of Tensors, got a list$"),
    ({"states": torch.ones(4)}, TypeError, r"^Layers\.states: expected a list of Tensors, got a Tensor"),
    ({"states": None}, TypeError, r"^Layers\.states: expected a list of Tensors, got None$"),
    ({"states": [torch.ones(4), None]}, TypeError, r"^Layers\.states\[1\]: expected a Tensor, got None$"),
    (
        {"states": [torch.ones(3)]},
        ValueError,
        r"^Layers\.states\[0\]: expected a shape that starts with \[4\], got \[3\]$",
    ),
    ({"codes": [1]}, TypeError, r"^Layers\.codes\[0\]: expected a Tensor, got int 1; tensor_only=True on the class"),
]


@pytest.mark.parametrize(("changes", "error", "message"), ROWS)
def test_what_cannot_be_held_is_refused_by_field_and_key(
    changes: dict[str, Any], error: type[Exception], message: str
) -> None:
    value = layers(4)
    with pytest.raises(error, match=message):
        value.replace(**changes)
    ((name, given),) = changes.items()
    with pytest.raises(error, match=message):
        setattr(value, name, given)


def test_with_autocast_values_are_made_tensors() -> None:
    make: Any = Cast
    assert make({"age": [1, 2]}, batch_size=2).heads["age"].tolist() == [1, 2]


def test_objects_that_are_combined_have_the_same_keys() -> None:
    value = layers(4)
    combinations: list[Callable[[Layers], object]] = [
        lambda other: Layers.stack([value, other]),
        lambda other: Layers.cat([value, other]),
        lambda other: value + other,
        lambda other: value.__setitem__(slice(None), other),
    ]
    for combine in combinations:
        with pytest.raises(
            ValueError, match=r"^Layers\.heads: .* same keys in every object, got \['kind', 'age'\] and \['age'\]$"
        ):
            combine(value.replace(heads={"age": torch.ones(4)}))
        with pytest.raises(
            ValueError, match=r"^Layers\.states: expected the same number of tensors in .*, got 2 and 1$"
        ):
            combine(value.replace(states=[torch.ones(4)]))
        with pytest.raises(TypeError, match=r"^Layers\.heads: expected a value in every object or in none"):
            combine(value.replace(heads=None))


def test_a_message_about_keys_is_bounded() -> None:
    first, other = (Heads({f"{name}{key}": torch.ones(()) for key in range(9999)}) for name in ("age", "kind"))
    with pytest.raises(ValueError, match=r"got \['age0', .*\.\.\.\] and \['kind0', .*\.\.\.\]$") as error:
        Heads.stack([first, other])
    assert len(str(error.value)) < 200


def test_tensors_that_the_batch_does_not_carry_are_the_same_in_all_objects() -> None:
    value = layers(4)
    assert Layers.stack([value, value.clone()]).tables is value.tables
    with pytest.raises(ValueError, match=r"^Layers\.tables\['names'\] is the same for a whole batch, but differs"):
        Layers.stack([value, value.replace(tables={"names": torch.zeros(7)})])
    with pytest.raises(ValueError, match=r"^Layers\.tables: expected the same keys in every object"):
        Layers.stack([value, value.replace(tables={})])


def test_an_object_is_shown_with_the_shapes() -> None:
    assert "    states=[float32[4], float32[4, 2]],\n" in repr(layers(4))
    assert "    heads={'kind': float32[4, 5], 'age': float32[4]},\n" in repr(layers(4))


class Outputs(TensorClass):
    logits: dict[str, Tensor]


class Model(TensorClass):
    heads: Outputs
    x: Tensor


def models(*, requires_grad: bool = False) -> tuple[Model, Model]:
    """Two objects whose dicts have their keys in different orders."""
    keys = ("a", "b"), ("b", "a")
    made = [
        Model(
            Outputs({key: torch.rand(2, 3) for key in order}, batch_size=2).requires_grad_(requires_grad),
            torch.rand(2),
            batch_size=2,
        )
        for order in keys
    ]
    return made[0], made[1]


COMBINED: dict[str, Callable[[Model, Model], Model]] = {
    "add": lambda left, right: left + right,
    "copy_": lambda left, right: left.clone().copy_(right) + left,
    "where": lambda left, right: left.where(torch.ones(2, dtype=torch.bool), right) + right,
    "lerp": lambda left, right: lifted(torch.lerp)(left, right, torch.tensor(0.5)) * 2,
}


@pytest.mark.parametrize("name", COMBINED)
def test_operations_pair_tensors_by_key(name: str) -> None:
    left, right = models()
    found = COMBINED[name](left, right).heads.logits
    for key in ("a", "b"):
        torch.testing.assert_close(found[key], left.heads.logits[key] + right.heads.logits[key])


def test_a_stack_pairs_tensors_by_key() -> None:
    left, right = models()
    for key, tensor in Model.stack([left, right]).heads.logits.items():
        assert tensor.equal(torch.stack([left.heads.logits[key], right.heads.logits[key]]))


def test_torch_takes_gradients_by_key() -> None:
    left, gradient = models(requires_grad=True)
    grad: Any = torch.autograd.grad  # torch's own types know tensors only
    found = grad(left.heads * 1, left.heads, gradient.heads)
    for key in ("a", "b"):
        assert found[0].logits[key].equal(gradient.heads.logits[key])


def test_processes_send_tensors_in_one_order() -> None:
    left, right = models()
    assert [*tensors_by_path(left)] == [*tensors_by_path(right)] == ["heads.logits.a", "heads.logits.b", "x"]
    assert tensors_by_path(right)["heads.logits.a"] is right.heads.logits["a"]
    assert schema("sum", left) == schema("sum", right)
