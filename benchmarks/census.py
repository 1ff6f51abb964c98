"""How many modules of a checkout could be declared, and which shape of constructor stops the rest.

    python -m benchmarks.census path/to/checkout [another ...]

It reads the syntax trees of all classes that derive from nn.Module, as far as their files show, and have an `__init__`. It runs
nothing. For each statement of the constructor it asks which part of the language says the same: a config field, `submodule`,
`sequential`, an expression over a configuration object, and so on. What plain code can still do in `__post_init__` counts as
said: attributes that hold neither a tensor nor a module, checks, calls of initialisers. A class can be declared if that holds for
all of its statements.

So the figures are estimates, and rather too high: what looks like a class by its name may be something else, and an argument that
looks like a size may be one that no expression takes. On the other side, it gives up on every loop but the usual ones.
"""

from __future__ import annotations

import argparse
import ast
import sys
from collections import ChainMap, Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from benchmarks.constructor_nodes import Shapes, text_of
from benchmarks.constructor_shapes import BASE, LANGUAGE_BEFORE, shapes

_TAKES_NOTHING = ("object", "ABC", "Generic", "Protocol")
"""Bases that make no constructor. Others of `_MODULES` are libraries' own, written by hand."""

_MODULES = ("Module", "PreTrainedModel", "GenericForSequenceClassification", "ModuleList", "Sequential", "ModelMixin")


@dataclass
class Census:
    """The counts of one checkout."""

    classes: int = 0
    without_init: int = 0
    before: int = 0
    now: int = 0
    parts: Counter[str] = field(default_factory=Counter)
    """How many classes need each part of the language that is new, among those that can be declared now."""
    stops: Counter[str] = field(default_factory=Counter)
    """How many classes each shape stops, by its first one."""
    alone: Counter[str] = field(default_factory=Counter)
    """How many classes each shape stops where nothing else does."""

    def add(self, found: Shapes) -> None:
        self.classes += 1
        self.before += not found.stops and found.parts <= LANGUAGE_BEFORE
        self.now += not found.stops
        if not found.stops:
            self.parts.update(found.parts - LANGUAGE_BEFORE)
        else:
            self.stops[found.stops[0]] += 1
            if len(set(found.stops)) == 1:
                self.alone[found.stops[0]] += 1

    def report(self) -> Iterator[str]:
        yield f"{self.classes:,} modules with an __init__, {self.without_init:,} without"
        if not self.classes:
            return
        yield f"{self.before / self.classes:6.1%}  could be declared before: integer expressions over arguments, repeat, when"
        yield f"{self.now / self.classes:6.1%}  can be declared"
        yield "what those need that is new (a class may need several):"
        for part, count in self.parts.most_common():
            yield f"  {count / self.classes:6.1%}  {part}"
        yield "what stops the rest (the first reason of each class; in brackets, where it is the only one):"
        for stop, count in self.stops.most_common():
            yield f"  {count / self.classes:6.1%} ({self.alone[stop] / self.classes:5.1%})  {stop}"


def census(root: Path) -> Census:
    """Count the modules below a folder."""
    found = Census()
    trees = [tree for path in sorted(root.rglob("*.py")) if (tree := _tree(path)) is not None]
    classes = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    modules = _modules(classes)
    by_name = {node.name: node for node in classes}
    for tree in trees:
        own = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
        near = ChainMap(own, by_name)
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef) and node.name in modules:
                read = _shapes(node, near, frozenset())
                if read is None:
                    found.without_init += 1
                else:
                    found.add(read)
    return found


def _shapes(node: ast.ClassDef, near: Mapping[str, ast.ClassDef], seen: frozenset[str]) -> Shapes | None:
    """The shapes of a class's constructor; None without one. A base has to be one that a declared class can have."""
    init = next((each for each in node.body if isinstance(each, ast.FunctionDef) and each.name == "__init__"), None)
    if init is None:
        return None
    found = _of_constructor(init)
    read = Shapes(set(found.parts), list(found.stops), found.passes)
    for base in node.bases:
        name = _last(base)
        known = near.get(name) if name not in seen and name != node.name and name not in _MODULES else None
        of_base = None if known is None else _inherited(known, near, seen | {node.name})
        if of_base is not None:
            read.parts |= of_base.parts
            if of_base.stops:
                read.stops.append(BASE)
        elif read.passes and name not in _TAKES_NOTHING:
            read.stops.append(BASE)
    return read


@cache
def _of_constructor(init: ast.FunctionDef) -> Shapes:
    """The shapes of a constructor, which subclasses ask for again."""
    return shapes(init)


def _inherited(node: ast.ClassDef, near: Mapping[str, ast.ClassDef], seen: frozenset[str]) -> Shapes | None:
    """The shapes of the constructor that a class has or inherits; None if it is not known."""
    own = _shapes(node, near, seen)
    if own is not None:
        return own
    for base in node.bases:
        known = near.get(_last(base))
        if known is not None and known.name not in seen and known.name not in _MODULES:
            found = _inherited(known, near, seen | {node.name})
            if found is not None:
                return found
    return None


def _tree(path: Path) -> ast.Module | None:
    try:
        return ast.parse(path.read_text(encoding="utf-8"))
    except (SyntaxError, UnicodeDecodeError, OSError):
        return None


def _modules(classes: list[ast.ClassDef]) -> set[str]:
    """The names of the classes that derive from nn.Module, by the names of their bases."""
    bases = {node.name: {_last(base) for base in node.bases} for node in classes}
    known: set[str] = set(_MODULES)
    while True:
        more = {name for name, of in bases.items() if of & known} - known
        if not more:
            return known & bases.keys()
        known |= more


def _last(node: ast.expr) -> str:
    return text_of(node).partition("[")[0].rpartition(".")[2]


def main() -> None:
    """Print the census of each folder that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="+", type=Path, metavar="PATH")
    sys.setrecursionlimit(10_000)
    for path in parser.parse_args().paths:
        print(path)
        for line in census(path).report():
            print(f"  {line}")


if __name__ == "__main__":
    main()
