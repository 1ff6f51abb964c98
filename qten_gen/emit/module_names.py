"""The names of parameters, buffers and state dict entries of a Module, as far as declarations tell them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from ..model import (
    BufferDecl,
    ConfigDecl,
    Declaration,
    ModuleDecl,
    ModuleField,
    Number,
    ParameterDecl,
    SubmoduleDecl,
)
from ..model.field_kinds import child_class


class TensorNames(NamedTuple):
    """Dotted names below a module. They are `complete` where every child is a declared class under a name that is written out."""

    parameters: tuple[str, ...] = ()
    buffers: tuple[str, ...] = ()
    state: tuple[str, ...] = ()
    """Those in the state dict, in its order."""
    complete: bool = True

    def below(self, prefix: str) -> TensorNames:
        """The same names with what leads to them."""
        parts = (self.parameters, self.buffers, self.state)
        parameters, buffers, state = (tuple(f"{prefix}.{name}" for name in part) for part in parts)
        return TensorNames(parameters, buffers, state, self.complete)

    def and_(self, other: TensorNames) -> TensorNames:
        """These names and those of another part of the module."""
        return TensorNames(
            (*self.parameters, *other.parameters),
            (*self.buffers, *other.buffers),
            (*self.state, *other.state),
            self.complete and other.complete,
        )


_UNKNOWN = TensorNames(complete=False)


def tensor_names(
    declaration: ModuleDecl, related: Mapping[str, Declaration], above: tuple[ModuleDecl, ...] = ()
) -> TensorNames:
    """The names below a module; `above` are the classes that it stands in, because a class may hold itself."""
    if declaration.custom_init or declaration in above:
        return _UNKNOWN
    own = [field for field in declaration.fields if isinstance(field, ParameterDecl)]
    parameters = tuple(name for field in own for name in _of_parameter(field))
    buffers = [field for field in declaration.fields if isinstance(field, BufferDecl)]
    persistent = tuple(field.name for field in buffers if field.persistent)
    found = TensorNames(parameters, tuple(field.name for field in buffers), (*parameters, *persistent))
    if any(not _is_complete(field, related) for field in declaration.fields):
        found = found.and_(_UNKNOWN)
    for field in declaration.fields:
        if isinstance(field, SubmoduleDecl):
            inside = _inside(field, related, (*above, declaration))
            for prefix in _prefixes(field):
                found = found.and_(_UNKNOWN if prefix is None else inside.below(prefix))
    return found


def _of_parameter(field: ParameterDecl) -> tuple[str, ...]:
    """The names of a parameter, or of those in a list or dict as far as they are known."""
    match field:
        case ParameterDecl(repeat=None, keys=None):
            return (field.name,)
        case ParameterDecl(repeat=Number(count)):
            return tuple(f"{field.name}.{index}" for index in range(count))
        case ParameterDecl(keys=tuple(keys)):
            return tuple(f"{field.name}.{key}" for key in keys)
    return ()


def _is_complete(field: ModuleField, related: Mapping[str, Declaration]) -> bool:
    """Whether the names of what a field registers are known, apart from those in children that it constructs."""
    if isinstance(field, ParameterDecl):
        return not field.is_several or isinstance(field.repeat, Number) or isinstance(field.keys, tuple)
    if not isinstance(field, ConfigDecl):
        return True
    registers = (
        name.startswith("torch.nn.") or isinstance(related.get(name), ModuleDecl) for name in field.type.mentioned
    )
    return not any(registers)


def _inside(field: SubmoduleDecl, related: Mapping[str, Declaration], above: tuple[ModuleDecl, ...]) -> TensorNames:
    """The names in a child, where it is made by calling the very class that the annotation names."""
    child = child_class(field.type)
    declared = related.get(child.name)
    same = field.cls.text.rpartition(".")[2] == child.name.rpartition(".")[2]
    return tensor_names(declared, related, above) if isinstance(declared, ModuleDecl) and same else _UNKNOWN


def _prefixes(field: SubmoduleDecl) -> Iterator[str | None]:
    """What leads to the child, or to each of several; None where that is known at run time only."""
    match field:
        case SubmoduleDecl(inner=SubmoduleDecl()):
            yield None
        case SubmoduleDecl(repeat=Number(count)):
            yield from (f"{field.name}.{index}" for index in range(count))
        case SubmoduleDecl(keys=tuple(keys)):
            yield from (f"{field.name}.{key}" for key in keys)
        case SubmoduleDecl(repeat=None, keys=None):
            yield field.name
        case _:
            yield None
