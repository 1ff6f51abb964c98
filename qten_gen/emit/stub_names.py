"""How a stub names what its source names: imports repeated, the source's own names reached through `_decl`.

A stub cannot use the source's names as they are: `Batch` means the generated class in it. So annotations are rewritten:
`Batch` becomes `_decl.Batch`, and imported names are imported again. Texts that come from another file (a handler registered
there, an inherited `forward`) are read with that file's imports.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from ..common.module_names import absolute
from ..model import FieldDecl, FileDecl, ModuleField, SourceFile, TypeExpr, home
from . import spelling
from .imports import IMPORTS, Aliases, statement

Meanings = Mapping[str, str]
"""What type variables stand for: the text that the stub has in place of each."""

_NOTHING: Meanings = {}
_WORD = re.compile(r"(?<![\w.])[^\W\d]\w*")


class StubNames:
    """The names of one stub, and the imports that they turned out to need.

    The imports are those of the whole file; what is imported the same way everywhere is noted in the `aliases` of a class.
    """

    def __init__(self, file: FileDecl) -> None:
        self.aliases = Aliases()
        self._file = file
        self._imports: dict[str, str] = {}

    def for_class(self) -> StubNames:
        """The same names with aliases of their own, for the view of one class."""
        names = StubNames(self._file)
        names._imports = self._imports
        return names

    @property
    def imports(self) -> list[str]:
        """The import statements for everything that was written so far."""
        return sorted(self._imports.values(), key=lambda line: (line.startswith("from ."), line))

    def type(self, type: TypeExpr, module: str = "", variables: Meanings = _NOTHING) -> str:
        """An annotation as the stub writes it; `module` is where it stands, this file if empty."""
        return self.rewritten(spelling.static_type(type), type.names, module, variables)

    def field_type(self, field: FieldDecl | ModuleField, variables: Meanings = _NOTHING) -> str:
        """The annotation of a field as the stub writes it: read in the file of the class that declares the field."""
        return self.type(field.type, home(field), variables)

    def text(self, text: str, module: str = "", variables: Meanings = _NOTHING) -> str:
        """`rewritten` for a text that has no strings, where every word may be a name."""
        return self.rewritten(text, _WORD.findall(text), module, variables)

    def variables(self, text: str, module: str) -> list[str]:
        """The type variables of a file that a text mentions."""
        known = self._file.sources[module].type_variables
        return [word for word in _WORD.findall(text) if word in known]

    def inside(self, module: str, cls: str, mentioned: Iterable[str]) -> Meanings:
        """How the stub writes those of the names that the body of a class binds: `_decl.Batch.Mode`."""
        source = self._file.sources[module]
        bound = next((found.attributes for found in source.classes if found.name == cls), ())
        inner = sorted(set(bound).intersection(mentioned))
        return {name: f"{self._written(cls, source)}.{name}" for name in inner}

    def rewritten(self, text: str, names: Iterable[str], module: str = "", variables: Meanings = _NOTHING) -> str:
        """A text with its names as the stub has them; imports that it needs are noted."""
        source = self._file.sources[module or self._file.source.module]
        heads = {name.partition(".")[0] for name in names}
        written = {head: variables.get(head) or self._written(head, source) for head in sorted(heads)}
        return _WORD.sub(lambda word: written.get(word[0], word[0]), text)

    def generated(self, qualified: str, suffix: str = "") -> str:
        """The generated class of a declaration, or what stands beside it: by name in this stub, by import from another."""
        home, _, cls = qualified.rpartition(".")
        name = f"{cls}{suffix}"
        while suffix and name in self._file.sources[home].names:
            name = f"{name}_"
        if home == self._file.source.module:
            return name
        return self._import(f"_{name}", f"from {self._output_module(home)} import {name}")

    def _written(self, name: str, source: SourceFile) -> str:
        """How the stub writes a name of a source file."""
        imported = source.imports.get(name)
        if imported is None:
            if name not in source.names:
                return name
            if source.module == self._file.source.module:
                return f"_decl.{name}"
            return self._import(f"_{name}", f"from {_seen_from(self._file.source, source.module)} import {name}")
        home = imported.module
        if home.startswith(".") and source.module != self._file.source.module:
            home = _seen_from(self._file.source, absolute(home, source.module, source.is_package))
        if imported.name is None:
            return self._import(name, f"import {home}")
        return self._import(name, f"from {home} import {imported.name}")

    def _import(self, name: str, written: str) -> str:
        """Note an import under `name`, or under a name with underscores where that is taken; gives the name."""
        bound = written.rpartition(" ")[2]
        while True:
            line = written if name == bound else f"{written} as {name}"
            if not self._is_taken(name, line) and self._imports.setdefault(name, line) == line:
                return name
            name = f"{name}_" if name.startswith("_") else f"_{name}"

    def _is_taken(self, name: str, line: str) -> bool:
        """Whether a generated class of this stub has the name, or the stub's own lines mean something else by it."""
        own = IMPORTS.get(name) if name.startswith("_") else None
        return (own is not None and line != statement(name, own)) or any(
            declaration.name == name for declaration in self._file.declarations
        )

    def _output_module(self, home: str) -> str:
        """The generated module of another source, as this stub imports it."""
        folder, _, leaf = home.rpartition(".")
        outputs = (
            f"{home}._qten" if self._file.is_package(home) else f"{folder}.{leaf}_qten" if folder else f"{leaf}_qten"
        )
        return _seen_from(self._file.source, outputs)


def _seen_from(source: SourceFile, module: str) -> str:
    """A module as a file imports it: relative within one top-level package, whatever folder the run was given."""
    package = source.module.split(".")[: None if source.is_package else -1]
    parts = module.split(".")
    common = next(
        (i for i, (a, b) in enumerate(zip(package, parts, strict=False)) if a != b), min(len(package), len(parts))
    )
    return f"{'.' * (len(package) - common + 1)}{'.'.join(parts[common:])}" if common else module
