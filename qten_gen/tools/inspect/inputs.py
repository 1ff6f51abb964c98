"""Evaluates the inputs of a run, `tokens: Int[4,2048], mask: Bool[4,2048]`, on fake tensors.

Inputs are written like the parameters of a Python function, and each is an expression. The config of the model has names in it,
`x: Float[4, 128, width]`, and so have TensorClasses: `batch: Batch(tokens=Int[4,128], batch_size=[4])`.
"""

from __future__ import annotations

import ast
import builtins
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile

import torch
from torch import Tensor, nn

from ...common.suggestions import did_you_mean
from ...model.array_shapes import DTYPES
from .named_sizes import config_sizes
from .request import InspectionError
from .targets import WORDS
from .user_code import describe

_DEFAULTS = {"Int": torch.int64, "Integer": torch.int64, "UInt": torch.uint8, "Complex": torch.complex64}
"""The dtypes of names that stand for several; the others mean the dtype of the model."""

_OF_THE_MODEL = ("Float", "Inexact", "Real", "Num", "Shaped")


@dataclass(frozen=True, slots=True)
class Inputs:
    """The arguments of forward."""

    args: tuple[object, ...]
    keywords: Mapping[str, object]


class _Unfit(Exception):
    """An input that cannot be made; the text says why."""


def make_inputs(
    texts: Sequence[str], model: nn.Module, device: torch.device, class_of: Callable[[str], type | None]
) -> Inputs:
    """The fake tensors and other values that the texts describe; called in fake mode.

    Args:
        texts: The inputs, one or several in each text.
        model: Its config gives the sizes of names, and its first floating parameter the dtype of `Float`.
        device: Where the tensors are.
        class_of: The TensorClass of a name.

    Raises:
        InspectionError: a text cannot be read; all such problems.
    """
    names = _Names(model, device, class_of)
    args: list[object] = []
    keywords: dict[str, object] = {}
    problems: list[str] = []
    for text in texts:
        label = text
        try:
            for name, node in _parsed(text):
                label = name or f"input {len(args) + 1}"
                value = eval(compile(ast.Expression(node), "--run", "eval"), names)
                if isinstance(value, _Shaped):
                    raise _Unfit(f"it has no shape: write {ast.unparse(node)}[4, 128]")
                if name in keywords:
                    raise _Unfit("given twice")
                if name is None:
                    args.append(value)
                else:
                    keywords[name] = value
        except _Unfit as error:
            problems.append(f"--run {label}: {error}")
        except Exception as error:  # whatever an expression raises
            problems.append(f"--run {label}: {describe(error)}")
    if problems:
        raise InspectionError(problems)
    return Inputs(tuple(args), keywords)


def _floating(model: nn.Module) -> torch.dtype:
    found = (tensor.dtype for tensor in model.parameters() if tensor.is_floating_point())
    return next(found, torch.get_default_dtype())


_EXPECTED = "expected inputs such as 'tokens: Int[4, 2048], mask: Bool[4, 2048]'"


def _parsed(text: str) -> list[tuple[str | None, ast.expr]]:
    """The inputs of a text, each with its name if it has one. Python reads `name: value` in brackets as a slice."""
    inputs = re.sub(r"(\w)\[\s*\]", r"\1[()]", text.strip().removesuffix(","))
    if not inputs:
        return []
    try:
        found = ast.parse(f"_[{inputs},]", mode="eval").body
    except SyntaxError:
        raise _Unfit(_EXPECTED) from None
    if not (isinstance(found, ast.Subscript) and isinstance(found.slice, ast.Tuple)):
        raise _Unfit(_EXPECTED)
    parsed = [_named(node) for node in found.slice.elts]
    names = [name for name, _ in parsed]
    if None in names[len(list(takewhile(lambda name: name is None, names))) :]:
        raise _Unfit("an input without a name stands after one with a name")
    return parsed


def _named(node: ast.expr) -> tuple[str | None, ast.expr]:
    """An input with its name, None for one without."""
    match node:
        case ast.Slice(lower=ast.Name(id=name), upper=ast.expr() as value, step=None):
            return name, value
        case ast.Slice():
            raise _Unfit(_EXPECTED)
    return None, node


class _Shaped:
    """A dtype, which sizes make a tensor of: `Int[4, 128]`."""

    def __init__(self, dtype: torch.dtype, device: torch.device) -> None:
        self._dtype = dtype
        self._device = device

    def __getitem__(self, sizes: int | tuple[int, ...]) -> Tensor:
        shape = sizes if isinstance(sizes, tuple) else (sizes,)
        make = torch.empty if self._dtype.is_floating_point or self._dtype.is_complex else torch.zeros
        return make(shape, dtype=self._dtype, device=self._device)


class _Names(dict[str, object]):
    """The meanings of names in an input: the config of the model, dtypes, and TensorClasses beside the model."""

    def __init__(self, model: nn.Module, device: torch.device, class_of: Callable[[str], type | None]) -> None:
        super().__init__({**WORDS, **{name: size.value for name, size in config_sizes(model, "").items()}})
        self._floating = _floating(model)
        self._device = device
        self._class_of = class_of

    def __missing__(self, name: str) -> object:
        dtype = dtype_of(name, self._floating)
        found: object = _Shaped(dtype, self._device) if dtype is not None else self._class_of(name)
        if found is None and hasattr(builtins, name):
            raise KeyError(name)
        found = found or sys.modules.get(name)
        if found is None:
            known = (*_DEFAULTS, *_OF_THE_MODEL, *DTYPES, *self)
            raise _Unfit(
                f"{name} is not known; {did_you_mean(name, known, 'use Float, Int, or a TensorClass beside the model')}"
            )
        return found


def dtype_of(name: str, floating: torch.dtype) -> torch.dtype | None:
    """The dtype that a name of jaxtyping or of torch means: `Int`, `BFloat16`, `torch.int32`; None for another."""
    if name in _OF_THE_MODEL:
        return floating
    if name in _DEFAULTS:
        return _DEFAULTS[name]
    found = getattr(torch, DTYPES.get(name, name).removeprefix("torch."), None)
    return found if isinstance(found, torch.dtype) else None
