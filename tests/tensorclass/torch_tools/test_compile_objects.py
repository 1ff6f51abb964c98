"""What an object knows beside its fields, in functions that torch compiles without a break in the graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from ..declared import Batch, Flat, batch, flat, tensors

FUNCTIONS: dict[str, Callable[[Flat], Any]] = {
    "construct": lambda value: Flat(value.x, value.y, batch_size=4, names=["time"], lock=True),
    "lock": lambda value: value.clone().lock_(),
    "names": lambda value: value.refine_names("time").rename(time="step").unsqueeze(0),
    "dimension by name": lambda value: value.refine_names("time").unbind("time")[0],
    "set": lambda value: value.clone().set("x", torch.zeros(4)),
    "write": lambda value: value.clone().set_("x", 1).set_at_("y", 2, 0).update_({"y": value.y + 1}),
    "copy": lambda value: value.clone().copy_(value * 2),
    "get_at": lambda value: value.get_at("x", [0, 2]),
    "leaves": lambda value: value.values(True, True),
    "metadata": lambda value: value * value.numel() if value.is_cpu and value.dtype is torch.float32 else value,
    "auto_batch_size_": lambda value: value.to(batch_size=()).auto_batch_size_(),
    "cast_filter": lambda value: value.to(torch.int32, cast_filter=lambda tensor: tensor.dim() == 1),
    "data": lambda value: value.data,
}


def seen(result: Any) -> list[Any]:
    """What is compared of a result."""
    if isinstance(result, Flat):
        return [result.batch_size, result.names, result.is_locked, *(t.tolist() for t in tensors(result).values())]
    return [tensor.tolist() for tensor in (result if isinstance(result, tuple) else [result])]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_compiled_function_does_what_the_function_does(name: str) -> None:
    torch._dynamo.reset()
    value = flat(4)
    compiled = torch.compile(FUNCTIONS[name], fullgraph=True, backend="eager")
    assert seen(compiled(value)) == seen(FUNCTIONS[name](value))


def test_nested_fields_are_updated_in_a_compiled_function() -> None:
    torch._dynamo.reset()

    def fill(value: Batch) -> Batch:
        return value.clone().update_({("point", "weight"): 3}).update({"mask": None})

    compiled = torch.compile(fill, fullgraph=True, backend="eager")(batch(4))
    assert (compiled.point.weight.tolist(), compiled.mask) == ([3, 3, 3, 3], None)
