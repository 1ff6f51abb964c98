"""The memory that training needs: parameters, gradients, states of optimizers, and what autograd keeps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import cast

import torch
from torch import Tensor, nn

from ...common.suggestions import did_you_mean
from ...large_models.fake.context import fake_mode
from ...large_models.fake.errors import FakeTensorError
from .arguments import call
from .config_types import Text
from .model_tree import ModuleEntry, TensorEntry
from .request import InspectionError
from .runs import Run
from .totals import Totals
from .user_errors import describe

USUAL = ("adamw", "sgd")
"""The optimizers that are counted if the user names none."""

_UNCOUNTABLE = {
    "lbfgs": "it calls the model itself, and keeps as many past gradients as it has made steps",
    "sparseadam": "it takes sparse gradients only",
}
"""Optimizers of torch that one step with a dense gradient says nothing about, and why."""


@dataclass(frozen=True, slots=True)
class Memory:
    """Memory in bytes, by what it is for."""

    parameters: int
    buffers: int
    """Of buffers and other tensors."""
    gradients: int
    """One for each parameter that requires a gradient, of its dtype."""
    optimizers: tuple[tuple[str, int], ...]
    """Each optimizer that was asked for, with its states after the first step."""
    activations: int | None
    """What autograd keeps between forward and backward; None without a run."""


def memory_of(tree: ModuleEntry, totals: Totals, run: Run | None, optimizers: tuple[str, ...]) -> Memory:
    """The memory of training a model.

    Raises:
        InspectionError: torch has no such optimizer, or it refuses its arguments.
    """
    trained = [
        entry
        for entry in tree.all_tensors()
        if entry.kind == "parameter" and entry.requires_grad and entry.is_initialised
    ]
    unique = [entry for entry in trained if entry.tied_to is None]
    return Memory(
        parameters=totals.parameters.bytes,
        buffers=totals.buffers.bytes + totals.attributes.bytes,
        gradients=sum(entry.elements * dtype_of(entry).itemsize for entry in unique),
        optimizers=tuple((spec, _state_bytes(spec, unique)) for spec in optimizers or USUAL),
        activations=None if run is None or run.failure is not None else run.activation_bytes,
    )


def dtype_of(entry: TensorEntry) -> torch.dtype:
    """The dtype of a tensor."""
    found = getattr(torch, entry.dtype)
    assert isinstance(found, torch.dtype)
    return found


def _state_bytes(spec: str, entries: list[TensorEntry]) -> int:
    """The memory of an optimizer's states: it takes one step for each kind of parameter, on fakes."""
    make = _optimizer(spec)
    kinds = Counter((entry.shape, dtype_of(entry), entry.device) for entry in entries)
    return sum(count * _after_a_step(spec, make, *kind) for kind, count in kinds.items())


def _optimizer(spec: str) -> Callable[[list[nn.Parameter]], torch.optim.Optimizer]:
    """The optimizer that `sgd:momentum=0.9,nesterov=true` means, to be given parameters."""
    name, _, options = spec.partition(":")
    known = {
        key.lower(): value
        for key, value in vars(torch.optim).items()
        if isinstance(value, type) and issubclass(value, torch.optim.Optimizer) and value is not torch.optim.Optimizer
    }
    refused = _UNCOUNTABLE.get(name.lower())
    if refused is not None:
        raise InspectionError([f"--optimizer {spec}: its states cannot be counted: {refused}"])
    known = {key: value for key, value in known.items() if key not in _UNCOUNTABLE}
    if name.lower() not in known:
        advice = did_you_mean(name.lower(), known, f"torch.optim has {', '.join(sorted(known))}")
        raise InspectionError([f"--optimizer {spec}: there is no optimizer {name}; {advice}"])
    tree: dict[str, object] = {}
    for option in filter(None, options.split(",")):
        key, equals, value = option.partition("=")
        if not equals:
            raise InspectionError([f"--optimizer {spec}: expected NAME=VALUE after the colon, got {option!r}"])
        tree[key] = Text(value)
    kind = known[name.lower()]
    try:
        _, keywords = call(partial(kind, ()), tree)
    except InspectionError as error:
        raise InspectionError(
            [f"--optimizer {spec}: {problem.partition(': ')[2]}" for problem in error.problems]
        ) from None
    return partial(cast("Callable[..., torch.optim.Optimizer]", kind), **keywords)


def _after_a_step(
    spec: str,
    make: Callable[[list[nn.Parameter]], torch.optim.Optimizer],
    shape: tuple[int, ...],
    dtype: torch.dtype,
    device: str,
) -> int:
    """The memory of the states for one parameter. Outside of fake mode, the counter of steps is a real number, which is read."""
    with fake_mode(fake_cuda=True):
        parameter = nn.Parameter(torch.empty(shape, dtype=dtype, device=device))
        parameter.grad = torch.empty_like(parameter)
    try:
        optimizer = make([parameter])
        try:
            optimizer.step()
        except FakeTensorError:  # one that reads values has made its states before
            pass
    except Exception as error:  # a check of the optimizer: a wrong learning rate, a shape that it does not take
        where = f"for a parameter of shape {list(shape)}"
        raise InspectionError([f"--optimizer {spec}: it raised {describe(error)} {where}"]) from None
    return sum(tensor.numel() * tensor.element_size() for tensor in _tensors(optimizer.state[parameter]))


def _tensors(state: dict[str, object]) -> Iterator[Tensor]:
    for value in state.values():
        if isinstance(value, Tensor):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from (part for part in value if isinstance(part, Tensor))
