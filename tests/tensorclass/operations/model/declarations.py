"""Random declarations: what fields a class has, of which kinds, shapes and dtypes, and the class itself, made in memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import count
from typing import Any

import torch
from hypothesis import strategies as st
from jaxtyping import Bool, Float, Int
from torch import Tensor

from qten_gen import PerItem, Ragged, Unbatched

from .plain import Names, Shape


@dataclass(frozen=True)
class Field:
    """What every field has: whether it may be None, and whether it is not."""

    optional: bool
    given: bool

    def annotation(self, nested: str) -> str:
        """How it is written; `nested` is the name of the class of a nested object."""
        raise NotImplementedError


@dataclass(frozen=True)
class TensorField(Field):
    """A tensor, whose shape and dtype the annotation may say; perhaps one that the batch does not carry."""

    shape: Shape
    dtype: torch.dtype
    unbatched: bool = False
    checked: bool = False

    def annotation(self, nested: str) -> str:
        kind = "Tensor"
        if self.checked:
            sizes = [f"d{size}" for size in self.shape]
            kind = f'{FAMILIES[self.dtype][0]}[Tensor, "{" ".join(["*batch", *sizes][self.unbatched :])}"]'
        return f"Unbatched[{kind}]" if self.unbatched else kind


@dataclass(frozen=True)
class TensorsField(Field):
    """A dict of tensors under these keys, or a list of as many."""

    keys: tuple[str, ...]
    is_list: bool
    shape: Shape
    dtype: torch.dtype
    unbatched: bool = False

    def annotation(self, nested: str) -> str:
        kind = "list[Tensor]" if self.is_list else "dict[str, Tensor]"
        return f"Unbatched[{kind}]" if self.unbatched else kind


@dataclass(frozen=True)
class ItemsField(Field):
    """A str for each item."""

    def annotation(self, nested: str) -> str:
        return "PerItem[str]"


@dataclass(frozen=True)
class RaggedField(Field):
    """Items of different lengths, whose rows are tensors, or objects with such a tensor and with another one."""

    shape: Shape
    dtype: torch.dtype
    of_objects: bool

    def annotation(self, nested: str) -> str:
        return f"Ragged[{nested if self.of_objects else 'Tensor'}]"


@dataclass(frozen=True)
class StaticField(Field):
    """A value for the whole batch."""

    value: object

    def annotation(self, nested: str) -> str:
        return {str: "str", tuple: "tuple[str, ...]", dict: "dict[str, object]", type(None): "object"}[type(self.value)]


@dataclass(frozen=True)
class NumberField(Field):
    """A number, which becomes a tensor unless a flag of the class says that it stays."""

    value: float

    def annotation(self, nested: str) -> str:
        return type(self.value).__name__


@dataclass(frozen=True)
class NestedField(Field):
    """An object of a class of its own, whose batch size is longer by `tail`."""

    cls: Class
    tail: Shape

    def annotation(self, nested: str) -> str:
        return nested


@dataclass(frozen=True)
class Class:
    """A class statement, and what an object of the class holds."""

    fields: tuple[Field, ...]
    flags: tuple[str, ...]

    @property
    def named(self) -> list[tuple[str, Field]]:
        """The fields by name; those without default come first. A class with the flag `shadow` calls them like methods."""
        ordered = sorted(self.fields, key=lambda found: found.optional)
        return list(zip(SHADOWS if "shadow" in self.flags else PLAIN_NAMES, ordered, strict=False))

    def statements(self, name: str, flags: bool) -> Iterator[str]:
        """The class statements: those of nested classes first, whose names go on from `name`."""
        keywords = "".join(f", {flag}=True" for flag in self.flags if flags)
        lines = [f"class {name}(TensorClass{keywords}):"]
        for field_name, found in self.named:
            nested = f"{name}{field_name}"
            if isinstance(found, NestedField):
                yield from found.cls.statements(nested, flags)
            if isinstance(found, RaggedField) and found.of_objects:
                yield f"class {nested}(TensorClass):\n    value: Tensor\n    weight: Tensor\n"
            optional = " | None = None" if found.optional else ""
            lines.append(f"    {field_name}: {found.annotation(nested)}{optional}")
        yield "\n".join([*lines, ""])

    @property
    def keeps_numbers(self) -> bool:
        """Whether a number stays one."""
        return "nocast" in self.flags or "autocast" in self.flags

    def classes(self) -> Iterator[Class]:
        """This class, and those of the objects that an object of it holds."""
        yield self
        for found in self.fields:
            if isinstance(found, NestedField) and found.given:
                yield from found.cls.classes()

    def carries(self) -> bool:
        """Whether the batch of an object carries a tensor: without any, torch has nothing to refuse."""
        return any(
            isinstance(found, TensorField) and found.given and not found.unbatched for found in self.fields
        ) or any(isinstance(found, NestedField) and found.given and found.cls.carries() for found in self.fields)


@dataclass(frozen=True)
class Declaration:
    """A class, and what the constructor of an object of it is told beside the fields."""

    cls: Class
    batch_size: Shape
    names: Names
    lock: bool

    @property
    def is_frozen(self) -> bool:
        """Whether an object never changes, or one that it holds."""
        return any("frozen" in found.flags for found in self.cls.classes())


FAMILIES = {
    torch.float64: ("Float", (torch.bfloat16, torch.float16, torch.float32, torch.float64)),
    torch.int64: ("Int", (torch.int8, torch.int16, torch.int32, torch.int64)),
    torch.bool: ("Bool", (torch.bool,)),
}
"""What annotations call a dtype and those like it."""
PLAIN_NAMES = [f"f{at}" for at in range(9)]
SHADOWS = "clone data to keys items values get apply update".split()
"""Methods that others might call. What stands in every instance, such as `batch_size`, cannot be a field."""


@cache
def classes(base: type, source: str) -> tuple[str, dict[str, type]]:
    """For one of the libraries: the name of the class that is called `Made` in a source, and by their names all that are."""
    name = f"Made{next(_NUMBERS)}_"
    namespace: dict[str, Any] = {"TensorClass": base, "Tensor": Tensor, "PerItem": PerItem, "Unbatched": Unbatched}
    namespace |= {"Ragged": Ragged, "Float": Float, "Int": Int, "Bool": Bool, "__name__": __name__}
    exec(source.replace("Made", name), namespace)
    return name, {known: found for known, found in namespace.items() if known.startswith(name)}


_NUMBERS = count()
"""Every class has a name of its own: one that is declared again would take the place of the other."""

shapes = st.sampled_from([(), (2,), (3, 1)])
dtypes = st.sampled_from([torch.float64, torch.float64, torch.int64, torch.bool])
optional = st.sampled_from([(False, True), (False, True), (True, True), (True, False)])
static_values = st.sampled_from(["train", ("a", "b"), None, {"rate": 0.5}])


@st.composite
def fields(draw: st.DrawFn, depth: int, tensor_only: bool) -> Field:
    """A field of any kind; nested objects hold fewer others the deeper they stand."""
    kinds = ["tensor", "tensor", "unbatched", "tensors", "ragged"]
    kinds += [] if tensor_only else ["items", "static", "number"]
    kinds += ["nested", "nested"] if depth else []
    kind = draw(st.sampled_from(kinds))
    may_be_none, given = draw(optional)
    if kind in ("tensor", "unbatched"):
        checked = draw(st.booleans())
        return TensorField(may_be_none, given, draw(shapes), draw(dtypes), kind == "unbatched", checked)
    if kind == "tensors":
        keys = tuple(draw(st.lists(st.sampled_from(["a", "b c", "x.y"]), max_size=2, unique=True)))
        return TensorsField(
            may_be_none, given, keys, draw(st.booleans()), draw(shapes), draw(dtypes), draw(st.booleans())
        )
    if kind == "items":
        return ItemsField(may_be_none, given)
    if kind == "ragged":
        return RaggedField(may_be_none, given, draw(shapes), draw(dtypes), draw(st.booleans()))
    if kind == "static":
        return StaticField(False, True, draw(static_values))
    if kind == "number":
        return NumberField(False, True, draw(st.sampled_from([3, 0.5])))
    return NestedField(may_be_none, given, draw(classes_of(depth - 1)), draw(st.sampled_from([(), (), (2,)])))


@st.composite
def classes_of(draw: st.DrawFn, depth: int) -> Class:
    """A class whose objects hold one another to this depth."""
    flags = draw(st.sampled_from([(), (), ("frozen",), ("nocast",), ("autocast",), ("shadow",), ("tensor_only",)]))
    found = draw(st.lists(fields(depth, "tensor_only" in flags), min_size=1, max_size=4 if depth else 2))
    return Class(tuple(found), flags)


@st.composite
def declarations(draw: st.DrawFn) -> Declaration:
    """A class with a tensor at least, and an object of it."""
    cls = draw(classes_of(2).filter(Class.carries))
    size = tuple(draw(st.lists(st.integers(0, 3), max_size=3)))
    named = ("time", "row", "place")[: len(size)] if draw(st.booleans()) else (None,) * len(size)
    return Declaration(cls, size, named, draw(st.sampled_from([False, False, True])))


@st.composite
def ragged_declarations(draw: st.DrawFn) -> Declaration:
    """A class with a tensor and a Ragged field, and perhaps with such an object in it."""
    ragged = st.builds(RaggedField, st.just(False), st.just(True), shapes, st.just(torch.float64), st.booleans())
    tensor = st.builds(TensorField, st.just(False), st.just(True), shapes, st.just(torch.float64))
    inner = st.builds(Class, st.tuples(tensor, ragged), st.just(()))
    nested = st.builds(NestedField, st.just(False), st.just(True), inner, st.sampled_from([(), (2,)]))
    cls = Class(draw(st.tuples(tensor, ragged) | st.tuples(tensor, ragged, nested)), ())
    size = tuple(draw(st.lists(st.integers(1, 3), min_size=1, max_size=2)))
    return Declaration(cls, size, (None,) * len(size), False)


@st.composite
def peer_declarations(draw: st.DrawFn) -> Declaration:
    """Those that mean the same in tensordict: floating point tensors, nested objects, None. Static values become lists there."""
    tensor = st.builds(TensorField, st.just(False), st.just(True), shapes, st.just(torch.float64))
    none = st.builds(TensorField, st.just(True), st.just(False), shapes, st.just(torch.float64))
    inner = st.builds(Class, st.lists(tensor, min_size=1, max_size=2).map(tuple), st.just(()))
    nested = st.builds(NestedField, st.just(False), st.just(True), inner, st.sampled_from([(), (2,)]))
    cls = draw(
        st.builds(Class, st.lists(tensor | nested | none, min_size=1, max_size=4).map(tuple), st.just(())).filter(
            Class.carries
        )
    )
    size = tuple(draw(st.lists(st.integers(1, 3), min_size=1, max_size=3)))
    return Declaration(cls, size, (None,) * len(size), False)
