"""Defaults and specifier records → values and dimensions of the model.

The records are those of `runtime.fields`. They are told by the name of their class, because nothing here imports the runtime.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import MISSING
from functools import partial

from ..common.literals import literal_of
from ..model import Argument, Default, Dim, DimError, Partial, Value
from ..model.diagnostics import DeclarationError
from ..read.dimensions import parse

_TORCH_HOMES = ("torch", "torch.nn", "torch.nn.init", "torch.nn.functional")


def specifier(value: object) -> str | None:
    """Which specifier made this record: `"Field"`, `"Parameter"`, ... or None for any other object."""
    cls = type(value)
    return cls.__name__ if cls.__module__ == "qten_gen.runtime.declaring.fields" else None


def value_of(value: object) -> Value:
    """A value of the model, with the text that generated code may write for it."""
    if specifier(value) == "Const":
        return value_of(vars_of(value, "value"))
    literal = literal_of(value)
    if literal is not None:
        return Value(text=literal, literal=literal)
    name = _torch_name(value)
    return Value(text=name or repr(value), torch_name=name, partial=_partial(value))


def optional_value(value: object) -> Value | None:
    """`value_of`, or None for an argument that was left out."""
    return None if value is None else value_of(value)


def vars_of(record: object, name: str) -> object:
    """One argument of a specifier record."""
    found: object = getattr(record, name)
    return found


def read_default(given: object) -> tuple[Default | None, bool]:
    """The default of a constructor argument, and whether it is keyword only. MISSING stands for no default."""
    if given is MISSING:
        return None, False
    if specifier(given) != "Field":
        return Default(value_of(given)), False
    factory, value, kw_only = (vars_of(given, name) for name in ("default_factory", "default", "kw_only"))
    if factory is not None:
        return Default(value_of(factory), factory=True), bool(kw_only)
    return (None if value is MISSING else Default(value_of(value))), bool(kw_only)


def read_dims(record: object, where: str) -> tuple[Dim, ...]:
    """The dimensions of a `param` or `buffer` record.

    Raises:
        DeclarationError: one of them is malformed; `where` names the field.
    """
    dims = vars_of(record, "dims")
    assert isinstance(dims, tuple)
    return tuple(_dim(dim, where) for dim in dims)


def read_arguments(record: object, where: str) -> tuple[Argument, ...]:
    """What a `submodule` record constructs its class with."""
    args, kwargs = vars_of(record, "args"), vars_of(record, "kwargs")
    assert isinstance(args, tuple) and isinstance(kwargs, Mapping)
    given: list[tuple[str | None, object]] = [*((None, arg) for arg in args), *kwargs.items()]
    return tuple(
        Argument(keyword, _dim(value, where) if type(value) in (str, int) else value_of(value))
        for keyword, value in given
    )


def read_repeat(record: object, where: str) -> Dim | None:
    """How often a `submodule` record is repeated."""
    repeat = vars_of(record, "repeat")
    return None if repeat is None else _dim(repeat, where)


def read_keys(record: object, where: str) -> str | tuple[str, ...] | None:
    """The names that a `submodule` record is repeated for.

    Raises:
        DeclarationError: they are neither a string nor a tuple of strings; `where` names the field.
    """
    keys = vars_of(record, "keys")
    if isinstance(keys, tuple) and all(isinstance(key, str) for key in keys):
        return keys
    return read_text(record, "keys", where)


def read_text(record: object, name: str, where: str) -> str | None:
    """An argument that is a string, None where it is not given.

    Raises:
        DeclarationError: it is something else; `where` names the field.
    """
    given = vars_of(record, name)
    if given is None or isinstance(given, str):
        return given
    raise DeclarationError(f"{where}: {name}={given!r} has to be a string")


def written_as(value: object, text: str) -> bool:
    """Whether `text`, which generated code spells out, is this very value.

    >>> written_as("train", "'train'")
    True
    """
    if text.startswith("functools.partial("):
        found = _partial(value)
        return found is not None and found.text == text
    if not text.startswith("torch."):
        return literal_of(value) == text
    resolved: object = sys.modules["torch"]
    for part in text.split(".")[1:]:
        resolved = getattr(resolved, part, None)
    return resolved is value


def _dim(given: object, where: str) -> Dim:
    dim = parse(given if isinstance(given, str) else str(given))
    if isinstance(dim, DimError):
        raise DeclarationError(f"{where}: {dim.text!r} is no dimension: {dim.problem}")
    return dim


def _partial(value: object) -> Partial | None:
    """A partial of a function of torch with literal keywords."""
    if type(value) is not partial or value.args:
        return None
    name, keywords = _torch_name(value.func), [(key, literal_of(given)) for key, given in value.keywords.items()]
    written = tuple((key, given) for key, given in keywords if given is not None)
    return None if name is None or len(written) < len(keywords) else Partial(name, written)


def _torch_name(value: object) -> str | None:
    """The public name of an object of torch, where one of the usual places has it."""
    plain = getattr(value, "__name__", None) or str(value).removeprefix("torch.")
    if not isinstance(plain, str) or not plain.isidentifier():
        return None
    for home in _TORCH_HOMES:
        if getattr(sys.modules.get(home), plain, None) is value:
            return f"{home}.{plain}"
    return None
