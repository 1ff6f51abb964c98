"""How a stub names what its source names: imports repeated, the source's own names reached through `_decl`.

A stub cannot use the source's names as they are: `Batch` means the generated class in it. So annotations are rewritten: `Batch`
becomes `_decl.Batch` in what a function takes, and stays `Batch` in what it gives; imported names are imported again. Texts that
come from another file (a handler registered there, an inherited `forward`) are read with that file's imports.
"""

from __future__ import annotations

import builtins
import re
from collections.abc import Collection, Iterable, Mapping
from copy import copy
from typing import NamedTuple

from ..common.module_names import absolute
from ..model import ClassSource, Declaration, FieldDecl, FileDecl, ModuleField, SourceFile, TypeExpr, home
from . import spelling
from .builtin_names import WRITTEN_BUILTINS, Builtins
from .imports import IMPORTS, Aliases, statement
from .mentions import Mentions, differs
from .passing import passing
from .renaming import Passing, Way, rewritten
from .stub_methods import methods_of_stub

Meanings = Mapping[str, str]
"""What type variables stand for: the text that the stub has in place of each."""

_NOTHING: Meanings = {}
_WORD = re.compile(r"(?<![\w.])[^\W\d]\w*")
_BUILTINS = frozenset(dir(builtins))
_FINAL = ("typing.final", "typing_extensions.final")


class StubNames:
    """The names of one stub, and the imports that they turned out to need.

    The imports are those of the whole file; what is imported the same way everywhere is noted in the `aliases` of a class.
    """

    def __init__(self, file: FileDecl, repeated: Collection[str] = ()) -> None:
        """`repeated` are the members and functions of the source that the stub has as well."""
        self.aliases = Aliases()
        self._file = file
        self._imports: dict[str, str] = {}
        self._inside: set[str] = set()
        self._repeated = frozenset(repeated)
        self._declared = frozenset(declaration.name for declaration in file.declarations)
        self._bound = self._repeated.union(*(_names_in_body(declaration) for declaration in file.declarations))
        self._builtins = Builtins(self._bound)

    def for_class(self) -> StubNames:
        """The same names with aliases of their own, for the view of one class."""
        names = copy(self)
        names.aliases = Aliases()
        names._builtins = Builtins(self._bound)
        return names

    @property
    def classes(self) -> Mapping[str, ClassSource]:
        """The classes of the run that are looked up, by qualified name."""
        return self._file.classes

    @property
    def imports(self) -> list[str]:
        """The import statements for everything that was written so far."""
        return sorted(self._imports.values(), key=lambda line: (line.startswith("from ."), line))

    def type(self, type: TypeExpr, module: str = "", variables: Meanings = _NOTHING, way: Way = Way.DECLARED) -> str:
        """An annotation as the stub writes it; `module` is where it stands, this file if empty."""
        return self.text(spelling.static_type(type), module, variables, way)

    def field_type(
        self, field: FieldDecl | ModuleField, variables: Meanings = _NOTHING, way: Way = Way.DECLARED
    ) -> str:
        """The annotation of a field as the stub writes it: read in the file of the class that declares the field."""
        return self.type(field.type, home(field), variables, way)

    def text(self, text: str, module: str = "", variables: Meanings = _NOTHING, way: Way = Way.DECLARED) -> str:
        """A type with its names as the stub has them; imports that it needs are noted."""
        source = self._file.sources[module or self._file.source.module]
        return rewritten(text, _WordsOfStub(self, source, variables), way)

    def whole(self, name: str, source: SourceFile, way: Way) -> str | None:
        """What stands for a declared class, or for an alias of a type with some; None for any other name."""
        if way is Way.DECLARED:
            return None
        meant = self._file.meanings.get(f"{source.module}:{name}", name)
        if meant in self._file.related:
            return self.generated(meant) if way is Way.GIVEN else None
        module, _, alias = meant.rpartition(".")
        file = self._file.sources.get(module) if module else None
        found = None if file is None else file.aliases.get(alias)
        if file is None or found is None or meant in self._inside:
            return None
        self._inside.add(meant)
        try:
            mentions = Mentions(self._file, file, inside=frozenset({meant}))
            return self.type(found, module, way=way) if differs(found.text, way, mentions) else None
        finally:
            self._inside.remove(meant)

    def is_final(self, declaration: Declaration) -> bool:
        """Whether a class of this file is decorated with `@final`."""
        return any(
            name in _FINAL
            for found in self._file.source.classes
            if found.name == declaration.name
            for name, _ in found.decorators
        )

    def builtin(self, name: str) -> str:
        """A builtin as the stub writes it: `_builtins.set` beside a method `set`."""
        written = self._builtins.name(name)
        for alias in self._builtins.imports:
            self.aliases.use(alias)
        return written

    def source(self, module: str) -> SourceFile:
        """A file of the run, in which a text stands."""
        return self._file.sources[module]

    def variables(self, text: str, module: str) -> list[str]:
        """The type variables of a file that a text mentions."""
        known = self._file.sources[module].type_variables
        return [word for word in _WORD.findall(text) if word in known]

    def is_variable(self, field: FieldDecl) -> bool:
        """Whether a field is annotated with a type variable of its file or its class, which stands for what the object holds."""
        known, owner = self._file.sources[home(field)].type_variables, field.owner.rpartition(".")[2]
        return any(name in known or f"{owner}.{name}" in known for name in field.type.names)

    def inside(self, module: str, cls: str, mentioned: Iterable[str]) -> Meanings:
        """How the stub writes those of the names that the body of a class binds: `_decl.Batch.Mode`."""
        source = self._file.sources[module]
        bound = next((found.attributes for found in source.classes if found.name == cls), ())
        inner = sorted(set(bound).intersection(mentioned))
        return {name: f"{self.written(cls, source)}.{name}" for name in inner}

    def generated(self, qualified: str, suffix: str = "") -> str:
        """The generated class of a declaration, or what stands beside it: by name in this stub, by import from another."""
        home, _, cls = qualified.rpartition(".")
        name = f"{cls}{suffix}"
        while suffix and name in self._file.sources[home].names:
            name = f"{name}_"
        if home == self._file.source.module:
            return name
        return self._import(f"_{name}", f"from {self._output_module(home)} import {name}")

    def written(self, name: str, source: SourceFile) -> str:
        """How the stub writes a name of a source file."""
        imported = source.imports.get(name)
        if imported is None:
            if name not in source.names and not (source.has_star_import and name not in _BUILTINS):
                return self.builtin(name) if name in self._bound else name
            if source.module == self._file.source.module:
                return f"_decl.{name}"
            return self._import(f"_{name}", f"from {_seen_from(self._file.source, source.module)} import {name}")
        home = imported.module
        if home.startswith(".") and source.module != self._file.source.module:
            home = _seen_from(self._file.source, absolute(home, source.module, source.is_package))
        if imported.name is None:
            return self._import(name, f"import {home}")
        if not home:
            # `from . import base` in a folder that is not a package: what it names is a module at the top.
            return self._import(name, f"import {imported.name}")
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
        """Whether this stub means something else by the name, at its top or in the body of a class."""
        own = IMPORTS.get(name)
        return (
            (own is not None and line != statement(name, own))
            or name in self._bound
            or name in WRITTEN_BUILTINS
            or name == "_decl"
            or name in self._declared
        )

    def _output_module(self, home: str) -> str:
        """The generated module of another source, as this stub imports it."""
        folder, _, leaf = home.rpartition(".")
        outputs = (
            f"{home}._qten" if self._file.is_package(home) else f"{folder}.{leaf}_qten" if folder else f"{leaf}_qten"
        )
        return _seen_from(self._file.source, outputs)


def _names_in_body(declaration: Declaration) -> frozenset[str]:
    """What names mean something of its own in the body of a class: those of its fields and of the methods in its stub."""
    return methods_of_stub(declaration).union(field.name for field in declaration.fields)


class _WordsOfStub(NamedTuple):
    """What names mean in the annotations of one file, and how the stub writes them."""

    names: StubNames
    source: SourceFile
    variables: Meanings

    def whole(self, name: str, way: Way) -> str | None:
        return None if name in self.variables else self.names.whole(name, self.source, way)

    def head(self, name: str) -> str:
        return self.variables.get(name) or self.names.written(name, self.source)

    def passing(self, name: str) -> Passing:
        return passing(name, self.source)


def _seen_from(source: SourceFile, module: str) -> str:
    """A module as a file imports it: relative within one top-level package, whatever folder the run was given."""
    package = source.module.split(".")[: None if source.is_package else -1]
    parts = module.split(".")
    common = next(
        (i for i, (a, b) in enumerate(zip(package, parts, strict=False)) if a != b), min(len(package), len(parts))
    )
    return f"{'.' * (len(package) - common + 1)}{'.'.join(parts[common:])}" if common else module
