"""Modules that write their own `__init__`, or keep that of another library's class: what an annotation says in them.

Where a constructor is generated, an annotation declares an argument of it. Where one is written by hand, the class body means
what it means in any class: `rate: float = 0.1` is an attribute of the class, `_cache: Tensor | None` says a type. Only a public
name without a value stays a field: a constructor argument that the class keeps, as far as `config` can tell.
"""

from __future__ import annotations

from collections.abc import Iterable

from .class_body import FieldSource
from .declarations import BaseDecl
from .fields import ModuleField, VirtualDecl

_OTHERS = frozenset({"abc", "builtins", "qten_gen", "typing", "typing_extensions"})
"""Packages whose classes have no `__init__` that could be kept."""
_PLAIN = frozenset({"torch.nn.Module", "torch.nn.modules.Module", "torch.nn.modules.module.Module"})


def is_attribute_only(source: FieldSource) -> bool:
    """Whether an annotation in a class with a hand-written `__init__` declares no field."""
    return source.specifier is None and (source.value is not None or source.name.startswith("_"))


def is_plain_annotation(source: FieldSource) -> bool:
    """Whether it is a public name with an annotation and nothing else, a config field where a constructor is generated."""
    return source.specifier is None and source.value is None and not source.name.startswith("_")


def keeps_foreign_init(fields: Iterable[ModuleField], lineage: Iterable[tuple[tuple[BaseDecl, ...], bool]]) -> bool:
    """Whether a class without a hand-written `__init__` has that of a class that is not declared.

    That is so with `init=False`, which directly below Module keeps the constructor of nn.Module, and below a layer of torch where
    nothing is declared that a constructor would have to register.

    Args:
        fields: All fields of the class.
        lineage: Of the class and each declared ancestor, the bases, and whether its statement has `init=False`.
    """
    declares = any(not isinstance(field, VirtualDecl) for field in fields)
    return any(
        (keeps and any(_is_foreign(base) or is_root(base) for base in bases))
        or (not declares and any(map(_is_layer, bases)))
        for bases, keeps in lineage
    )


def is_root(base: BaseDecl) -> bool:
    """Whether a base of a Module is Module itself: by its public name in a text, by that of its file in a class statement."""
    first, _, last = base.name.partition(".")
    return first == "qten_gen" and last.rpartition(".")[2] == "Module"


def _is_foreign(base: BaseDecl) -> bool:
    return not base.declared and base.name not in _PLAIN and base.name.partition(".")[0] not in _OTHERS


def _is_layer(base: BaseDecl) -> bool:
    return base.name.startswith("torch.nn.") and base.name not in _PLAIN
