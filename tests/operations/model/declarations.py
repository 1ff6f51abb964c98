"""Random declarations: what fields a class has, of which shapes and dtypes, and the class itself, made in memory."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import torch
from hypothesis import strategies as st
from torch import Tensor

from .plain import Plain

Shape = tuple[int, ...]


@dataclass(frozen=True)
class TensorField:
    """A tensor, with dimensions of its own beyond those of the batch; perhaps optional, and then perhaps None."""

    shape: Shape
    dtype: torch.dtype
    optional: bool = False
    given: bool = True


@dataclass(frozen=True)
class NestedField:
    """An object of a class of its own, whose batch size is longer by `tail`."""

    fields: tuple[TensorField, ...]
    tail: Shape
    optional: bool = False
    given: bool = True


@dataclass(frozen=True)
class StaticField:
    """A value for the whole batch."""

    value: object


Field = TensorField | NestedField | StaticField


@dataclass(frozen=True)
class Declaration:
    """A class and what an object of it holds."""

    fields: tuple[Field, ...]
    flags: tuple[str, ...]
    batch_size: Shape

    def source(self, flags: bool) -> str:
        """The class statements. Fields without default come first."""
        lines: list[str] = []
        own: list[tuple[bool, str]] = []
        for at, found in enumerate(self.fields):
            kind = "Tensor"
            if isinstance(found, StaticField):
                own.append((False, f"    s{at}: {KINDS[type(found.value)]}"))
                continue
            if isinstance(found, NestedField):
                kind = f"Nested{at}"
                inner = [f"    f{number}: Tensor" for number in range(len(found.fields))]
                lines += [f"class {kind}(TensorClass):", *inner, ""]
            own.append((found.optional, f"    f{at}: {kind}{' | None = None' if found.optional else ''}"))
        keywords = "".join(f", {flag}=True" for flag in self.flags if flags)
        return "\n".join([*lines, f"class Made(TensorClass{keywords}):", *(line for _, line in sorted(own)), ""])


KINDS = {str: "str", tuple: "tuple[str, ...]", type(None): "object"}
"""The annotation of a static value."""


@cache
def classes(base: type, source: str) -> dict[str, Any]:
    """The classes of a declaration, for one of the libraries."""
    namespace: dict[str, Any] = {"TensorClass": base, "Tensor": Tensor, "__name__": __name__}
    exec(source, namespace)
    return namespace


shapes = st.sampled_from([(), (2,), (3, 1)])
dtypes = st.sampled_from([torch.float64, torch.float64, torch.int64, torch.bool])
optional = st.sampled_from([(False, True), (False, True), (True, True), (True, False)])


@st.composite
def tensor_fields(draw: st.DrawFn) -> TensorField:
    return TensorField(draw(shapes), draw(dtypes), *draw(optional))


@st.composite
def nested_fields(draw: st.DrawFn) -> NestedField:
    inner = st.builds(TensorField, shapes, dtypes)
    return NestedField(
        tuple(draw(st.lists(inner, min_size=1, max_size=2))), draw(st.sampled_from([(), (2,)])), *draw(optional)
    )


static_fields = st.builds(StaticField, st.sampled_from(["train", ("a", "b"), None]))

declarations = st.builds(
    Declaration,
    st.lists(tensor_fields() | tensor_fields() | nested_fields() | static_fields, min_size=1, max_size=4).map(tuple),
    st.sampled_from([(), (), ("frozen",), ("nocast",)]),
    st.lists(st.integers(0, 3), max_size=3).map(tuple),
).filter(lambda declaration: any(getattr(found, "given", False) for found in declaration.fields))
"""Classes with a tensor at least: without any, torch has nothing to refuse."""


def contents(declaration: Declaration, seed: int) -> Plain:
    """Numbers for the tensors of a declaration."""
    generator = torch.Generator().manual_seed(seed)

    def numbers(found: TensorField, size: Shape) -> Tensor:
        made = torch.randint(-4, 5, (*size, *found.shape), generator=generator)
        return made.to(found.dtype) if found.dtype is not torch.float64 else made.double() / 4

    plain = Plain(declaration.batch_size, {}, {}, {})
    for at, found in enumerate(declaration.fields):
        if isinstance(found, StaticField):
            plain.static[f"s{at}"] = found.value
        elif isinstance(found, TensorField) and found.given:
            plain.tensors[f"f{at}"] = numbers(found, declaration.batch_size)
        elif isinstance(found, NestedField) and found.given:
            plain.tails[f"f{at}"] = found.tail
            for number, inner in enumerate(found.fields):
                plain.tensors[f"f{at}.f{number}"] = numbers(inner, (*declaration.batch_size, *found.tail))
    return plain


peer_declarations = st.builds(
    Declaration,
    st.lists(
        st.builds(TensorField, shapes, st.just(torch.float64))
        | st.builds(
            NestedField,
            st.lists(st.builds(TensorField, shapes, st.just(torch.float64)), min_size=1, max_size=2).map(tuple),
            st.sampled_from([(), (2,)]),
        ),
        min_size=1,
        max_size=4,
    ).map(tuple),
    st.just(()),
    st.lists(st.integers(1, 3), min_size=1, max_size=3).map(tuple),
)
"""Those that mean the same in tensordict: floating point tensors and nested objects. Static values become lists there."""
