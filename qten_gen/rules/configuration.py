"""The attributes of configuration classes, as far as the text of a class, or the class itself, says them.

A configuration class is any class that a config field is annotated with: a dataclass, a NamedTuple, a TensorClass, a model of
pydantic, a configuration of transformers, an ordinary class. Its attributes are those that it annotates, assigns or defines, and
those that its methods assign to `self`.
"""

from __future__ import annotations

from ast import literal_eval
from collections.abc import Mapping

from ..model import ClassSource, ConfigurationClass, Declaration, TypeExpr
from ..model.configuration import KNOWN_ROOTS, names_of_root

_DECORATORS = frozenset({"auto_docstring", "dataclass", "define", "final", "frozen", "strict", "total_ordering"})
"""The class decorators, without their modules, that add no attributes which a configuration is asked for."""
_OPENING = frozenset({"__getattr__", "__getattribute__"})
"""Methods with which a class has any attributes."""
_AFTER_CONSTRUCTION = ("__init__", "__post_init__", "model_post_init", "__attrs_post_init__")


def configuration_class(
    name: str,
    classes: Mapping[str, ClassSource],
    declarations: Mapping[str, Declaration],
    seen: frozenset[str] = frozenset(),
) -> ConfigurationClass | None:
    """What is known of a class of the run; None for a class of which not all attributes are known."""
    if name in KNOWN_ROOTS:
        return ConfigurationClass(names_of_root(name))
    source = classes.get(name)
    if source is None or name in seen or source.unpacked or source.sets_any:
        return None
    if any(keyword == "metaclass" for keyword, _ in source.keywords):
        return None
    if any(decorator.rpartition(".")[2] not in _DECORATORS for decorator, _ in source.decorators):
        return None
    found: dict[str, TypeExpr | None] = {}
    for base in reversed(source.bases):
        inherited = configuration_class(base.name, classes, declarations, seen | {name})
        if inherited is None:
            return None
        found.update(inherited.attributes)
    own = _own(source)
    if own is None:
        return None
    found.update(own)
    declared = declarations.get(name)
    found.update((field.name, field.type) for field in (declared.fields if declared is not None else ()))
    return ConfigurationClass(found)


def _own(source: ClassSource) -> dict[str, TypeExpr | None] | None:
    """The attributes that a class statement gives its objects; None if they are not all known."""
    parts = (source, source.conditional, source.for_checkers)
    methods = [method for part in parts for method in part.methods]
    if _OPENING & {method.name for method in methods}:
        return None
    found: dict[str, TypeExpr | None] = dict.fromkeys(source.attributes)
    found.update((field.name, field.annotation) for part in parts for field in part.fields)
    found.update((method.name, None) for method in methods)
    renamed = _renamed(source)
    if renamed is None:
        return None
    found.update((name, found.get(other)) for name, other in renamed.items())
    for method in methods:
        for change in method.changes:
            if change.action == "assign" and change.name:
                # What a constructor assigns may have another type than the annotation says: `None` stands for "to be computed".
                is_kept = change.name in found and method.name not in _AFTER_CONSTRUCTION
                found[change.name] = found[change.name] if is_kept else None
    return found


def _renamed(source: ClassSource) -> dict[str, str] | None:
    """The second names that a configuration of transformers gives to its attributes; None where they are not literals."""
    if "attribute_map" not in source.attributes:
        return {}
    text = next((value.text for name, value in source.values if name == "attribute_map"), "")
    try:
        found: object = literal_eval(text)
    except (ValueError, SyntaxError):
        return None
    return {str(name): str(other) for name, other in found.items()} if isinstance(found, dict) else None
