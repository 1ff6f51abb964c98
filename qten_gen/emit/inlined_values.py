"""The values of a Module's declaration that its generated text spells out, which the class statement compares with its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ..model import (
    Argument,
    BufferDecl,
    ConfigDecl,
    DerivedDecl,
    ModuleDecl,
    ParameterDecl,
    SpecifierCall,
    SubmoduleDecl,
    Value,
    VirtualDecl,
    language,
)
from . import spelling


def inlined_values(declaration: ModuleDecl, siblings: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The values that the generated text spells out, for the check when the class statement runs.

    `siblings` are the classes that it calls by name, by their qualified names.
    """
    if declaration.custom_init:
        return
    for field in declaration.fields:
        match field:
            case ConfigDecl():
                yield from spelling.assumed_default(field)
            case ParameterDecl(initializer=initializer, dtype=dtype) | BufferDecl(initializer=initializer, dtype=dtype):
                yield from _spelled(f"{field.name}.initializer", initializer)
                if initializer is not None and initializer.partial is not None:
                    yield f"{field.name}.initializer", initializer.partial.text
                yield from _spelled(f"{field.name}.dtype", dtype)
            case SubmoduleDecl(cls=cls, arguments=arguments):
                yield from _assumed_arguments(cls, arguments, _path(field), siblings)
            case VirtualDecl() | DerivedDecl():
                pass


def _path(field: SubmoduleDecl) -> str:
    """The path to the record of a child, which is inside those of the lists that hold the child."""
    path, inner = field.name, field.inner
    while inner is not None:
        path, inner = f"{path}.cls", inner.inner
    return path


def _assumed_arguments(
    cls: Value, arguments: Sequence[Argument], key: str, siblings: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    """The class and the arguments of a child that the text spells out."""
    if cls.name in siblings and cls.choice is None:
        yield f"{key}.cls", siblings[cls.name]
    elif cls.name != language.CHAIN:
        yield from _spelled(f"{key}.cls", cls)
    index = 0
    for argument in arguments:
        inner = f"{key}.kwargs.{argument.keyword}" if argument.keyword else f"{key}.args.{index}"
        index += argument.keyword is None
        match argument.value:
            case Value() as given:
                yield from _spelled(inner, given)
            case SpecifierCall(arguments=(Argument(value=Value() as child), *own)):
                yield from _assumed_arguments(child, own, inner, siblings)


def _spelled(key: str, value: Value | None) -> Iterator[tuple[str, str]]:
    if value is not None and value.written is not None:
        yield key, value.written
