"""The input of a level: a file that is open for editing, and the project around it."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ...link.program import Program
from ...read.bound_names import dotted
from ...read.dotted_names import Scope
from .adoption import FoundClass, Need, Options
from .source_text import Text
from .uses import uses


@dataclass(frozen=True, slots=True)
class Spelling:
    """How a file writes a name of another module, and what it has to import for that."""

    text: str
    needs: tuple[Need, ...] = ()


@dataclass(frozen=True, slots=True)
class OpenFile:
    """A file that is open for editing, as the levels before have left it."""

    path: str
    module: str
    is_package: bool
    text: Text
    tree: ast.Module = field(repr=False)
    scope: Scope = field(repr=False)
    """The meanings of the names of the top level."""
    classes: Mapping[str, FoundClass]
    """Its classes at the top level that an adoption is about, by name. Classes that a level was refused are left out for it."""
    inner: tuple[FoundClass, ...] = ()
    """The classes inside other classes and functions, which no level changes."""
    exported: frozenset[str] = frozenset()
    """The names of its top level that other files of the project import from it, or that `__all__` lists; `*` for all of them."""

    def qualified(self, expression: ast.expr) -> str:
        """The qualified name of a name or chain of attributes as the file alone tells it; empty for any other expression."""
        name = dotted(expression)
        return "" if name is None else self.scope.resolve(name)

    def without(self, names: Collection[str]) -> OpenFile:
        """The same file without some of its classes."""
        kept = {name: found for name, found in self.classes.items() if name not in names}
        return replace(self, classes=kept)

    def spell(self, module: str, name: str) -> Spelling:
        """How to write a name of a module: as the file imports it already, plainly, or `qten_gen.Module` if the name is taken.

        Where `qten_gen` is taken too, its import gets an alias.
        """
        wanted = f"{module}.{name}"
        bound = [each for each in self.scope.imports if not self.scope.imports[each].type_checking]
        meanings = {self.scope.resolve(each): each for each in reversed(bound) if each not in self.scope.classes}
        if wanted in meanings:
            return Spelling(meanings[wanted])
        if module in meanings:
            return Spelling(f"{meanings[module]}.{name}")
        package, _, rest = module.partition(".")
        if rest and package in meanings:
            return Spelling(f"{meanings[package]}.{rest}.{name}")
        if not self.takes(name):
            return Spelling(name, (Need(module, name),))
        if not self.takes(package) or (package in self.scope.imports and self.scope.resolve(package) == package):
            return Spelling(wanted, (Need(module),))
        alias = f"_{module.replace('.', '_')}"
        return Spelling(f"{alias}.{name}", (Need(module, alias=alias),))

    def is_exported(self, name: str) -> bool:
        """Whether other files may import a name of the top level from this one."""
        return name in self.exported or "*" in self.exported

    def takes(self, name: str) -> bool:
        """Whether the file uses or binds a name anywhere, so that a new import could change what it means.

        Most often the text alone shows that it does not, which saves a walk through the tree.
        """
        if name in self.scope.bound:
            return True
        is_mentioned = re.search(rf"(?<![\w.]){re.escape(name)}(?!\w)", self.text.content) is not None
        return is_mentioned and name in uses(self.tree)


@dataclass(frozen=True, slots=True)
class Project:
    """All files of a run, with the names of all of them."""

    files: Mapping[str, OpenFile]
    """The files below the given paths that have classes to adopt, or adopted ones, by path."""
    programs: Mapping[str, Program] = field(repr=False)
    """For each of the files, the program that it is part of: what the names in it mean across files."""
    options: Options
    open_helper: Callable[[Program, str], OpenFile | None] = field(default=lambda program, module: None, repr=False)
    """Opens a module of a program that has no class to adopt."""
    modules: Mapping[str, Sequence[OpenFile]] = field(init=False, repr=False)
    """The files by the name of their module."""
    heirs: Mapping[str, Sequence[FoundClass]] = field(init=False, repr=False)
    """The classes of the files that derive from each class, by its qualified name."""
    helpers: dict[str, OpenFile | None] = field(default_factory=dict, init=False, repr=False)
    """Files without classes to adopt whose functions are called, by the name of their module."""
    results: dict[tuple[object, ...], frozenset[str]] = field(default_factory=dict, init=False, repr=False)
    """The values that functions return, by function and arguments, as `annotating.functions` found them."""
    attributes: dict[str, Mapping[str, frozenset[str]] | None] = field(default_factory=dict, init=False, repr=False)
    """The values of the attributes of classes, by class."""
    wide_calls: dict[str, str] = field(default_factory=dict, init=False, repr=False)
    """The classes that are called with more than their `forward` is annotated with, and where; empty before the search."""

    def __post_init__(self) -> None:
        modules: dict[str, list[OpenFile]] = {}
        for file in self.files.values():
            modules.setdefault(file.module, []).append(file)
        object.__setattr__(self, "modules", modules)
        heirs: dict[str, list[FoundClass]] = {}
        for found in (found for file in self.files.values() for found in file.classes.values()):
            for name in found.ancestors:
                heirs.setdefault(name, []).append(found)
        object.__setattr__(self, "heirs", heirs)

    def with_functions(self, module: str, near: OpenFile) -> Sequence[OpenFile]:
        """The files of a module, which need not have classes, as far as the program of a file has it."""
        found = self.modules.get(module)
        if found is None:
            if module not in self.helpers:
                self.helpers[module] = self.open_helper(self.programs[near.path], module)
            helper = self.helpers[module]
            found = () if helper is None else (helper,)
        return found

    def meaning(self, file: OpenFile, expression: ast.expr) -> str:
        """The qualified name of the definition that a name leads to, through imports and aliases of other files."""
        name = file.qualified(expression)
        return self.programs[file.path].names.resolve(name) if name else ""
