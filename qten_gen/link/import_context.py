"""Finds what a file must know about other files to resolve its names: star imports, and reexported names of libraries.

`from .base import *` binds the names that `base` exports. `from .common import Tensor` means `torch.Tensor` if `common` imports
it from torch. The reader must know this, because it decides whether an annotation is a tensor, or a call a `param`. So files that
need it are read a second time, with the contexts that this module derives from the first reading.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from ..common.module_names import absolute
from ..model import ImportContext, ImportedName, SourceFile, language


def import_contexts(files: Sequence[SourceFile], texts: Mapping[str, bytes]) -> dict[str, ImportContext]:
    """The contexts by path. Files that need none are left out. `texts` contains the bytes of the files by path."""
    exports = _Exports(files)
    reexports = exports.reexports()
    below = _by_prefix(reexports)
    found = {}
    for file in files:
        star_names, complete = exports.star_names(file)
        if complete or star_names or _uses(file, reexports, below, texts[file.path]):
            found[file.path] = ImportContext(reexports, star_names, complete)
    return found


def _by_prefix(names: Iterable[str]) -> dict[str, list[str]]:
    """For each module and package, the rest of each qualified name that starts with it, including the dot."""
    found: dict[str, list[str]] = {}
    for name in names:
        end = name.rfind(".")
        while end > 0:
            found.setdefault(name[:end], []).append(name[end:])
            end = name.rfind(".", 0, end)
    return found


def _uses(file: SourceFile, reexports: Mapping[str, str], below: Mapping[str, list[str]], text: bytes) -> bool:
    """Whether a file imports a reexported name, or uses one as an attribute of the module that reexports it."""
    for name, imported in file.imports.items():
        module = absolute(imported.module, file.module, file.is_package)
        qualified = module if imported.name is None else f"{module}.{imported.name}"
        if qualified in reexports or any(f"{name}{rest}".encode() in text for rest in below.get(qualified, ())):
            return True
    return False


class _Exports:
    """The names that files bind and export, including those of star imports."""

    def __init__(self, files: Sequence[SourceFile]) -> None:
        self._files = {file.module: file for file in files}

    def reexports(self) -> dict[str, str]:
        """The names in the files that are imported from outside the run, with their origin."""
        found = {}
        for file in self._files.values():
            for name in (*file.imports, *self.star_names(file)[0]):
                meaning = self._meaning(file, name, ())
                if meaning is not None and self._is_outside(meaning):
                    found[f"{file.module}.{name}"] = meaning
        return found

    def star_names(self, file: SourceFile) -> tuple[dict[str, ImportedName], bool]:
        """The names that the star imports of a file bind, and whether it has such imports and all their names are known."""
        star_names: dict[str, ImportedName] = {}
        for star, source in self._stars(file):
            for name in self._exports(source, ()):
                submodule = f"{source.module}.{name}"
                meaning = self._meaning(source, name, ()) or (submodule if submodule in self._files else None)
                if meaning is not None:
                    star_names[name] = self._origin(star, name, meaning)
        kept = {name: origin for name, origin in star_names.items() if name not in file.names}
        return kept, bool(file.star_imports) and self._is_complete(file, ())

    def _stars(self, file: SourceFile) -> Iterator[tuple[str, SourceFile]]:
        """The star imports from files of the run, as written, with these files."""
        for star in file.star_imports:
            source = self._files.get(absolute(star, file.module, file.is_package))
            if source is not None:
                yield star, source

    def _is_complete(self, file: SourceFile, below: tuple[str, ...]) -> bool:
        stars = list(self._stars(file))
        return len(stars) == len(file.star_imports) and all(
            self._is_complete(source, (*below, file.module)) for _, source in stars if source.module not in below
        )

    def _exports(self, file: SourceFile, below: tuple[str, ...]) -> Iterator[str]:
        """The names that a star import of the file binds: those of `__all__`, or all public names."""
        if file.exported is not None:
            yield from file.exported
        elif file.module not in below:
            yield from (name for name in sorted(file.names) if not name.startswith("_"))
            for _, source in self._stars(file):
                yield from self._exports(source, (*below, file.module))

    def _meaning(self, file: SourceFile, name: str, below: tuple[str, ...]) -> str | None:
        """The qualified name that a name in a file refers to; None if the file has no such name."""
        if file.module in below:
            return None
        deeper = (*below, file.module)
        imported = file.imports.get(name)
        if imported is not None and all(cls.name != name for cls in file.classes):
            return self._imported(file, imported, deeper)
        if name in file.names:
            return f"{file.module}.{name}"
        for _, source in reversed(list(self._stars(file))):
            if name in self._exports(source, ()) and (meaning := self._meaning(source, name, deeper)) is not None:
                return meaning
        return None

    def _imported(self, file: SourceFile, imported: ImportedName, below: tuple[str, ...]) -> str | None:
        module = absolute(imported.module, file.module, file.is_package)
        if imported.name is None:
            return module
        if module.partition(".")[0] == language.PACKAGE:
            return f"{language.PACKAGE}.{imported.name}"
        source = self._files.get(module)
        meaning = self._meaning(source, imported.name, below) if source is not None else None
        return meaning or f"{module}.{imported.name}".lstrip(".")

    def _is_outside(self, qualified: str) -> bool:
        """Whether a name is outside the files of the run, such as in a library."""
        parts = qualified.split(".")
        return all(".".join(parts[:end]) not in self._files for end in range(1, len(parts) + 1))

    def _origin(self, star: str, name: str, meaning: str) -> ImportedName:
        """The explicit import that would bind the same name as a star import."""
        if not self._is_outside(meaning):
            return ImportedName(star, name)
        module, _, last = meaning.rpartition(".")
        return ImportedName(module, last) if module else ImportedName(last, None)
