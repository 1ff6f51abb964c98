"""`as_tensordict`: an object as a TensorDict that reads and writes its fields."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from qten_gen import PerItem, TensorClass, Unbatched

tensordict = pytest.importorskip("tensordict", reason="a view is a TensorDict, which needs tensordict")
from tensordict import TensorDict, is_tensor_collection  # noqa: E402
from tensordict.nn import (  # noqa: E402
    ProbabilisticTensorDictModule,
    ProbabilisticTensorDictSequential,
    TensorDictModule,
    TensorDictSequential,
)


class Next(TensorClass):
    obs: Tensor
    reward: Tensor | None = None


class Step(TensorClass):
    """A field of every kind."""

    obs: Tensor
    next: Next
    action: Tensor | None = None
    loc: Tensor | None = None
    scale: Tensor | None = None
    kind: str = "train"
    names_of_items: PerItem[str] | None = None
    states: dict[str, Tensor] | None = None
    layers: list[Tensor] | None = None
    table: Unbatched[Tensor] | None = None
    info: TensorDict | None = None


class Fixed(TensorClass, frozen=True):
    obs: Tensor


def step(count: int = 4) -> Step:
    return Step(
        torch.randn(count, 3),
        Next(torch.randn(count, 3), batch_size=count),
        names_of_items=[str(at) for at in range(count)],  # type: ignore[arg-type] # converted
        states={"a": torch.ones(count)},
        layers=[torch.ones(count)],
        table=torch.ones(7),
        info=TensorDict(z=torch.zeros(count), batch_size=[count]),
        batch_size=count,
        names=["time"],
    )


def test_a_view_is_a_tensordict_of_the_fields_that_are_not_none() -> None:
    batch = step()
    view = batch.as_tensordict()

    assert type(view) is TensorDict
    assert is_tensor_collection(view)
    assert (view.batch_size, view.names, view.device) == (batch.batch_size, ["time"], None)
    assert {*view.keys()} == {"obs", "next", "kind", "names_of_items", "states", "layers", "table", "info"}
    assert view["obs"] is batch.obs
    assert view["next", "obs"] is batch.next.obs
    assert view["info"] is batch.info
    assert (view["kind"], view[1]["names_of_items"], view["layers", "0"]) == ("train", "1", batch.layers[0])  # type: ignore[index]


def test_what_is_written_in_place_is_in_the_object() -> None:
    batch = step()
    view = batch.as_tensordict()
    view["obs"].zero_()
    view.set_("next", view["next"].clone().zero_())
    view[0] = view[0].apply(lambda tensor: tensor + 1)

    assert batch.obs.sum() == 3
    assert batch.next.obs.sum() == 3


def test_what_is_set_is_in_the_object_and_checked_by_it() -> None:
    batch = step()
    view = batch.as_tensordict()
    view["next", "reward"] = torch.ones(4)
    view["states", "b"] = torch.zeros(4)
    view["layers", "1"] = torch.zeros(4)
    view["info", "y"] = torch.ones(4)
    view["kind"] = "test"
    view.update({"action": torch.ones(4, 2)})

    assert batch.next.reward is not None
    assert batch.action is not None
    assert batch.states is not None
    assert batch.layers is not None
    assert ([*batch.states], len(batch.layers), batch.kind) == (["a", "b"], 2, "test")
    assert batch.info is not None
    assert batch.info["y"].sum() == 4
    with pytest.raises(TypeError, match=r"Next.from_tensordict: no field 'other'"):
        view["next"] = TensorDict(other=torch.ones(4), batch_size=[4])


def test_what_is_set_in_the_object_is_in_the_view() -> None:
    batch = step()
    view = batch.as_tensordict()
    batch.action = torch.ones(4)
    batch.kind = "test"
    batch.next = Next(torch.zeros(4, 3), batch_size=4)

    assert view["action"] is batch.action
    assert view["kind"] == "test"
    assert view["next", "obs"] is batch.next.obs


def test_a_key_that_is_not_a_field_stays_in_the_view() -> None:
    batch = step()
    view = batch.as_tensordict()
    view["hidden"] = torch.ones(4)

    assert "hidden" in view.keys()
    assert "hidden" not in batch.as_tensordict().keys()
    del view["hidden"]
    assert "hidden" not in view.keys()


def test_a_key_can_be_deleted_where_the_field_is_optional() -> None:
    batch = step()
    view = batch.as_tensordict()
    del view["states"]

    assert batch.states is None
    with pytest.raises(TypeError, match=r"Step.obs cannot be deleted: it is not optional"):
        del view["obs"]


@pytest.mark.parametrize("batch", [step().lock_(), Fixed(torch.ones(4), batch_size=4)], ids=["locked", "frozen"])
def test_the_view_of_an_object_that_cannot_change_is_locked(batch: Any) -> None:
    view = batch.as_tensordict()

    assert view.is_locked
    with pytest.raises(RuntimeError):
        view["obs"] = torch.zeros(4, 3)


def test_an_object_is_made_of_its_view_without_a_copy() -> None:
    batch = step()
    again = Step.from_tensordict(batch.as_tensordict())

    assert again.obs is batch.obs
    assert again.next.obs is batch.next.obs
    assert (again.kind, again.names, again.info is batch.info) == ("train", ("time",), True)


CALLS: dict[str, Callable[[Any], object]] = {
    "index": lambda td: td[1:],
    "clone": lambda td: td.clone(),
    "reshape": lambda td: td.exclude("info").reshape(2, 2),
    "stack": lambda td: torch.stack([td, td]),
    "cat": lambda td: torch.cat([td, td]),
    "split": lambda td: td.split(2)[1],
    "select": lambda td: td.select("obs", ("next", "obs")),
    "exclude": lambda td: td.exclude("kind"),
    "flatten": lambda td: td.flatten_keys("."),
    "apply": lambda td: td.apply(lambda tensor: tensor * 2),
    "to": lambda td: td.to(torch.float64),
    "add": lambda td: td.select("obs", "next") + 1,
    "dict": lambda td: td.select("obs", "next").to_dict(),
    "copy": lambda td: copy.copy(td),
    "deepcopy": lambda td: copy.deepcopy(td),
    "pickle": lambda td: pickle.loads(pickle.dumps(td)),
}


def shown(value: Any) -> object:
    """A TensorDict as plain values."""
    if isinstance(value, Tensor):
        return value.dtype, value.tolist()
    if isinstance(value, dict):
        return {key: shown(item) for key, item in value.items()}
    if hasattr(value, "keys"):
        return tuple(value.batch_size), value.names, {key: shown(value[key]) for key in sorted(value.keys())}
    return str(value)


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_view_is_what_the_tensordict_of_the_object_is(call: Callable[[Any], object]) -> None:
    batch = step()
    batch.names = None

    assert shown(call(batch.as_tensordict())) == shown(call(batch.to_tensordict(retain_none=False)))


def test_the_parts_of_a_view_have_its_names() -> None:
    assert step().as_tensordict()["next"].names == ["time"]


def test_modules_of_tensordict_write_their_results_into_the_object() -> None:
    batch = step()
    actor = ProbabilisticTensorDictSequential(
        TensorDictSequential(
            TensorDictModule(nn.Linear(3, 4), ["obs"], ["hidden"]),
            TensorDictModule(lambda hidden: (hidden[:, :2], hidden[:, 2:].exp()), ["hidden"], ["loc", "scale"]),
        ),
        ProbabilisticTensorDictModule(["loc", "scale"], ["action"], distribution_class=torch.distributions.Normal),
    )
    actor(batch.as_tensordict())

    assert batch.action is not None
    assert batch.loc is not None
    assert batch.action.shape == batch.loc.shape == (4, 2)
    (gradient,) = torch.autograd.grad(batch.loc.sum(), [next(actor.parameters())])
    assert gradient.shape == (4, 3)


def test_a_gradient_flows_through_a_view() -> None:
    batch = step().requires_grad_()
    (gradient,) = torch.autograd.grad(batch.as_tensordict()["next", "obs"].square().sum(), [batch.next.obs])

    assert torch.equal(gradient, 2 * batch.next.obs)


def test_a_tensordict_that_is_given_an_object_says_what_to_write() -> None:
    batch = Next(torch.ones(2), batch_size=2)

    with pytest.raises(
        AttributeError, match=r"a Next has one array for each field, and no dtype; .* write .as_tensordict\(\)"
    ):
        TensorDict(p=batch, batch_size=[2])
    held = TensorDict(p=batch.as_tensordict(), batch_size=[2])
    assert held["p", "obs"] is batch.obs
