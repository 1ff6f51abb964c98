"""Texts that would be statements in generated code if they reached it as they stand, and the law that no text does."""

from __future__ import annotations

import ast

from qten_gen.generate.plan import Plan

HOSTILE = [
    "int:\n print(1)\n x: int",
    "nn.Linear |",
    "Tensor # ids",
    "Tensor\n# ids",
    "Tensor\rprint(1)",
    "Tensor\x0cprint(1)",
    '"""\nprint(1)\n"""',
    "'''\nprint(1)\n'''",
    "\\",
    'x"; print(1); "',
    "{{ 7 * 7 }}{% raw %}",
    "print(1)",
    "dim); print(1",
    "dim\nprint(1)",
    "(yield)",
    "*dim",
    "a b",
    "",
    "\u2028print(1)",
    "None if print(1) else int",
    "__import__('os')",
    "\x00",
    "\ud800",
    "]; print(1); x = [",
    "\u017felf",  # which Python reads as self
    "\uff44im",
    "9" * 5000,
    "class",
    "start, 'a')\nprint(1)\nx = (lambda: 0",
    'part.a"))\nprint(1)\nx = (("',
]

DECLARING = (ast.Import, ast.ImportFrom, ast.ClassDef, ast.FunctionDef, ast.Assign, ast.AnnAssign, ast.If, ast.Pass)
"""What generated modules and classes consist of, beside documentation and `...`."""


def assert_only_declares(made: Plan) -> None:
    """No crash, and every statement of the outputs that runs on import is one of a declaration."""
    assert not made.crashes
    for path, text in made.outputs.items():
        waiting: list[ast.stmt] = [*ast.parse(text or "").body]
        while waiting:
            node = waiting.pop()
            says = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
            assert says or isinstance(node, DECLARING), (path, ast.unparse(node))
            running: list[ast.AST] = [node]
            if isinstance(node, ast.ClassDef | ast.If):
                waiting += node.body
                running = [*node.bases, *node.decorator_list] if isinstance(node, ast.ClassDef) else [node.test]
            elif isinstance(node, ast.FunctionDef):
                running = [*node.decorator_list, *node.args.defaults, *filter(None, node.args.kw_defaults)]
            elif isinstance(node, ast.AnnAssign):  # annotations are not evaluated
                running = [node.target, *filter(None, [node.value])]
            for part in running:
                called = {ast.unparse(each.func) for each in ast.walk(part) if isinstance(each, ast.Call)}
                assert not called & {"print", "__import__"}, (path, ast.unparse(node))
