"""The sizes that may vary between calls of a module, for `torch.export`, from the annotations of its `forward`."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator, Mapping
from typing import Any, get_args

from torch import nn
from torch.export import Dim

Bounds = tuple[int, int | None]
"""The smallest and the largest size; None for no largest."""


def dynamic_shapes(cls: type[nn.Module], bounds: Mapping[str, Bounds]) -> dict[str, Any]:
    """See `Module.dynamic_shapes`."""
    shapes = dict(_annotated(cls))
    fixed = frozenset(getattr(cls, "_config", ()))
    names = dict.fromkeys(
        word for shape in shapes.values() for word in shape or () if word.isidentifier() and word not in fixed
    )
    for name in bounds:
        if name not in names:
            there = f"its dimensions are {', '.join(names)}" if names else "no annotation says a shape"
            why = "a constructor argument, so it is fixed" if name in fixed else f"no dimension of forward; {there}"
            raise ValueError(f"{cls.__name__}.dynamic_shapes(): {name} is {why}")
    dims: dict[str, Any] = {}
    for name in names:
        least, most = bounds.get(name, (None, None))
        if name != "_":
            dims[name] = Dim(name, min=least, max=most)
    return {name: shape and _of_shape(cls, name, shape, dims, fixed) for name, shape in shapes.items()}


def _of_shape(
    cls: type[nn.Module], argument: str, shape: list[str], dims: Mapping[str, object], fixed: frozenset[str]
) -> dict[int, Any]:
    """The bounds of each dimension of a tensor that is not fixed."""
    found: dict[int, Any] = {}
    for position, word in enumerate(shape):
        if word.startswith(("*", "...")):
            raise ValueError(
                f"{cls.__name__}.dynamic_shapes(): {word} of {argument} is any number of dimensions; torch.export has one rank"
            )
        if word in dims:
            found[position] = dims[word]
        elif not word.isdecimal() and not _names(word) <= fixed:
            found[position] = Dim.AUTO  # `_`, or an expression such as `2*t`, which torch.export finds out
    return found


def _names(word: str) -> set[str]:
    """The names in an expression."""
    try:
        return {node.id for node in ast.walk(ast.parse(word, mode="eval")) if isinstance(node, ast.Name)}
    except SyntaxError:
        return {word}


def _annotated(cls: type[nn.Module]) -> Iterator[tuple[str, list[str] | None]]:
    """The arguments of forward, each with the words of the shape that its annotation says."""
    parameters = list(inspect.signature(cls.forward).parameters.values())[1:]
    for each in parameters:
        if each.kind in (each.VAR_POSITIONAL, each.VAR_KEYWORD):
            continue
        text = _shape_of(each.annotation)
        # Without the marks of jaxtyping: `rgb=3` is 3, and `#b` may be 1.
        yield each.name, None if text is None else [word.rpartition("=")[2].lstrip("#?") for word in text.split()]


def _shape_of(annotation: Any) -> str | None:
    """The shape in an annotation, which is an object of jaxtyping or a text: `Float[Tensor, "b t"] | None`."""
    if isinstance(annotation, str):
        found = (
            node.slice.elts[1].value
            for node in ast.walk(ast.parse(annotation, mode="eval"))
            if isinstance(node, ast.Subscript)
            and isinstance(node.slice, ast.Tuple)
            and len(node.slice.elts) == 2
            and isinstance(node.slice.elts[1], ast.Constant)
        )
        return next((value for value in found if isinstance(value, str)), None)
    said = getattr(annotation, "dim_str", None)
    if isinstance(said, str):
        return said
    return next((shape for part in get_args(annotation) if (shape := _shape_of(part)) is not None), None)
