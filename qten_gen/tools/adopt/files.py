"""The files of a project as levels see them: text, tree and classes of each, and how it writes and uses names."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from itertools import accumulate

from ...link.program import Program
from ...model.field_parts import NO_PATH, TypeExpr
from ...read.annotations import type_expr
from ...read.bindings import dotted
from ...read.dotted_names import Scope
from .records import FoundClass, Need, Options

_LINE_END = re.compile(r"\r\n|\r|\n")
"""The ends of lines for Python's parser. A form feed does not, though `str.splitlines` splits there."""

_WORD = re.compile(r"(?<![\w.])[^\W\d]\w*")

Import = ast.Import | ast.ImportFrom
_Node = ast.expr | ast.stmt | ast.alias | ast.arg


class Text:
    """A text and the starts of its lines. Positions of `ast` count bytes of UTF-8 in a line; these count characters."""

    def __init__(self, content: str) -> None:
        """Take the text with line feeds only."""
        self.content = _LINE_END.sub("\n", content) if "\r" in content else content
        self.lines = self.content.split("\n")

    @cached_property
    def _starts(self) -> list[int]:
        """Where the lines start."""
        return list(accumulate((len(line) + 1 for line in self.lines), initial=0))

    def offset(self, line: int, column: int) -> int:
        """The character of a line, from 1, and a column in bytes, from 0."""
        start = self._starts[line - 1]
        whole = self.content[start : self._starts[line]]
        return start + (column if whole.isascii() else len(whole.encode()[:column].decode()))

    def span(self, node: _Node) -> tuple[int, int]:
        """Where a node starts and ends. Decorators are not part of a class or function."""
        assert node.end_lineno is not None and node.end_col_offset is not None
        return self.offset(node.lineno, node.col_offset), self.offset(node.end_lineno, node.end_col_offset)

    def of(self, node: _Node) -> str:
        """The text of a node, as written."""
        start, end = self.span(node)
        return self.content[start:end]


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

    @property
    def all_classes(self) -> tuple[FoundClass, ...]:
        """The classes that an adoption is about, inner ones included."""
        return *self.classes.values(), *self.inner

    def qualified(self, expression: ast.expr) -> str:
        """The qualified name of a name or chain of attributes as the file alone tells it; empty for any other expression."""
        name = dotted(expression)
        return "" if name is None else self.scope.resolve(name)

    def without(self, names: Collection[str]) -> OpenFile:
        """The same file without some of its classes."""
        return replace(self, classes={name: found for name, found in self.classes.items() if name not in names})

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
        if not self._takes(name):
            return Spelling(name, (Need(module, name),))
        if not self._takes(package) or (package in self.scope.imports and self.scope.resolve(package) == package):
            return Spelling(wanted, (Need(module),))
        alias = f"_{module.replace('.', '_')}"
        return Spelling(f"{alias}.{name}", (Need(module, alias=alias),))

    def spell_base(self, name: str, replaced: Sequence[ast.expr]) -> Spelling:
        """How to write a class of qten_gen in place of these expressions.

        Where they are all that the file does with a name that it imports, such as `Module` of `torch.nn`, the new import takes
        that name over. Otherwise the name keeps its meaning, and the new base is `qten_gen.Module`.
        """
        plain = [node for node in replaced if isinstance(node, ast.Name) and node.id == name]
        if plain and uses(self.tree)[name] == len(plain) and not self.is_exported(name):
            found = [(node, each) for node in imports(self.tree) for each in node.names if bound_by(each, node) == name]
            if len(found) == 1 and is_removable(found[0][0], [found[0][1]], self.text):
                return Spelling(name, (Need("qten_gen", name),))
        return self.spell("qten_gen", name)

    def is_exported(self, name: str) -> bool:
        """True if other files may import a name of the top level from this one."""
        return name in self.exported or "*" in self.exported

    def _takes(self, name: str) -> bool:
        """True if the file uses or binds a name anywhere, so that a new import could change what it means."""
        return name in self.scope.bound or name in uses(self.tree)


@dataclass(frozen=True, slots=True)
class Project:
    """All files of a run, with the names of all of them."""

    files: Mapping[str, OpenFile]
    """The files below the given paths that may have to do with classes to adopt, by path."""
    programs: Mapping[str, Program] = field(repr=False)
    """For each of the files, the program that it is part of: what the names in it mean across files."""
    options: Options
    modules: Mapping[str, Sequence[OpenFile]] = field(init=False, repr=False)
    """The files by the name of their module."""
    heirs: Mapping[str, Sequence[FoundClass]] = field(init=False, repr=False)
    """The classes of the files that derive from each class, by its qualified name."""
    results: dict[tuple[object, ...], frozenset[str]] = field(default_factory=dict, init=False, repr=False)
    """The values that functions return, by function and arguments, as `evaluation.py` found them."""
    attributes: dict[str, Mapping[str, frozenset[str]] | None] = field(default_factory=dict, init=False, repr=False)
    """The values of the attributes of classes, by class."""

    def __post_init__(self) -> None:
        modules: dict[str, list[OpenFile]] = {}
        heirs: dict[str, list[FoundClass]] = {}
        for file in self.files.values():
            modules.setdefault(file.module, []).append(file)
            for found in file.classes.values():
                for name in found.ancestors:
                    heirs.setdefault(name, []).append(found)
        object.__setattr__(self, "modules", modules)
        object.__setattr__(self, "heirs", heirs)

    def meaning(self, file: OpenFile, expression: ast.expr) -> str:
        """The qualified name of the definition that a name leads to, through imports and aliases of other files."""
        name = file.qualified(expression)
        return self.programs[file.path].names.resolve(name) if name else ""

    def type_of(self, file: OpenFile, annotation: ast.expr) -> TypeExpr:
        """The meaning of an annotation, through aliases of other files."""
        return self.programs[file.path].names.expand(type_expr(annotation, NO_PATH, file.scope))

    def class_named(self, qualified: str) -> FoundClass | None:
        """The class of a qualified name, if it is among the files."""
        module, _, name = qualified.rpartition(".")
        return next((file.classes[name] for file in self.modules.get(module, ()) if name in file.classes), None)

    def lineage(self, found: FoundClass) -> Iterator[tuple[FoundClass, OpenFile]]:
        """A class and its bases among the files, in method resolution order, each with its file."""
        for name in (found.qualified, *found.ancestors):
            cls = found if name == found.qualified else self.class_named(name)
            if cls is not None:
                yield cls, self.files[cls.path]


@lru_cache(maxsize=4)
def uses(tree: ast.AST) -> Counter[str]:
    """How often each plain name is read or bound, or mentioned in a string that is not documentation. Imports do not count.

    Strings count because an annotation may be one.
    """
    found: Counter[str] = Counter()
    documentation: set[ast.expr] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Expr(value=ast.Constant(value=str()) as text):
                documentation.add(text)
            case ast.Constant(value=str(text)) if node not in documentation:
                found.update(_WORD.findall(text))
            case ast.Name(id=name) | ast.arg(arg=name):
                found[name] += 1
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                found[name] += 1
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                found.update(names)
    return found


def imports(tree: ast.Module) -> Iterator[Import]:
    """The imports at the top level itself: one inside a block may have a reason that the text does not show."""
    return (node for node in tree.body if isinstance(node, Import))


def bound_by(alias: ast.alias, node: Import) -> str:
    """The name that an import binds."""
    return alias.asname or (alias.name if isinstance(node, ast.ImportFrom) else alias.name.partition(".")[0])


def is_removable(node: Import, gone: Collection[ast.alias], text: Text) -> bool:
    """True if no comment and no other code are lost with names of an import."""
    if len(gone) < len(node.names):
        return "#" not in text.content[text.span(node.names[0])[0] : text.span(node.names[-1])[1]]
    lines = "\n".join(text.lines[node.lineno - 1 : node.end_lineno])
    return "#" not in lines and lines.strip() == text.of(node)


def method_of(cls: ast.ClassDef, name: str) -> ast.FunctionDef | None:
    """The method of a name that a class statement defines first."""
    return next((each for each in cls.body if isinstance(each, ast.FunctionDef) and each.name == name), None)
