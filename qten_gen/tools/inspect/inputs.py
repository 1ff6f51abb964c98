"""Reads the inputs of a run, `tokens: Int[4,2048], mask: Bool[4,2048]`, and makes fake tensors for them.

Inputs are written like the parameters of a Python function. A dimension can be an expression over the config of the model:
`x: Float[4, 128, width]`. Other values are literals, lists and tuples of inputs, and TensorClasses:
`batch: Batch(tokens=Int[4,128], batch_size=[4])`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile

import torch
from torch import nn

from ...common.suggestions import did_you_mean
from ...model.array_shapes import DTYPES
from .request import InspectionError
from .sizes import Binding, UnknownSize, config_sizes, evaluate

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
    maker = _Maker(config_sizes(model, ""), model, _floating(model), device, class_of)
    args: list[object] = []
    keywords: dict[str, object] = {}
    problems: list[str] = []
    for text in texts:
        try:
            for name, node in _parsed(text):
                label = name or f"input {len(args) + 1}"
                if name in keywords:
                    problems.append(f"--run {label}: given twice")
                    continue
                try:
                    value = maker.value(node)
                except _Unfit as error:
                    problems.append(f"--run {label}: {error}")
                    continue
                if name is None:
                    args.append(value)
                else:
                    keywords[name] = value
        except _Unfit as error:
            problems.append(f"--run {text}: {error}")
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


@dataclass(frozen=True, slots=True)
class _Maker:
    """What the values of inputs depend on."""

    sizes: Mapping[str, Binding]
    model: nn.Module
    floating: torch.dtype
    device: torch.device
    class_of: Callable[[str], type | None]

    def value(self, node: ast.expr) -> object:
        """The value of one input."""
        match node:
            case ast.Subscript(value=head, slice=inside):
                return self._tensor(ast.unparse(head), inside)
            case ast.Call(func=head, args=args, keywords=keywords):
                return self._object(ast.unparse(head), args, keywords)
            case ast.List(elts=items):
                return [self.value(item) for item in items]
            case ast.Tuple(elts=items):
                return tuple(self.value(item) for item in items)
            case ast.Dict(keys=keys, values=values) if all(isinstance(key, ast.Constant) for key in keys):
                return {
                    ast.literal_eval(key): self.value(value) for key, value in zip(keys, values, strict=True) if key
                }
            case ast.Name(id=name) if name in ("true", "false", "none", "null"):
                return {"true": True, "false": False}.get(name)
        try:
            return ast.literal_eval(node)
        except ValueError:
            text = ast.unparse(node)
            if dtype_of(text, self.floating) is not None:
                raise _Unfit(f"{text} has no shape: write {text}[4, 128], or {text}[()] for no dimensions") from None
            raise _Unfit(f"{text} is not a tensor such as Int[4, 128], nor a literal") from None

    def _tensor(self, head: str, inside: ast.expr) -> torch.Tensor:
        """`Int[4, 128]`, or `Int[Tensor, "4 128"]` as in an annotation."""
        dtype = dtype_of(head, self.floating)
        if dtype is None:
            known = (*_DEFAULTS, *_OF_THE_MODEL, *DTYPES)
            raise _Unfit(
                f"{head} is not a dtype; {did_you_mean(head, known, 'use Float, Int, Bool, or a dtype of torch')}"
            )
        items = inside.elts if isinstance(inside, ast.Tuple) else [inside]
        if len(items) == 2 and isinstance(items[1], ast.Constant) and isinstance(items[1].value, str):
            texts = items[1].value.split()
        else:
            texts = [ast.unparse(item) for item in items]
        shape = [self._size(text) for text in texts]
        if dtype.is_floating_point or dtype.is_complex:
            return torch.empty(shape, dtype=dtype, device=self.device)
        return torch.zeros(shape, dtype=dtype, device=self.device)

    def _size(self, text: str) -> int:
        try:
            size = evaluate(text, self.sizes, self.model)
        except UnknownSize as error:
            known = f"; the config has {', '.join(self.sizes)}" if self.sizes else ""
            raise _Unfit(f"{error}{known}") from None
        if size < 0:
            raise _Unfit(f"the size {text} is negative")
        return size

    def _object(self, name: str, args: list[ast.expr], keywords: list[ast.keyword]) -> object:
        """An object of a TensorClass."""
        found = self.class_of(name)
        if found is None:
            raise _Unfit(f"there is no TensorClass {name} beside the model; write pkg.model.{name}")
        given = {keyword.arg: self.value(keyword.value) for keyword in keywords if keyword.arg}
        try:
            return found(*(self.value(arg) for arg in args), **given)
        except (TypeError, ValueError) as error:
            raise _Unfit(str(error)) from None


def dtype_of(name: str, floating: torch.dtype) -> torch.dtype | None:
    """The dtype that a name of jaxtyping or of torch means: `Int`, `BFloat16`, `torch.int32`; None for another."""
    if name in _OF_THE_MODEL:
        return floating
    if name in _DEFAULTS:
        return _DEFAULTS[name]
    found = getattr(torch, DTYPES.get(name, name).removeprefix("torch."), None)
    return found if isinstance(found, torch.dtype) else None
