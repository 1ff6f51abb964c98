"""Finds what a file must know about other files to resolve its names: star imports, and reexported names of libraries.

`from .base import *` binds the names that `base` exports. `from .common import Tensor` means `torch.Tensor` if `common` imports
it from torch. The reader must know this, because it decides whether an annotation is a tensor, or a call a `param`. So files that
need it are read a second time, with the context that this module derives from the first readings.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Protocol

from ..common.naming import absolute, source_module
from ..model import ImportContext, ImportedName, SourceFile, language
from .lookups import Lookups, remembered


class Modules(Protocol):
    """The modules of a run, as they are read for the first time."""

    def first(self, module: str) -> SourceFile | None:
        """The first reading of a module; None for a module outside the run."""
        ...

    def is_package(self, module: str) -> bool | None:
        """True if a module is a package; None for a module outside the run. Its content does not matter."""
        ...


class Exports:
    """The names that files bind and export, star imports included."""

    def __init__(self, modules: Modules, lookups: Lookups) -> None:
        self._modules = modules
        self.lookups = lookups

    def context(self, file: SourceFile, asked: Collection[str]) -> ImportContext | None:
        """The context of a file; None if it needs none. `asked` are the qualified names that its first reading asked for."""
        star_names, complete = self.star_names(file)
        # Sorted: the first hit ends the search, and what was looked up until then is remembered.
        if complete or star_names or any(self.get(name) is not None for name in sorted(asked)):
            return ImportContext(self, star_names, complete)
        return None

    @remembered
    def get(self, name: str) -> str | None:
        """The origin of a qualified name that a file imports from outside the run: `torch.Tensor` for `shop.common.Tensor`."""
        module, _, last = name.rpartition(".")
        is_package = self._modules.is_package(module) if module else None
        # A module of the run is never a name that its package imports.
        if is_package is None or (is_package and self._modules.is_package(name) is not None):
            return None
        file = self._modules.first(module)
        meaning = self._meaning(file, last) if file is not None else None
        return meaning if meaning is not None and self._is_outside(meaning) else None

    def star_names(self, file: SourceFile) -> tuple[dict[str, ImportedName], bool]:
        """The names that the star imports of a file bind, and whether it has such imports and all their names are known."""
        star_names: dict[str, ImportedName] = {}
        # In their order: of two star imports that bind a name, the later one counts.
        for star, source in self._stars(file):
            for name in sorted(self._bound(star, source)):
                # `__all__` of a package may list its modules, which its text need not bind.
                submodule = f"{source.module}.{name}"
                meaning = self._meaning(source, name) or (
                    submodule if self._modules.is_package(submodule) is not None else None
                )
                # The name is this file's own, seen through the other one.
                if meaning is not None and not (name in star_names and _imports_back(source, name, file)):
                    star_names[name] = self._origin(star, name, meaning)
        kept = {name: origin for name, origin in star_names.items() if name not in file.names}
        return kept, bool(file.star_imports) and self._is_complete(file)

    def _stars(self, file: SourceFile) -> Iterator[tuple[str, SourceFile]]:
        """The star imports from files of the run, as written, with these files."""
        for star in file.star_imports:
            source = self._modules.first(absolute(star, file.module, file.is_package))
            if source is not None:
                yield star, source

    def _is_complete(self, file: SourceFile) -> bool:
        """True if all star imports that a file leads to are from files of the run."""
        waiting, seen = [file], {file.module}
        while waiting:
            current = waiting.pop()
            stars = list(self._stars(current))
            if len(stars) < len(current.star_imports):
                return False
            sources = [source for star, source in stars if source.module not in seen and not source_module(star)]
            waiting += sources
            seen.update(source.module for source in sources)
        return True

    def _bound(self, star: str, source: SourceFile) -> Collection[str]:
        """The names that a star import from a file binds. A generated module has what the file defines, not what it imports."""
        if not source_module(star):
            return self._exports(source.module)
        return [name for name in source.names if not name.startswith("_") and name not in source.imports]

    @remembered
    def _exports(self, module: str) -> frozenset[str]:
        """The names that a star import of a module binds: what its `__all__` lists, or all public names."""
        found: set[str] = set()
        waiting, seen = [self._modules.first(module)], {module}
        while waiting:
            current = waiting.pop()
            if current is None:
                continue
            if current.exported is not None:
                found.update(current.exported)
                continue
            found.update(name for name in current.names if not name.startswith("_"))
            for star, source in self._stars(current):
                if source_module(star):
                    found.update(self._bound(star, source))
                elif source.module not in seen:
                    seen.add(source.module)
                    waiting.append(source)
        return frozenset(found)

    @remembered
    def _starred(self, module: str) -> Mapping[str, Sequence[SourceFile]]:
        """The names that the star imports of a module bind, each with the files that it may be from."""
        file = self._modules.first(module)
        found: dict[str, list[SourceFile]] = {}
        for star, source in self._stars(file) if file is not None else ():
            for name in self._bound(star, source):
                found.setdefault(name, []).append(source)
        return found

    def _meaning(self, start: SourceFile, wanted: str) -> str | None:
        """The qualified name that a name in a file refers to; None if the file has no such name.

        It goes along imports, and through star imports from the last one back. A text among the waiting steps is the name as an
        import has it: the answer if the steps after it lead nowhere.
        """
        waiting: list[tuple[SourceFile, str] | str] = [(start, wanted)]
        seen: set[tuple[str, str]] = set()
        while waiting:
            step = waiting.pop()
            if isinstance(step, str):
                return step
            file, name = step
            if (file.module, name) in seen:
                continue
            seen.add((file.module, name))
            imported = file.imports.get(name)
            # A class statement wins over an import, as in `Scope`.
            if imported is not None and all(cls.name != name for cls in file.classes):
                waiting += self._imported(file, imported)
            elif name in file.names:
                return f"{file.module}.{name}"
            else:
                # By name: a package may import hundreds of modules with a star.
                waiting += [(source, name) for source in self._starred(file.module).get(name, ())]
        return None

    def _imported(self, file: SourceFile, imported: ImportedName) -> Iterator[tuple[SourceFile, str] | str]:
        """The steps that an import leads to, the last one first to be taken."""
        module = absolute(imported.module, file.module, file.is_package)
        if imported.name is None:
            yield module
        # TensorClass is one class, whichever module of the package it is imported from.
        elif module.partition(".")[0] == language.PACKAGE:
            yield f"{language.PACKAGE}.{imported.name}"
        else:
            yield f"{module}.{imported.name}".lstrip(".")  # the module is empty where the dots lead above the top level
            source = self._modules.first(module)
            if source is not None:
                yield source, imported.name

    def _is_outside(self, qualified: str) -> bool:
        """True if a name is defined outside the files of the run, such as in a library."""
        parts = qualified.split(".")
        return all(self._modules.is_package(".".join(parts[:end])) is None for end in range(1, len(parts) + 1))

    def _origin(self, star: str, name: str, meaning: str) -> ImportedName:
        """The explicit import that would bind the same name as a star import."""
        if not self._is_outside(meaning):
            return ImportedName(star, name)
        module, _, last = meaning.rpartition(".")
        return ImportedName(module, last) if module else ImportedName(last, None)


def _imports_back(source: SourceFile, name: str, file: SourceFile) -> bool:
    """True if a file that another one imports with a star has a name from that one."""
    imported = source.imports.get(name)
    if imported is None or imported.name != name:
        return False
    return absolute(imported.module, source.module, source.is_package) == file.module
