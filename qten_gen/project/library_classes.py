"""The classes of installed libraries: their sources, and what an earlier run read of them.

What was read is remembered in the cache of the project, with the versions of the libraries, so that a run reads them once. Only
libraries whose metadata says their version count. Others, such as editable installations, change without a trace.
"""

from __future__ import annotations

import json
from functools import cached_property
from typing import TYPE_CHECKING

from .cache import generator, read_cached, write
from .import_graph import LibrarySource
from .paths import read_regular

if TYPE_CHECKING:
    from typing import Any

    from ..model.constructed import FoundClass
    from .installed import Installed

_NAME = "library_classes.json"


class RememberedClasses:
    """The classes of an environment; `cache` is the folder that holds what is remembered."""

    def __init__(self, environment: str | None, cache: str) -> None:
        self._environment = environment
        self._cache = cache
        self._versions: dict[str, str] = {}
        self._kept: dict[str, FoundClass] = {}

    def version(self, head: str) -> str:
        """The version of an installed library by its top-level module; empty if it is not known."""
        if head not in self._versions:
            self._versions[head] = self._installed.version(head)
        return self._versions[head]

    def source(self, module: str) -> LibrarySource | None:
        """The source of a module of an installed library."""
        found = self._installed.find(module) if self.version(module.partition(".")[0]) else None
        try:
            return None if found is None else LibrarySource(read_regular(found.path), found.path, found.is_package)
        except OSError:
            return None

    def recall(self, name: str) -> FoundClass | None:
        """The result of a run's search for a qualified name; None if none has looked, or in another version."""
        return self._kept.get(name) or self._remembered.get(name)

    def keep(self, name: str, found: FoundClass) -> None:
        """Remember what was found under a qualified name."""
        self._kept[name] = found

    @property
    def kept(self) -> dict[str, FoundClass]:
        """The classes found since the last time that they were saved."""
        return self._kept

    def save(self) -> None:
        """Write what was found. If that fails, the next run is slower."""
        if self._kept:
            known = {**self._remembered, **self._kept}
            heads = {lookup[1:] for found in known.values() for lookup in found.lookups}
            document = {
                "generator": generator(),
                "versions": {head: self.version(head) for head in sorted(heads)},
                "classes": dict(sorted(known.items())),
            }
            write(self._cache, _NAME, json.dumps(document, separators=(",", ":")).encode())
            self._kept = {}

    @cached_property
    def _installed(self) -> Installed:
        from .installed import Installed

        return Installed(self._environment)

    @cached_property
    def _remembered(self) -> dict[str, FoundClass]:
        """The results of earlier runs in the versions that are installed now."""
        try:
            document = json.loads(read_cached(self._cache, _NAME))
            if document["generator"] != generator():
                return {}
            changed = {f"!{head}" for head, version in document["versions"].items() if version != self.version(head)}
            found = {name: _found(entry) for name, entry in document["classes"].items()}
            return {name: item for name, item in found.items() if changed.isdisjoint(item.lookups)}
        except (OSError, ValueError, TypeError, LookupError, AttributeError, RecursionError, MemoryError):
            return {}


def _found(entry: Any) -> FoundClass:
    from ..model.constructed import ConstructedClass, FoundClass

    found, lookups = entry
    if found is None:
        return FoundClass(None, tuple(lookups))
    bases, parameters, is_plain = found
    return FoundClass(ConstructedClass(tuple(bases), parameters, is_plain), tuple(lookups))
