"""The constructor of an nn.Module does not call the one of its base, or registers something before it does.

`nn.Module.__init__` makes the tables that parameters, buffers and children are registered in. Without it, the first assignment
of a layer fails, and a module without layers fails at its first call or `.to()`.

`qten-gen check` reports this for plain classes. It does not look into methods that the constructor calls, and leaves out mixins.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..model.diagnostics import Kind
from .plain_classes import Finding, Function, PlainClass, attribute_of, owner_of

KIND = Kind("QG501", "missing-super-init", "warning")

EXAMPLE = """
 from torch import nn


 class Net(nn.Module):
     def __init__(self, dim: int) -> None:
-        ^^^^^^^^
+        super().__init__()
         self.up = nn.Linear(dim, dim)
"""


def check_plain(cls: PlainClass) -> Iterator[Finding]:
    """The constructor itself, or its first statement that registers something too early."""
    init = next((method for method in cls.methods if method.name == "__init__"), None)
    if init is None or init.decorator_list or cls.node.decorator_list or _only_raises(init):
        return
    if not any(_constructs(node) for node in ast.walk(cls.node)):
        if _is_mixin(cls):
            return
        help = "begin the constructor with super().__init__()"
        yield Finding(init, f"__init__ of {cls.node.name} does not call the constructor of its base", help)
        return
    for statement in init.body:
        if any(_constructs(node) for node in ast.walk(statement)):
            return
        name = _registered(statement, owner_of(init), cls)
        if name is not None:
            message = (
                f"self.{name} is assigned before nn.Module.__init__, which makes the tables that it is registered in"
            )
            yield Finding(statement, message, "call super().__init__() first")
            return


def _is_mixin(cls: PlainClass) -> bool:
    """Whether another base of a subclass may call the constructor."""
    return "mixin" in cls.node.name.lower() or any(len(each.node.bases) > 1 for each in cls.descendants)


def _constructs(node: ast.AST) -> bool:
    """Whether a node is `super().__init__`, or takes the tables of another module."""
    return isinstance(node, ast.Attribute) and node.attr in ("__init__", "__setstate__", "__dict__")


def _only_raises(init: Function) -> bool:
    return isinstance(init.body[-1], ast.Raise)


def _registered(statement: ast.stmt, owner: str, cls: PlainClass) -> str | None:
    """The attribute that a statement registers a layer or a parameter under."""
    if not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.Call):
        return None
    made = cls.meaning(statement.value.func)
    if not cls.is_module(made) and made not in ("torch.nn.Parameter", "torch.nn.parameter.Parameter"):
        return None
    return next((name for target in statement.targets if (name := attribute_of(target, owner)) is not None), None)
