"""Describes a declaration as plain data: what the generator has understood of a class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum

from ..common.records import MISSING, fields, is_record
from ..model import (
    NO_PATH,
    Argument,
    BufferDecl,
    ConfigDecl,
    Declaration,
    Default,
    DerivedDecl,
    FieldDecl,
    ModuleDecl,
    ModuleField,
    NodePath,
    ParameterDecl,
    RegistrationDecl,
    SpecifierCall,
    SubmoduleDecl,
    TensorClassDecl,
    TypeExpr,
    Value,
    VirtualDecl,
    fingerprint,
)
from ..model.diagnostics import Diagnostic, Kind
from ..model.dimensions import Dim, to_python
from ..read.positions import locate

Plain = str | int | float | bool | None | list["Plain"] | dict[str, "Plain"]
"""The values of a JSON document."""

_KINDS = {
    ConfigDecl: "config",
    DerivedDecl: "derived value",
    ParameterDecl: "parameter",
    BufferDecl: "buffer",
    SubmoduleDecl: "submodule",
    VirtualDecl: "virtual tensor",
}
_TOLD_APART = frozenset({"name", "kind", "type", "doc", "owner", "place"})


def describe(declaration: Declaration) -> dict[str, Plain]:
    """A declaration as plain data, without places. What is as it is by default is left out of the fields."""
    described: dict[str, Plain] = {
        "name": declaration.name,
        "module": declaration.module,
        "kind": "TensorClass" if isinstance(declaration, TensorClassDecl) else "Module",
        "bases": [{"name": base.name, "declared": base.declared} for base in declaration.bases],
        "doc": declaration.doc,
        "custom_init": declaration.custom_init,
        "post_init": declaration.post_init,
        "fingerprint": fingerprint(declaration),
    }
    if isinstance(declaration, TensorClassDecl):
        described |= {"flags": [*sorted(declaration.flags)], "checks": declaration.checks}
    else:
        described |= _of_module(declaration)
    return {**described, "fields": [describe_field(field) for field in declaration.fields]}


def _of_module(declaration: ModuleDecl) -> dict[str, Plain]:
    """The keys that only a Module has."""
    return {
        "custom_reset": declaration.custom_reset,
        "handlers": [_handler(item) for item in declaration.handlers],
        "registers": [item.name for item in declaration.registers],
        "checks": [to_python(item.condition) for item in declaration.checks],
    }


def _handler(item: RegistrationDecl) -> Plain:
    return {"type": item.type.text, "function": f"{item.module}.{item.handler}", "owner": item.owner}


def describe_field(field: FieldDecl | ModuleField) -> dict[str, Plain]:
    """The description of a field: its name, kind and type, the class that declares it, and all that is not as by default."""
    kind = field.kind.value if isinstance(field, FieldDecl) else _KINDS.get(type(field), type(field).__name__)
    described: dict[str, Plain] = {"name": field.name, "kind": kind, "type": field.type.text, "owner": field.owner}
    for attribute in fields(field):
        value: object = getattr(field, attribute.name)
        if attribute.name not in _TOLD_APART and (attribute.default is MISSING or value != attribute.default):
            described[attribute.name] = _plain(value)
    if field.doc:
        described["doc"] = field.doc
    return described


def field_details(field: Mapping[str, Plain]) -> str:
    """A described field in one line: its kind and type, and what is special about it.

    >>> field_details({"name": "qkv", "kind": "parameter", "type": "nn.Parameter", "owner": "m.Net", "dims": ["3*dim", "dim"]})
    'parameter: nn.Parameter; dims=[3*dim, dim]'
    """
    told = {"name", "kind", "type", "owner", "path", "line", "doc"}
    details = [f"{name}={one_line(value)}" for name, value in field.items() if name not in told]
    type = f": {field['type']}" if field["type"] else ""
    return f"{field['kind']}{type}{'; ' if details else ''}{', '.join(details)}"


def one_line(value: Plain) -> str:
    """Plain data as people read it, without quotes."""
    if isinstance(value, list):
        return f"[{', '.join(map(one_line, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{name}: {one_line(item)}' for name, item in value.items())}}}"
    return str(value)


def _plain(value: object) -> Plain:
    """A part of a declaration as plain data, in the spelling of the source where there is one."""
    if isinstance(value, Dim):
        return to_python(value)
    match value:
        case None | str() | bool() | int() | float():
            return value
        case Enum():
            return str(value.value)
        case Value() | TypeExpr():
            return value.text
        case Default():
            return f"{value.value.text}()" if value.factory else value.value.text
        case Argument():
            given = value.text or str(_plain(value.value))
            return given if value.keyword is None else f"{value.keyword}={given}"
        case SubmoduleDecl():
            return {name: each for name, each in describe_field(value).items() if name not in _TOLD_APART}
        case SpecifierCall():
            return {"specifier": value.name, "arguments": [_plain(item) for item in value.arguments]}
        case tuple() | list():
            return [_plain(item) for item in value]
        case frozenset() | set():
            return [_plain(item) for item in sorted(map(str, value))]
        case Mapping():
            return {str(name): _plain(item) for name, item in value.items()}
    if is_record(value):
        return {item.name: _plain(getattr(value, item.name)) for item in fields(value) if item.name != "place"}
    return str(value)


def lines_of(places: Sequence[tuple[str, NodePath]], sources: Mapping[str, bytes]) -> list[int]:
    """The lines of places, each given with the path of its file; 0 for one that is not known."""
    marks = [Diagnostic(Kind("", ""), "", place, path=path) for path, place in places]
    return [item.span.line if item.path and item.place != NO_PATH else 0 for item in locate(marks, sources)]
