"""Finds classes that are not among the files of a run: in sources of the project that declare nothing, and in libraries."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import cached_property

from ..model import language
from ..model.constructed import ConstructedClass, FoundClass
from ..project.import_graph import SourceGraph
from ..read.constructors import ClassModule, class_module

_LONGEST_CHAIN = 20
"""How many imports lead from a name to its class at most."""


class OtherClasses:
    """The classes as far as their text says what a call takes, each module read once."""

    def __init__(self, sources: Mapping[str, bytes], graph: SourceGraph) -> None:
        self._sources = sources
        self._graph = graph
        self._modules: dict[str, ClassModule | None] = {}
        self._found: dict[tuple[str, str], FoundClass] = {}

    def find(self, root: str, name: str) -> FoundClass:
        """A class by a qualified name that it has in files which are imported from `root`."""
        head = name.partition(".")[0]
        if head == name or head == language.PACKAGE or head in sys.stdlib_module_names:
            return FoundClass(None)
        key = root, name
        if key not in self._found:
            libraries = None if head in self._own_heads else self._graph.libraries
            found = None if libraries is None else libraries.recall(name)
            if found is None:
                lookups: set[str] = set()
                cls = self._follow(root, name, lookups, _LONGEST_CHAIN)
                found = FoundClass(cls, tuple(sorted(lookups)))
                # What leads back into the project may change without another version of a library.
                if libraries is not None and not any(
                    lookup[1:].partition(".")[0] in self._own_heads for lookup in lookups
                ):
                    libraries.keep(name, found)
            self._found[key] = found
        return self._found[key]

    @cached_property
    def _own_heads(self) -> frozenset[str]:
        return frozenset(origin.module.partition(".")[0] for origin in self._graph.origins.values())

    def _follow(self, root: str, name: str, lookups: set[str], steps: int) -> ConstructedClass | None:
        """The class that a name leads to by imports, star imports included."""
        module, _, last = name.rpartition(".")
        found = self._module(root, module, lookups) if module and steps else None
        if found is None:
            return None
        if last in found.classes:
            return found.classes[last]
        if last in found.imports:
            return self._follow(root, found.imports[last], lookups, steps - 1)
        if last in found.bound:
            return None
        # The last star import wins.
        stars = (self._follow(root, f"{star}.{last}", lookups, steps - 1) for star in reversed(found.stars))
        return next((cls for cls in stars if cls is not None), None)

    def _module(self, root: str, module: str, lookups: set[str]) -> ClassModule | None:
        """A module of the project or of a library, read; the look-up says which."""
        head = module.partition(".")[0]
        path = self._graph.modules.below(root, module)
        if path is not None or head in self._own_heads:
            lookups.add(f"!{module}")
            if path is None:
                return None
            if path not in self._modules:
                is_package = self._graph.origins[path].is_package
                self._modules[path] = class_module(self._sources[path], path, module, is_package)
            return self._modules[path]
        lookups.add(f"!{head}")
        found = None if self._graph.libraries is None else self._graph.libraries.source(module)
        if found is None:
            return None
        if found.path not in self._modules:
            self._modules[found.path] = class_module(found.data, found.path, module, found.is_package)
        return self._modules[found.path]
