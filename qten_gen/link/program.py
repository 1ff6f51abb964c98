"""Links files on demand: what is asked about one file reads only the files that the answer depends on, each once.

So the answer for a file does not depend on which other files are asked about, or in which order.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping
from functools import cached_property
from typing import TypeVar

from ..common.field_kinds import members_of
from ..common.naming import source_module
from ..common.records import record, replace
from ..model import (
    ClassSource,
    Declaration,
    FileDecl,
    ImportContext,
    SourceFile,
    SubmoduleDecl,
)
from ..model.diagnostics import Diagnostic, ordered
from ..model.field_parts import child_class
from .bases import Ancestry, Root
from .constants import with_constants
from .declare import Declarations
from .import_context import Exports
from .lookups import Lookups, remembered
from .name_resolution import Names

_V = TypeVar("_V")


@record(frozen=True, slots=True)
class Reading:
    """A file as it is read for the first time, without knowing other files."""

    file: SourceFile
    asked: Collection[str] = ()
    """The qualified names whose origins in other files may change the reading."""
    again: Callable[[ImportContext], SourceFile] | None = None
    """Reads the file a second time, in a context; None for a file that needs none."""


@record(frozen=True, slots=True)
class Library:
    """The files that a program may consist of."""

    reading: Callable[[str], Reading | None]
    """The file of a module, or of the one that a generated module is made from; None for a module that is not in the run."""
    is_package: Callable[[str], bool | None]
    """True if a module is a package; None for a module that is not in the run. It reads nothing."""
    heads: Container[str]
    """The first parts of the names of all modules."""


class Program:
    """The files that can be imported from one folder, linked with each other.

    All results are remembered with the look-ups that they took (see `lookups`).
    """

    def __init__(self, library: Library, *, with_inner: bool = False) -> None:
        """A program; `with_inner` counts classes inside classes among a file's classes, so that they are declarations too."""
        self.lookups = Lookups()
        self._library = library
        self._with_inner = with_inner
        # Constants are computed from files where they still are names: `names` would ask for the file being computed.
        self._written_names = Names(self.written, self.lookups)
        self._exports = Exports(self, self.lookups)
        self.names = Names(self.find, self.lookups)
        self.ancestry = Ancestry(self.names, self.lookups)
        self._declarations = Declarations(self.names, self.ancestry, self.lookups)

    @cached_property
    def with_inner(self) -> Program:
        """The same program, where classes inside classes are declarations too."""
        return Program(self._library, with_inner=True)

    def find(self, module: str) -> SourceFile | None:
        """The file of a module, read with what it has to know of other files, and with the values of constants."""
        return self._find(module) if self._is_known(module) else None

    def written(self, module: str) -> SourceFile | None:
        """The file of a module, read with what it has to know of other files to resolve names. Constants stay names."""
        return self._read_again(module) if self._is_known(module) else None

    def first(self, module: str) -> SourceFile | None:
        """The first reading of a module."""
        found = self._reading(module) if self._is_known(module) else None
        return None if found is None else found.file

    def is_package(self, module: str) -> bool | None:
        """True if a module is a package; None for a module that is not in the run."""
        if not self._is_known(module):
            return None
        self.lookups.note(f"?{module}")
        return self._library.is_package(module)

    def declaration(self, qualified: str) -> Declaration | None:
        """The declaration of a class by its resolved name; None for any other class.

        A class is a declaration if `TensorClass` or `Module` of qten_gen is among its ancestors. A class from a file outside the
        run counts as a plain class.
        """
        return self._declarations.get(qualified)

    def linked(self, module: str) -> tuple[FileDecl, tuple[Diagnostic, ...]] | None:
        """The declarations of a module, and the diagnostics about the bases of its classes."""
        file = self.find(module)
        if file is None:
            return None
        found = [self.declaration(f"{module}.{cls.qualname}") for cls in file.classes]
        own = tuple(declaration for declaration in found if declaration is not None)
        at_hand = dict.fromkeys(declaration.qualified for declaration in own)
        at_hand.update(dict.fromkeys(self.names.resolve(source.owner.name) for source in file.registrations))
        listed = [name for name in at_hand if self.declaration(name) is not None]
        mentioned = sorted({module, *_mentioned_modules(own)})
        linked = FileDecl(
            file,
            own,
            tuple(self._declarations.registrations(file)),
            related=_Lazy(self._related, listed),
            packages=_Lazy(self.is_package, ()),
            type_variables=frozenset(name for module in mentioned for name in self._type_variables(module)),
            classes=_Lazy(self._class_source, ()),
            meanings=_Lazy(self._meaning, ()),
            nested=_Lazy(self._nested_tensorclass, ()),
        )
        return linked, ordered(self.ancestry.diagnostics(file))

    def _related(self, name: str) -> Declaration | None:
        """The declaration of a class by any of its qualified names."""
        return self.declaration(self.names.resolve(name))

    def _type_variables(self, module: str) -> Iterable[str]:
        found = self.find(module) if module else None
        return () if found is None else found.type_variables

    def _class_source(self, qualified: str) -> ClassSource | None:
        found = self.names.class_of(qualified)
        return None if found is None else found[1]

    def _nested_tensorclass(self, name: str) -> str | None:
        """The name of a TensorClass inside a class; None for any other class."""
        is_nested = self.names.nested_bases(name) is not None and self.ancestry.root(name) is Root.TENSORCLASS
        return name if is_nested else None

    def _meaning(self, reference: str) -> str | None:
        """The qualified name that a name of a file stands for: `shop.model:Batch`."""
        module, _, name = reference.partition(":")
        file = self.find(module)
        return None if file is None else self.names.meaning(name, file)

    def _is_known(self, module: str) -> bool:
        """True if the run has modules of that name or below its first part. It saves a look-up of each name of a library."""
        head = module.partition(".")[0]
        if head in self._library.heads or source_module(head) in self._library.heads:
            return True
        self.lookups.note(f"{head}.")
        return False

    def _reading(self, module: str) -> Reading | None:
        found = self._library.reading(module)
        self.lookups.note(f"?{module}" if found is None else found.file.module)
        return found

    @remembered
    def _find(self, module: str) -> SourceFile | None:
        file = self.written(module)
        if file is not None and file.module != module:
            return self.find(file.module)
        if file is not None and self._with_inner and file.inner:
            file = replace(file, classes=(*file.classes, *file.inner))
        return None if file is None else with_constants(file, self._written_names)

    @remembered
    def _read_again(self, module: str) -> SourceFile | None:
        reading = self._reading(module)
        if reading is None:
            return None
        if reading.file.module != module:
            return self.written(reading.file.module)
        context = self._exports.context(reading.file, reading.asked) if reading.again is not None else None
        return reading.file if context is None or reading.again is None else reading.again(context)


class _Lazy(Mapping[str, _V]):
    """A mapping whose values are looked up when they are asked for. Only the names at hand are listed."""

    def __init__(self, find: Callable[[str], _V | None], at_hand: Collection[str]) -> None:
        self._find = find
        self._at_hand = at_hand

    def __getitem__(self, name: str) -> _V:
        found = self._find(name)
        if found is None:
            raise KeyError(name)
        return found

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._find(name) is not None

    def __iter__(self) -> Iterator[str]:
        return iter(self._at_hand)

    def __len__(self) -> int:
        return len(self._at_hand)


def _mentioned_modules(own: Iterable[Declaration]) -> Iterator[str]:
    """The modules of what declarations mention: of bases, and of the classes of fields and other children."""
    for declaration in own:
        names = [base.name for base in declaration.bases if base.declared]
        for field in declaration.fields:
            names += [field.owner, *(member.name for member in members_of(field.type))]
            if isinstance(field, SubmoduleDecl):
                names.append(child_class(field.type).name)
        yield from (name.rpartition(".")[0] for name in names)
