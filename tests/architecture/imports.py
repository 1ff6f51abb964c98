"""The imports of the package, read from the text: so that one that never runs is found too."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

REPOSITORY = Path(__file__).parents[2]
PACKAGE = REPOSITORY / "qten_gen"


class Import(NamedTuple):
    """An import: the file it stands in, the module it names, and whether it runs when the file is imported."""

    file: str
    module: str
    at_once: bool


class Source(NamedTuple):
    """A file of the package, and its name without suffix: `runtime/tensorclass/core/stored`."""

    name: str
    tree: ast.Module

    @property
    def package(self) -> tuple[str, ...]:
        return ("qten_gen", *self.name.split("/")[:-1])


@cache
def sources() -> tuple[Source, ...]:
    """The files of the package, read when a test asks for them and not in every process that collects tests."""
    return tuple(
        Source(path.relative_to(PACKAGE).with_suffix("").as_posix(), ast.parse(path.read_bytes()))
        for path in sorted(PACKAGE.rglob("*.py"))
    )


@cache
def imports() -> tuple[Import, ...]:
    """The imports of the package for run time: those under TYPE_CHECKING are left out."""
    return tuple(
        Import(source.name, module, at_once)
        for source in sources()
        for module, at_once in _imported(source.tree.body, source.package, True)
    )


def _imported(body: list[ast.stmt], package: tuple[str, ...], at_once: bool) -> Iterator[tuple[str, bool]]:
    for node in body:
        match node:
            case ast.Import(names=aliases):
                yield from ((alias.name, at_once) for alias in aliases)
            case ast.ImportFrom(module=module, names=aliases, level=level):
                parts = (
                    [*package[: len(package) + 1 - level], *([module] if module else [])] if level else [str(module)]
                )
                base = ".".join(parts)
                yield from ((f"{base}.{alias.name}", at_once) for alias in aliases)
            case ast.If(test=ast.Name("TYPE_CHECKING")):
                yield from _imported(node.orelse, package, at_once)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                yield from _imported(node.body, package, False)
            case _:
                for block in ("body", "orelse", "finalbody", "handlers", "cases"):
                    yield from _imported(getattr(node, block, []), package, at_once)


def named_modules(node: ast.AST, package: tuple[str, ...]) -> Iterator[str]:
    """The modules that one node of a syntax tree imports."""
    match node:
        case ast.Import() | ast.ImportFrom():
            yield from (module for module, _ in _imported([node], package, True))
        case ast.Call(func=ast.Name(function) | ast.Attribute(attr=function), args=[ast.Constant(str(module)), *_]) if (
            function in ("import_module", "__import__")
        ):
            yield module


def importers(module: str, files: str = "", at_once: bool = False) -> list[str]:
    """The files, by the start of their names, that import a module or what is in it; `at_once`, at module level."""
    return sorted(
        f"{found.file} imports {found.module}"
        for found in imports()
        if re.match(rf"(?:{module})(?:\.|$)", found.module)
        and re.match(files, found.file)
        and (found.at_once or not at_once)
    )


def in_file(found: str) -> str:
    return found.partition(" ")[0]


def part(file: str) -> str:
    """The part of the package that a file belongs to: its folder, or itself; each development tool is a part of its own."""
    first, _, rest = file.partition("/")
    return f"{first}/{rest.partition('/')[0]}" if first == "tools" and rest != "__init__" else first


def part_of(module: str) -> str:
    """The part of the package that a module belongs to, of which a statement imports it or something in it."""
    return part(f"{module.removeprefix('qten_gen.').replace('.', '/')}/")


@cache
def arrows() -> dict[str, set[str]]:
    """Each file of the package, and the files of the package that it imports in any form."""
    modules = {module_of(source.name): source.name for source in sources()}
    return {
        source.name: {
            modules[found]
            for module in mentioned(source)
            for found in [next((start for start in _starts(module) if start in modules), "")]
            if found and modules[found] != source.name
        }
        for source in sources()
    }


@cache
def arrows_at_once() -> dict[str, set[str]]:
    """Each file of the package, and the files of the package that are loaded when it is imported."""
    modules = {module_of(source.name): source.name for source in sources()}
    found: dict[str, set[str]] = {source.name: set() for source in sources()}
    for item in imports():
        target = next((modules[start] for start in _starts(item.module) if start in modules), item.file)
        if item.at_once and target != item.file:
            found[item.file].add(target)
    return found


def module_of(name: str) -> str:
    return f"qten_gen.{name.replace('/', '.')}".removesuffix(".__init__")


def _starts(module: str) -> list[str]:
    """`a.b.c`, `a.b` and `a`."""
    parts = module.split(".")
    return [".".join(parts[:count]) for count in range(len(parts), 0, -1)]


def mentioned(source: Source) -> Iterator[str]:
    """What a file imports: by statements wherever they stand, those for checkers included, and by a string."""
    for node in ast.walk(source.tree):
        yield from named_modules(node, source.package)


def circles(arrows: dict[str, set[str]]) -> list[list[str]]:
    """The largest sets of files that all lead to one another."""
    leads_to = {file: reached(file, arrows) for file in arrows}
    found = {
        tuple(sorted({file, *(other for other in leads_to[file] if file in leads_to[other])}))
        for file in arrows
        if file in leads_to[file]
    }
    return [list(circle) for circle in sorted(found)]


def reached(file: str, arrows: dict[str, set[str]]) -> set[str]:
    """The files that a file leads to, through others too."""
    found: set[str] = set()
    left = [*arrows[file]]
    while left:
        here = left.pop()
        if here not in found:
            found.add(here)
            left += arrows[here]
    return found
