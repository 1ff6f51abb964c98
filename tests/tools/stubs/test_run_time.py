"""The stubs of torch.nn against torch itself: the same names, and each registered tensor with its type."""

from __future__ import annotations

import ast
import inspect
import types
from collections.abc import Callable, Iterator
from typing import cast

import pytest
import torch
from torch import nn

from qten_gen.read.bindings import statements

from .planned import bound, statement

CLASSES = sorted(
    (cls for cls in vars(nn).values() if isinstance(cls, type) and issubclass(cls, nn.Module)), key=lambda c: c.__name__
)

ARGUMENTS: dict[str, object] = {
    "kernel_size": 1,
    "lower": 0.0,
    "upper": 1.0,
    "threshold": 0.5,
    "value": 0.5,
    "cutoffs": [2],
    "normalized_shape": 4,
    "unflattened_size": (2, 2),
    "output_size": (1, 1),
    "encoder_layer": nn.TransformerEncoderLayer(4, 2, device="meta"),
    "decoder_layer": nn.TransformerDecoderLayer(4, 2, device="meta"),
    "module": nn.Identity(),
    "nhead": 2,
    "num_heads": 2,
    "num_groups": 2,
    "upscale_factor": 2,
    "downscale_factor": 2,
    "output_ratio": (0.5, 0.5),
}
"""Arguments for parameters without a default; others are 4."""

OTHERS: dict[type, dict[str, object]] = {
    nn.FractionalMaxPool2d: {"output_size": 1},
    nn.FractionalMaxPool3d: {"output_size": 1},
}

ELSEWHERE = {nn.DataParallel}
"""Wraps a module, and looks for CUDA devices."""

UNSAID = {nn.RNNBase, nn.RNN, nn.LSTM, nn.GRU}
"""Their parameters are called after the numbers of layers, which only an object has."""

LAZY = "UninitializedParameter"
"""What torch says of the bias of lazy modules, with `bias=False` too."""

VARIED = ("bias", "affine", "elementwise_affine", "track_running_stats", "add_bias_kv", "kdim")


def arguments(cls: type) -> Iterator[dict[str, object]]:
    """Keyword arguments for a class: those that it requires, and these with each switch turned."""
    parameters = inspect.signature(cls).parameters
    required = {
        name: ARGUMENTS.get(name, 4)
        for name, parameter in parameters.items()
        if parameter.default is parameter.empty and parameter.kind is parameter.POSITIONAL_OR_KEYWORD
    }
    required |= OTHERS.get(cls, {})
    yield required
    for name in VARIED:
        if name in parameters:
            default = parameters[name].default
            yield {**required, name: not default if isinstance(default, bool) else 3}


def made(cls: type[nn.Module]) -> Iterator[nn.Module]:
    """Objects of a class, on the meta device."""
    if issubclass(cls, nn.RNNBase):
        given: tuple[str | int, ...] = ("LSTM", 4, 4) if cls is nn.RNNBase else (4, 4)
        make = cast("Callable[..., nn.Module]", cls)
        yield make(*given, device="meta")
        return
    with torch.device("meta"):
        for named in arguments(cls):
            yield cls(**named)


def said(cls: type, name: str) -> str | None:
    """What the stub says of an attribute: its annotation, "inferred" where a method assigns it, or None."""
    inferred = None
    for base in cls.__mro__:
        if base is nn.Module or not base.__module__.startswith("torch.nn."):
            break
        node = statement(base.__module__, base.__name__)
        for item in statements(node.body):
            if isinstance(item, ast.AnnAssign) and ast.unparse(item.target) == name:
                return ast.unparse(item.annotation)
        for inner in ast.walk(node):
            if isinstance(inner, ast.AnnAssign) and ast.unparse(inner.target) == f"self.{name}":
                return ast.unparse(inner.annotation)
        if any(
            isinstance(one, ast.Attribute) and isinstance(one.ctx, ast.Store) and one.attr == name
            for one in ast.walk(node)
        ):
            inferred = "inferred"
    return inferred


def admits(type: str, value: torch.Tensor | None) -> bool:
    """Whether a value is of a type in the text of a stub."""
    if value is None:
        return type.endswith(("| None", "| _types.Any")) or type.startswith("Optional[")
    names = {
        "_types.Tensor",
        "Tensor",
        "torch.Tensor",
        *(["_types.Parameter", "Parameter"] if isinstance(value, nn.Parameter) else []),
    }
    names |= {"UninitializedParameter", "UninitializedBuffer"} if torch.nn.parameter.is_lazy(value) else set()
    return any(part.strip() in names for part in type.removeprefix("Optional[").removesuffix("]").split("|"))


@pytest.mark.parametrize("cls", [cls for cls in CLASSES if cls not in ELSEWHERE], ids=lambda cls: cls.__name__)
@pytest.mark.filterwarnings("ignore")
def test_every_registered_tensor_is_of_the_type_that_the_stub_says(cls: type[nn.Module]) -> None:
    wrong = []
    for module in made(cls):
        for name, value in {**module._parameters, **module._buffers}.items():
            type = said(cls, name)
            if (type is None and cls in UNSAID) or (type == LAZY and value is None):
                continue
            if (
                type is None
                or (type == "inferred" and value is None)
                or (type != "inferred" and not admits(type, value))
            ):
                wrong.append((name, type, value))
    assert wrong == []


def test_the_stub_has_the_public_names_of_torch_nn_and_no_others() -> None:
    assert len(CLASSES) > 150
    at_run_time = {name for name in vars(nn) if not name.startswith("_")}
    submodules = {name for name in at_run_time if isinstance(getattr(nn, name), types.ModuleType)}
    in_stub = {name for name in bound("torch.nn") if not name.startswith("_")}
    assert at_run_time - in_stub - submodules == set()
    assert in_stub - at_run_time == set()
