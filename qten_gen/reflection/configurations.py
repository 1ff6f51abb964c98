"""The attributes of the configuration classes of a running program, as `rules.configuration` finds them in text."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextlib import suppress
from types import FunctionType

from ..common.class_annotations import class_annotations
from ..common.records import replace
from ..model import ConfigDecl, ConfigurationClass, Declaration, TypeExpr
from ..model.configuration import KNOWN_ROOTS, names_of_root
from ..model.field_kinds import members_of
from .annotations import AnnotationWalk
from .assigned_attributes import assigned_by, methods_of, sets_any
from .statement import ClassStatement

_OPENING = ("__getattr__", "__getattribute__")
_CONSTRUCTORS = ("__init__", "__post_init__", "model_post_init", "__attrs_post_init__")
_DEEPEST = 4
"""How many attributes of attributes are looked into: `config.vision.encoder.width`."""


def configurations(statement: ClassStatement, declaration: Declaration) -> Mapping[str, ConfigurationClass]:
    """The classes of the config fields of which all attributes are known, by qualified name, and those of their attributes."""
    found: dict[str, ConfigurationClass] = {}
    for field in declaration.fields:
        if isinstance(field, ConfigDecl):
            for member in members_of(field.type):
                _collect(member, statement, found, _DEEPEST)
    return found


def _collect(named: TypeExpr, statement: ClassStatement, found: dict[str, ConfigurationClass], depth: int) -> None:
    cls = _class_of(named, statement)
    if cls is None or named.name in found or depth == 0:
        return
    known = _configuration(cls, statement)
    if known is not None:
        found[named.name] = known
        for annotation in known.attributes.values():
            for member in () if annotation is None else members_of(annotation):
                _collect(member, statement, found, depth - 1)


def _class_of(named: TypeExpr, statement: ClassStatement) -> type | None:
    """The class that a type names; None for one that cannot be found, and for one of the language or of torch."""
    if named.name.startswith(("builtins.", "typing.", "torch.")) or "." not in named.name:
        return None
    found: object = None
    if named.text.isidentifier():
        with suppress(NameError):
            found = statement.resolve(named.text)
    module, _, name = named.name.rpartition(".")
    candidates = (found, getattr(sys.modules.get(module), name, None))
    return next((cls for cls in candidates if isinstance(cls, type) and _qualified(cls) == named.name), None)


def _qualified(cls: type) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"


def _configuration(cls: type, statement: ClassStatement) -> ConfigurationClass | None:
    """What is known of a class; None if not all of its attributes are."""
    found: dict[str, TypeExpr | None] = {}
    for base in reversed(cls.__mro__):
        qualified = _qualified(base)
        if qualified in KNOWN_ROOTS:
            found.update(names_of_root(qualified))
            found.update(dict.fromkeys(vars(base)))
            continue
        functions = list(methods_of(vars(base)))
        if any(name in vars(base) for name in _OPENING):
            return None
        if any(map(sets_any, functions)) and base.__module__.partition(".")[0] not in _HARMLESS:
            return None
        found.update(_own(base, functions, statement))
    return ConfigurationClass(found)


_HARMLESS = ("pydantic", "transformers", "huggingface_hub", "qten_gen", "typing", "dataclasses", "abc", "enum")
"""Packages whose base classes set attributes by name, which their subclasses annotate."""


def _own(base: type, functions: list[FunctionType], statement: ClassStatement) -> dict[str, TypeExpr | None]:
    """The attributes that a class of the method resolution order brings."""
    found: dict[str, TypeExpr | None] = dict.fromkeys(vars(base))
    annotations = class_annotations(vars(base)).items()
    found.update((name, _type(annotation, base, statement)) for name, annotation in annotations)
    slots = vars(base).get("__slots__", ())
    found.update((name, found.get(name)) for name in ((slots,) if isinstance(slots, str) else slots))
    renamed = vars(base).get("attribute_map")
    found.update((name, found.get(other)) for name, other in (renamed if isinstance(renamed, dict) else {}).items())
    for function in functions:
        for name in assigned_by(function):
            is_kept = name in found and function.__name__ not in _CONSTRUCTORS
            found[name] = found[name] if is_kept else None
    return found


def _type(annotation: object, base: type, statement: ClassStatement) -> TypeExpr | None:
    """What an annotation says in the class that it stands in; None where it cannot be evaluated there."""
    if isinstance(annotation, str):
        try:
            annotation = eval(annotation, vars(sys.modules[base.__module__]), dict(vars(base)))
        except Exception:  # whatever evaluating another file's annotation raises
            return None
    return AnnotationWalk(replace(statement, classes={}, declared=set())).expr(annotation)
