"""How a stub names what its source names: imports repeated, the source's own names reached through `_decl`.

A stub cannot use the source's names as they are: `Batch` means the generated class in it. So annotations are rewritten:
`Batch` becomes `_decl.Batch`, and imported names are imported again. Texts that come from another file (a handler registered
there, an inherited `forward`) are read with that file's imports.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..model import FileDecl, SourceFile, TypeExpr
from ..module_names import absolute
from . import spelling

_WORD = re.compile(r"(?<![\w.])[^\W\d]\w*")


class StubNames:
    """The names of one stub, and the imports that they turned out to need."""

    def __init__(self, file: FileDecl) -> None:
        self._file = file
        self._imports: dict[str, str] = {}

    @property
    def imports(self) -> list[str]:
        """The import statements for everything that was written so far."""
        return sorted(self._imports.values(), key=lambda line: (line.startswith("from ."), line))

    def type(self, type: TypeExpr, module: str = "") -> str:
        """An annotation as the stub writes it; `module` is where it stands, this file if empty."""
        return self.rewritten(spelling.static_type(type), type.names, module)

    def text(self, text: str) -> str:
        """`rewritten` for a text that has no strings, where every word may be a name."""
        return self.rewritten(text, _WORD.findall(text))

    def rewritten(self, text: str, names: Iterable[str], module: str = "") -> str:
        """A text with its names as the stub has them; imports that it needs are noted."""
        source = self._file.sources[module or self._file.source.module]
        heads = {name.partition(".")[0] for name in names}
        written = {head: self._written(head, source) for head in sorted(heads)}
        return _WORD.sub(lambda word: written.get(word[0], word[0]), text)

    def generated(self, qualified: str, suffix: str = "") -> str:
        """The generated class of a declaration, or what stands beside it: by name in this stub, by import from another."""
        home, _, cls = qualified.rpartition(".")
        name = f"{cls}{suffix}"
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
            leaf = source.module.rpartition(".")[2]
            return f"{self._import(f'_{leaf}', f'import {source.module}')}.{name}"
        home = imported.module
        if home.startswith(".") and source.module != self._file.source.module:
            home = absolute(home, source.module, source.is_package)
        if imported.name is None:
            return self._import(name, f"import {home}")
        return self._import(name, f"from {home} import {imported.name}")

    def _import(self, name: str, statement: str) -> str:
        """Note an import under `name`, or under a name with underscores where that is taken; gives the name."""
        bound = statement.rpartition(" ")[2]
        while True:
            line = statement if name == bound else f"{statement} as {name}"
            if self._imports.setdefault(name, line) == line and not (name == bound and self._is_own(name)):
                return name
            name = f"_{name}"

    def _is_own(self, name: str) -> bool:
        """Whether a generated class of this stub has the name."""
        return any(declaration.name == name for declaration in self._file.declarations)

    def _output_module(self, home: str) -> str:
        """The generated module of another source, relative where it is in the same folder."""
        own = self._file.source
        folder = own.module if own.is_package else own.module.rpartition(".")[0]
        is_package = self._file.is_package(home)
        parent, leaf = (home, "_qten") if is_package else (home.rpartition(".")[0], f"{home.rpartition('.')[2]}_qten")
        if parent == folder:
            return f".{leaf}" if folder else leaf
        return f"{parent}.{leaf}" if parent else leaf
