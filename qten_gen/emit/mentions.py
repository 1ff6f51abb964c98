"""Where a type mentions declared classes, so that it is another one in the stub than in the source."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from ..model import FileDecl, SourceFile
from .passing import passing
from .renaming import Passing, Way, rewritten


class Mentions(NamedTuple):
    """Writes the same mark for every declared class, which shows where one is."""

    file: FileDecl
    source: SourceFile
    inner: Collection[str] = ()
    """The names that mean something else where the text stands."""
    inside: frozenset[str] = frozenset()
    """The aliases that the text belongs to, because an alias may mention itself."""

    def whole(self, name: str, way: Way) -> str | None:
        """The mark of a declared class, and of an alias of a type with one."""
        if way is Way.DECLARED or name in self.inner:
            return None
        meant = self.file.meanings.get(f"{self.source.module}:{name}", name)
        if meant in self.file.related:
            return "!" if way is Way.GIVEN else None
        module, _, alias = meant.rpartition(".")
        file = self.file.sources.get(module) if module else None
        found = None if file is None else file.aliases.get(alias)
        if file is None or found is None or meant in self.inside:
            return None
        mentions = self._replace(source=file, inner=(), inside=self.inside | {meant})
        return "!" if differs(found.text, way, mentions) else None

    def head(self, name: str) -> str:
        return name

    def passing(self, name: str) -> Passing:
        return passing(name, self.source)


def differs(text: str, way: Way, mentions: Mentions) -> bool:
    """Whether a type is another one that way than to the declaration."""
    return rewritten(text, mentions, way) != rewritten(text, mentions, Way.DECLARED)
