"""tensordict's tests with classes of this project: the source of a test file, rewritten.

`@tensorclass` becomes a base, `x: T = None` becomes `x: T | None = None`, and the names of both libraries come from this one.
Nothing else changes: what a test says about its classes stays what it is.
"""

from __future__ import annotations

import ast

_NAMES = """
from qten_gen import TensorClass
from tests.peers.names import is_tensorclass, refused, tensorclass
"""


def rewritten(source: str) -> str:
    """The text of a test file that declares classes of this project."""
    tree = ast.parse(source)
    called = {
        argument.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and _is_tensorclass(node)
        for argument in node.args
        if isinstance(argument, ast.Name)
    }
    tree = _Declarations(called).visit(tree)
    after_imports = 1 + max(
        place for place, node in enumerate(tree.body) if isinstance(node, (ast.Import, ast.ImportFrom))
    )
    tree.body[after_imports:after_imports] = ast.parse(_NAMES).body
    return ast.unparse(ast.fix_missing_locations(tree))


class _Declarations(ast.NodeTransformer):
    """Class statements of this project in place of decorated ones."""

    def __init__(self, called: set[str]) -> None:
        self.made = set(called)
        self.functions = 0

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        self.functions += 1
        self.generic_visit(node)
        self.functions -= 1
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef | ast.Try:
        decorators = [found for found in node.decorator_list if _is_tensorclass(found)]
        derives = any(isinstance(base, ast.Name) and base.id in self.made for base in node.bases)
        is_declared = bool(decorators) or derives or node.name in self.made or any(map(_is_root, node.bases))
        if is_declared:
            node.decorator_list = [found for found in node.decorator_list if found not in decorators]
            if not derives and not any(map(_is_root, node.bases)):
                node.bases.append(ast.Name("TensorClass"))
            for decorator in decorators:
                if isinstance(decorator, ast.Call):
                    node.keywords += decorator.keywords
            self.made.add(node.name)
            node.body = [_optional(statement) for statement in node.body]
        self.generic_visit(node)
        return node if self.functions or not is_declared else _let_be_refused(node)


def _let_be_refused(node: ast.ClassDef) -> ast.Try:
    """A class that this project may refuse: then only the tests that use it fail, and not the whole file."""
    (attempt,) = ast.parse(f"try: pass\nexcept Exception as error: {node.name} = refused(error)").body
    assert isinstance(attempt, ast.Try)
    attempt.body = [node]
    return attempt


def _optional(statement: ast.stmt) -> ast.stmt:
    """A field that is None by default, with an annotation that says so."""
    if (
        isinstance(statement, ast.AnnAssign)
        and isinstance(statement.value, ast.Constant)
        and statement.value.value is None
        and "None" not in ast.unparse(statement.annotation)
        and "Optional" not in ast.unparse(statement.annotation)
    ):
        given = statement.annotation
        text = given.value if isinstance(given, ast.Constant) and isinstance(given.value, str) else ast.unparse(given)
        statement.annotation = ast.parse(f"{text} | None", mode="eval").body
    return statement


def _is_tensorclass(node: ast.expr) -> bool:
    called = node.func if isinstance(node, ast.Call) else node
    return isinstance(called, ast.Name) and called.id == "tensorclass"


def _is_root(base: ast.expr) -> bool:
    """Whether a base is `TensorClass`, or `TensorClass["frozen"]`."""
    named = base.value if isinstance(base, ast.Subscript) else base
    return isinstance(named, ast.Name) and named.id == "TensorClass"
