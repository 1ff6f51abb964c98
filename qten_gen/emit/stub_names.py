"""How a stub names what its source names: imports repeated, the source's own names reached through `_decl`.

Where the stub has a class statement for `Attention`, that name means the class of the stub. So what a handler takes is
`_decl.Attention`, and what it gives is `Attention`. Texts that come from another file (a handler registered there, an inherited
`forward`) are read with that file's imports.
"""

from __future__ import annotations

import builtins
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from keyword import iskeyword
from typing import NamedTuple

from ..common.naming import WRITTEN_BUILTINS, absolute
from ..model import Declaration, FieldKind, FileDecl, ModuleDecl, SourceFile, TensorClassDecl, TypeExpr, declares
from ..model.source import Registered, RegisteredKind
from . import layout, spelling
from .names import IMPORTS, Aliases, Builtins, statement
from .spelling import renamed


def says_more(declaration: ModuleDecl) -> bool:
    """True if the class registers something that a checker does not see in the declaration."""
    return any(needs_type(group) for group in registered_names(declaration).values())


def registered_names(declaration: ModuleDecl) -> dict[str, list[Registered]]:
    """The statements of known type that register each name, without names that the body binds or declares."""
    taken = declaration.bound | {field.name for field in declaration.fields}
    found: dict[str, list[Registered]] = {}
    for each in declaration.registers:
        if each.name.isidentifier() and not iskeyword(each.name) and each.name not in taken:
            found.setdefault(each.name, []).append(each)
    return {name: group for name, group in found.items() if _is_known(group)}


def _is_known(group: Sequence[Registered]) -> bool:
    kinds = {each.kind for each in group} - {RegisteredKind.NONE}
    return bool(kinds) and (RegisteredKind.OTHER not in kinds or any(each.by_name for each in group))


def needs_type(group: Sequence[Registered]) -> bool:
    """True if the stub has to say what the statements for one name register."""
    return any(each.by_name or (each.type is not None and each.container) for each in group)


class ExactClasses:
    """The qualified names of such classes among all declarations of a run."""

    def __init__(self, related: Mapping[str, Declaration]) -> None:
        self._related = related
        self._known: dict[str, bool] = {}

    def __contains__(self, qualified: object) -> bool:
        if not isinstance(qualified, str):
            return False
        found = self._known.get(qualified)
        if found is None:
            found = self._known[qualified] = any(map(_is_exact, self._reached(qualified)))
        return found

    def _reached(self, qualified: str) -> Iterator[Declaration]:
        """The declaration of a name, its bases and the classes of its fields, over any number of steps."""
        seen, ahead = {qualified}, [qualified]
        while ahead:
            declaration = self._related.get(ahead.pop())
            if declaration is not None:
                yield declaration
                names = [name for name in _named(declaration) if name not in seen]
                seen.update(names)
                ahead += names


def _is_exact(declaration: Declaration) -> bool:
    """True if a class itself has something to say."""
    if isinstance(declaration, TensorClassDecl):
        return any(field.kind is FieldKind.NUMBER for field in declaration.fields)
    return bool(declaration.handlers) or says_more(declaration)


def _named(declaration: Declaration) -> Iterator[str]:
    """The classes that a class derives from, and those in the types of what it holds."""
    yield from (base.name for base in declaration.bases if base.declared)
    for field in declaration.fields:
        if declares(declaration, field):
            yield from field.type.mentioned
    if not isinstance(declaration, TensorClassDecl):
        yield from (each.type.name for each in declaration.registers if each.type is not None)


_WORD = re.compile(r"(?<![\w.])[^\W\d]\w*")
_DOTTED = re.compile(r"(?<![\w.])[^\W\d][\w.]*")
_BUILTINS = frozenset(dir(builtins))
_FINAL = ("typing.final", "typing_extensions.final")
_STRINGS = frozenset(
    f"{module}.{name}" for module in ("typing", "typing_extensions") for name in ("Annotated", "Literal")
)
"""Types whose brackets have strings that are no types."""


class StubNames:
    """The names of one stub, and the imports that they turned out to need."""

    def __init__(self, file: FileDecl, given: Collection[str] = ()) -> None:
        """`given` are the functions and annotated names of the source that the stub gives."""
        self.aliases = Aliases()
        self.exact = ExactClasses(file.related)
        self._file = file
        self._imports: dict[str, str] = {}
        self._top = frozenset(given).union(each.name for each in (*file.declarations, *file.functionals))
        self._bound = frozenset({"__call__", "invoke"}).union(*map(_names_in_body, file.declarations))
        self._builtins = Builtins(self._bound)

    @property
    def imports(self) -> list[str]:
        """The import statements for everything that was written so far."""
        return sorted(self._imports.values(), key=lambda line: (line.startswith("from ."), line))

    def type(self, type: TypeExpr, module: str = "", given: bool = False) -> str:
        """An annotation as the stub writes it; `module` is where it stands, this file if empty."""
        return self.text(spelling.static_type(type), module, given)

    def text(self, text: str, module: str = "", given: bool = False) -> str:
        """A type with its names as the stub has them; imports that it needs are noted.

        `given` says that a call or an attribute gives it, so that exact classes are meant.
        """
        source = self._file.sources[module or self._file.source.module]

        def whole(name: str) -> str | None:
            meant = self._file.meanings.get(f"{source.module}:{name}", name)
            if given and meant in self.exact:
                return self.generated(meant)
            home, _, own = meant.rpartition(".")
            if home != self._file.source.module or meant not in self._file.related:
                return None
            return f"_decl.{own}" if meant in self.exact or own in self._bound else own

        return renamed(text, lambda name: self.written(name, source), lambda name: _keeps_strings(name, source), whole)

    def is_exact(self, text: str, module: str) -> bool:
        """True if a type of another file or this one names a class with a statement in a stub."""
        return any(self._file.meanings.get(f"{module}:{name}", name) in self.exact for name in _DOTTED.findall(text))

    def is_final(self, declaration: Declaration) -> bool:
        """True if a class of this file is decorated with `@final`."""
        return any(
            name in _FINAL
            for found in self._file.source.classes
            if found.name == declaration.name
            for name, _ in found.decorators
        )

    def builtin(self, name: str) -> str:
        """A builtin as the stub writes it: `_builtins.set` beside a field `set`."""
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

    def generated(self, qualified: str) -> str:
        """The class that the stub of a declaration gives: by name in this stub, by import from another."""
        home, _, cls = qualified.rpartition(".")
        if home == self._file.source.module:
            return cls
        return self._import(f"_{cls}", f"from {self._output_module(home)} import {cls}")

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
        """True if this stub means something else by the name, at its top or in the body of a class."""
        own = IMPORTS.get(name)
        return (
            (own is not None and line != statement(name, own))
            or name in self._bound
            or name in WRITTEN_BUILTINS
            or name == "_decl"
            or name in self._top
        )

    def _output_module(self, home: str) -> str:
        """The generated module of another source, as this stub imports it."""
        folder, _, leaf = home.rpartition(".")
        outputs = (
            f"{home}._qten" if self._file.is_package(home) else f"{folder}.{leaf}_qten" if folder else f"{leaf}_qten"
        )
        return _seen_from(self._file.source, outputs)


def qualified(name: str, source: SourceFile) -> str:
    """The qualified name, as far as the file itself tells."""
    head, _, rest = name.partition(".")
    imported = source.imports.get(head)
    if imported is not None:
        return ".".join(part for part in (imported.module, imported.name, rest) if part)
    if head in source.names:
        return f"{source.module}.{name}"
    known = head in _BUILTINS or not source.has_star_import
    return f"{'builtins' if known else 'typing'}.{name}"


def _keeps_strings(name: str, source: SourceFile) -> bool:
    found = qualified(name, source)
    return found in _STRINGS or found.startswith("jaxtyping.")


def _names_in_body(declaration: Declaration) -> frozenset[str]:
    """The names with a meaning of their own in the body of a class: its fields and registered objects."""
    registers = declaration.registers if isinstance(declaration, ModuleDecl) else ()
    return frozenset(field.name for field in declaration.fields).union(each.name for each in registers)


def _seen_from(source: SourceFile, module: str) -> str:
    """A module as a file imports it: relative within one top-level package, whatever folder the run was given."""
    package = source.module.split(".")[: None if source.is_package else -1]
    parts = module.split(".")
    common = next(
        (i for i, (a, b) in enumerate(zip(package, parts, strict=False)) if a != b), min(len(package), len(parts))
    )
    return f"{'.' * (len(package) - common + 1)}{'.'.join(parts[common:])}" if common else module


class TypeParameters(NamedTuple):
    """The type parameters of a class."""

    pep695: str = ""
    """The parameters as they follow the class name: `[T: Tensor]`."""
    arguments: str = ""
    """The end of a reference to the class: `[T]`."""


def type_parameters(declaration: Declaration, names: StubNames) -> TypeParameters:
    """The type parameters of a class: in brackets after its name, by `Generic[T]`, or by the variables in its other bases."""
    if declaration.type_parameters:
        found = (re.split(r"[:=]", text)[0].strip() for text in _split(declaration.type_parameters))
        # Of `[*Ts, **P]`, a reference takes `[*Ts, P]`.
        reference = ", ".join(name.removeprefix("**") for name in found)
        return TypeParameters(names.text(declaration.type_parameters), f"[{reference}]")
    generic = [base.text for base in declaration.bases if base.name == "typing.Generic"]
    # `Generic` says the order of the variables, whatever other bases have.
    bases = generic or [base.text for base in declaration.bases if base.declared]
    given = [
        name for text in bases for argument in _split(text) for name in names.variables(argument, declaration.module)
    ]
    written = ", ".join(names.text(name, declaration.module) for name in dict.fromkeys(given))
    return TypeParameters(arguments=f"[{written}]" if written else "")


def arguments(text: str, names: StubNames, module: str) -> str:
    """The type arguments in `Box[int, T]` as the stub writes them, in brackets; nothing for none."""
    written = [names.text(argument, module) for argument in _split(text)]
    return f"[{', '.join(written)}]" if written else ""


def _split(text: str) -> Iterator[str]:
    """The arguments in `Box[int, T]`."""
    start, end = text.find("["), text.rfind("]")
    yield from layout.split(text[start + 1 : end]) if 0 <= start < end else ()
