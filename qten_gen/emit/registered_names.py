"""What the stub of a Module says of the names that a hand-written `__init__` registers.

A checker sees `self.scale = nn.Parameter(...)` in the declaration, so that is not repeated. It sees neither names in strings, nor
that a child is an instance of a generated class.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from ..model import Declaration, ModuleDecl
from ..model.registered import Registered, RegisteredKind
from .stub_names import StubNames


class RegisteredName(NamedTuple):
    """A name with its type as it is read and as it is written, and without None."""

    name: str
    read: str
    written: str
    type: str
    kind: RegisteredKind | None
    """What all statements register under the name; None where they differ."""
    is_shown: bool
    """Whether the stub has to say its type."""

    def line(self, names: StubNames) -> str:
        """The statement of the stub.

        Each has a value. Checkers take the names for fields of a dataclass, where one without a default may not come last.
        """
        if self.read == self.written:
            return f"{self.name}: {self.read} = ..."
        return f"{self.name}: {names.aliases.use('_Slot')}[{self.read}, {self.written}] = ..."


def registered_names(
    declaration: ModuleDecl, names: StubNames, related: Mapping[str, Declaration]
) -> tuple[RegisteredName, ...]:
    """The names that the class itself registers, those left out that its body binds or declares."""
    taken = declaration.bound | {field.name for field in declaration.fields}
    found: dict[str, list[Registered]] = {}
    for each in declaration.registers:
        if each.name.isidentifier() and each.name not in taken:
            found.setdefault(each.name, []).append(each)
    made = (_named(name, group, declaration, names, related) for name, group in found.items())
    return tuple(one for one in made if one is not None)


def _named(
    name: str,
    group: list[Registered],
    declaration: ModuleDecl,
    names: StubNames,
    related: Mapping[str, Declaration],
) -> RegisteredName | None:
    """One name; None where nothing is known of it that a checker does not see."""
    kinds = {each.kind for each in group} - {RegisteredKind.NONE}
    by_name = any(each.by_name for each in group)
    if not kinds or (RegisteredKind.OTHER in kinds and not by_name):
        return None
    types = [_Types.of(each, declaration, names, related) for each in group if each.kind is not RegisteredKind.NONE]
    optional = " | None" if any(each.may_be_none for each in group) else ""
    read, written = (
        " | ".join(dict.fromkeys(texts)) for texts in zip(*((t.read, t.written) for t in types), strict=True)
    )
    is_child = all(one.is_module for one in types)
    kind = next(iter(kinds)) if len(kinds) == 1 else None
    return RegisteredName(
        name,
        f"{read}{optional}",
        f"{written}{optional}",
        read,
        kind if is_child or kind is not RegisteredKind.CHILD else None,
        by_name or (is_child and read != written),
    )


class _Types(NamedTuple):
    """What one statement registers, as it is read and as it is written."""

    read: str
    written: str
    is_module: bool = False
    """Whether it is known to be a module."""

    @classmethod
    def same(cls, text: str, *, is_module: bool = False) -> _Types:
        """A type that is read as it is written."""
        return cls(text, text, is_module)

    @classmethod
    def of(
        cls, each: Registered, declaration: ModuleDecl, names: StubNames, related: Mapping[str, Declaration]
    ) -> _Types:
        """The types, with the imports that they need."""
        match each.kind:
            case RegisteredKind.PARAMETER:
                return cls.same(f"{names.aliases.use('_torch')}.nn.Parameter")
            case RegisteredKind.BUFFER:
                return cls.same(f"{names.aliases.use('_torch')}.Tensor")
            case RegisteredKind.CHILD if each.type is None:
                return cls.same(f"{names.aliases.use('_torch')}.nn.Module", is_module=True)
            case RegisteredKind.CHILD if each.type is not None:
                written = read = names.type(each.type, declaration.module)
                declared = isinstance(related.get(each.type.name), ModuleDecl)
                if declared:
                    read = names.generated(each.type.name)
                if each.container:
                    container = f"{names.aliases.use('_torch')}.nn.{each.container}"
                    return cls(f"{names.aliases.use(f'_{each.container}')}[{read}]", container, is_module=True)
                return cls(read, written, declared or each.type.name.startswith("torch.nn."))
            case _:
                return cls.same(f"{names.aliases.use('_t')}.Any")


def lines(found: tuple[RegisteredName, ...], names: StubNames) -> Iterator[str]:
    """The statements of the stub."""
    return (each.line(names) for each in found if each.is_shown)
