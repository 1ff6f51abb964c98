"""The stubs of torch.nn as they are planned for the installed torch, read once for all tests."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache

from qten_gen.project.libraries import Installed
from qten_gen.read.bindings import statements
from qten_gen.tools.stubs.planning import Stubs, plan


@cache
def torch_nn() -> Stubs:
    """The stubs of torch.nn."""
    return plan(["torch.nn"], Installed())


@cache
def tree(module: str) -> ast.Module:
    """The syntax tree of a stub, by the name of its module."""
    texts, path = torch_nn().texts, module.replace(".", "/")
    return ast.parse(texts.get(f"{path}.pyi") or texts[f"{path}/__init__.pyi"])


def statement(module: str, name: str) -> ast.ClassDef:
    """The statement of a class in a stub."""
    found = [node for node in statements(tree(module).body) if isinstance(node, ast.ClassDef) and node.name == name]
    return found[-1]


def bound(module: str) -> Iterator[str]:
    """The names that a stub exports: definitions, assignments, imports `as` the same name, and what stars bring."""
    for node in statements(tree(module).body):
        match node:
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name):
                yield name
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                yield name
            case ast.ImportFrom(module=source, names=[ast.alias(name="*")], level=level):
                target = source if not level else f"{module}.{source}"
                yield from exported(str(target))
            case ast.ImportFrom(names=names) | ast.Import(names=names):
                yield from (alias.asname for alias in names if alias.asname)


def exported(module: str) -> list[str]:
    """What `from module import *` binds."""
    for node in tree(module).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return [str(name) for name in ast.literal_eval(node.value)]
    return [name for name in bound(module) if not name.startswith("_")]
