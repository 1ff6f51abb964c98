"""Classes that no class statement makes: by `types.new_class`, by `type(name, bases, namespace)`, or as a copy of another.

Such a call declares a class where it gives annotations or flags, as a statement does. Without them the class derives from its
bases and declares nothing: so parametrizations and FSDP derive. A copy and what cloudpickle rebuilds have a declaration already.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import FunctionType, MemberDescriptorType

from ...common.class_body import class_annotations
from ...common.fingerprint_rows import recorded_call
from .class_scope import statement_frame


class GeneratedBase:
    """The generated class among the `__orig_bases__` of a class that cannot be imported.

    cloudpickle takes a class apart into its bases and its dict, and sends slots by name only. In the other process, this base
    gives the metaclass the slots in time.
    """

    def __init__(self, cls: type, slots: tuple[str, ...] | None) -> None:
        self.cls = cls
        self.slots = slots

    def __reduce__(self) -> tuple[type[GeneratedBase], tuple[object, ...]]:
        # With arguments: where the two classes refer to each other, a state would come too late.
        return GeneratedBase, (self.cls, self.slots)

    def __mro_entries__(self, bases: tuple[object, ...]) -> tuple[type]:
        return (self.cls,)

    def __repr__(self) -> str:
        return self.cls.__name__


def keep_bases(cls: type, bases: tuple[type, ...], generated: type) -> None:
    """Keep in a class what cloudpickle needs to rebuild it.

    Primitives lose their annotations, which nobody reads. cloudpickle gives a class that is here already its functions again, and
    with their annotations it would take three pickles until two are equal: dask gives up before.
    """
    for name, value in vars(generated).items():
        if isinstance(value, FunctionType) and name.startswith("_") and not name.startswith("__"):
            value.__annotations__ = {}
    namespace = vars(cls)
    slots = namespace.get("__slots__")
    base = GeneratedBase(generated, None if slots is None else tuple(slots))
    type.__setattr__(cls, "__orig_bases__", (base, *namespace.get("__orig_bases__", bases)))


def is_declaring(namespace: Mapping[str, object], keywords: Mapping[str, object]) -> bool:
    """Whether a call declares fields, flags or a constructor, and is not a copy of a class that has a declaration."""
    if is_complete(namespace):
        return False
    given = bool(keywords) or "__init__" in namespace or bool(class_annotations(namespace))
    return given or any(recorded_call(value) is not None for value in namespace.values())


def is_complete(namespace: Mapping[str, object]) -> bool:
    """Whether a namespace is that of a class with a declaration, which is copied: `type(Batch)("Copy", Batch.__bases__, ...)`."""
    return "_declared_as" in namespace


def named(metaclass: type, name: str, namespace: Mapping[str, object]) -> dict[str, object]:
    """The namespace with the names that a class statement would have given it."""
    home = statement_frame(metaclass).f_globals.get("__name__", "builtins")
    return {"__module__": home, "__qualname__": name, **namespace}


def rebuilt(namespace: Mapping[str, object]) -> dict[str, object]:
    """The namespace of a copy, or of what cloudpickle rebuilds, with the slots of the original."""
    found = {name: value for name, value in namespace.items() if not isinstance(value, MemberDescriptorType)}
    # `type` makes these for each class.
    for name in ("__dict__", "__weakref__"):
        found.pop(name, None)
    generated = generated_base(namespace)
    if generated is not None and generated.slots is not None:
        found["__slots__"] = generated.slots
    return found


def generated_base(namespace: Mapping[str, object]) -> GeneratedBase | None:
    """The generated class that cloudpickle kept, in the namespace of the class that it rebuilds."""
    bases = namespace.get("__orig_bases__", ())
    given = bases if isinstance(bases, tuple) else ()
    return next((base for base in given if isinstance(base, GeneratedBase)), None)
