"""Reads a module whose classes are not declared: what their constructors take, and where imported names come from."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Mapping

from ..common.module_names import absolute
from ..common.records import record
from ..model import ImportedName
from ..model.constructed import DECIDING, ConstructedClass
from .blocks import bound_inside, statements
from .bound_names import dotted, imported_names
from .dotted_names import Scope
from .encoding import decode
from .syntax import parse


@record(frozen=True, slots=True)
class ClassModule:
    """The classes of a module, and the names that it takes from others. A name that is bound twice is in neither."""

    classes: Mapping[str, ConstructedClass]
    imports: Mapping[str, str]
    """Qualified names, by the name that they have here."""
    stars: tuple[str, ...]
    """The modules that all names are imported from, by their absolute names."""
    bound: frozenset[str]
    """All names of the module but those of star imports."""


def class_module(data: bytes, path: str, module: str, is_package: bool) -> ClassModule | None:
    """Read a module; None if it is not valid Python."""
    text = decode(data, path)
    tree = parse(text, path) if isinstance(text, str) else None
    if not isinstance(tree, ast.Module):
        return None
    try:
        return _class_module(tree, module, is_package)
    except RecursionError:
        return None


def _class_module(tree: ast.Module, module: str, is_package: bool) -> ClassModule:
    """The bindings of a module's statements, including those in blocks."""
    imports: dict[str, ImportedName] = {}
    classes: dict[str, ast.ClassDef] = {}
    stars: list[str] = []
    bound: Counter[str] = Counter()
    for node in statements(tree.body):
        if isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
            stars.append(absolute("." * node.level + (node.module or ""), module, is_package))
        elif isinstance(node, ast.Import | ast.ImportFrom):
            found = dict(imported_names(node, type_checking=False))
            imports.update(found)
            bound.update(found.keys())
        elif isinstance(node, ast.ClassDef):
            classes[node.name] = node
            bound[node.name] += 1
        else:
            bound.update(bound_inside(node))
    scope = Scope(module, is_package, imports, frozenset(bound), frozenset(classes))
    return ClassModule(
        {name: _constructed(node, scope) for name, node in classes.items() if bound[name] == 1},
        {name: scope.resolve_import(found) for name, found in imports.items() if bound[name] == 1},
        tuple(stars),
        frozenset(bound),
    )


def _constructed(node: ast.ClassDef, scope: Scope) -> ConstructedClass:
    """The facts in a class statement about a call of the class. An `__init__` in a block, or several, may be anything."""
    bases = [dotted(base.value if isinstance(base, ast.Subscript) else base) for base in node.bases]
    bound = Counter(name for statement in statements(node.body) for name in bound_inside(statement))
    own = next((item for item in node.body if isinstance(item, ast.FunctionDef) and item.name == "__init__"), None)
    plain = not node.decorator_list and not DECIDING & bound.keys() and None not in bases
    plain = plain and not any(keyword.arg in (None, "metaclass") for keyword in node.keywords)
    plain = plain and bound["__init__"] == (own is not None) and not (own is not None and own.decorator_list)
    parameters = None if own is None else _parameters(own.args)
    return ConstructedClass(tuple(scope.resolve(base or "") for base in bases), parameters, plain)


def _parameters(given: ast.arguments) -> str:
    """The parameters of a method as text, without the one that the object is given to. Only whether a default is None is kept."""
    posonly, plain = given.posonlyargs[1:], given.args[0 if given.posonlyargs else 1 :]  # `self` is the first of either
    defaults = [_default(item) for item in given.defaults[-(len(posonly) + len(plain)) :]]
    keyword_defaults = [None if item is None else _default(item) for item in given.kw_defaults]
    kept = ast.arguments(posonly, plain, given.vararg, given.kwonlyargs, keyword_defaults, given.kwarg, defaults)
    return ast.unparse(kept)


def _default(node: ast.expr) -> ast.expr:
    return ast.Constant(None if isinstance(node, ast.Constant) and node.value is None else ...)
