"""What the text says about the bases of a type."""

from __future__ import annotations

import builtins

from .context import Project


def known_ancestors(name: str, project: Project) -> frozenset[str] | None:
    """A class and all its ancestors; None if the text does not say."""
    module, _, plain = name.rpartition(".")
    if module == "builtins" and isinstance(cls := getattr(builtins, plain, None), type):
        return frozenset(f"builtins.{base.__name__}" for base in cls.__mro__)
    if name in ("torch.Tensor", "builtins.None"):
        return frozenset({name, "builtins.object"})
    declaration = project.declarations.get(name)
    if declaration is None:
        return None
    found = frozenset({name, "builtins.object"})
    for base in declaration.bases:
        above = known_ancestors(base.name, project) if base.declared else _root(base.name)
        if above is None:
            return None
        found |= above
    return found


def _root(name: str) -> frozenset[str] | None:
    return frozenset({name}) if name.startswith("qten_gen.") else None
