"""An argument of a specifier is computed when the class statement runs, though it is meant for each instance.

Only strings are expressions over the arguments of the constructor. `2 * depth` without quotes is computed once, with the default
of `depth`, and `nn.RMSNorm if rms else nn.LayerNorm` chooses by the default of `rms`. A string in place of a condition, as in
`nn.RMSNorm if "rms" else nn.LayerNorm`, is always true. Either way every instance gets the same, whatever its arguments are.

`choice("rms", {True: nn.RMSNorm, False: nn.LayerNorm})` chooses for each instance.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..model import Argument, FieldSource, ModuleDecl, SpecifierCall, Value, language
from ..model.diagnostics import Diagnostic, Kind
from .rule_input import RuleContext

KIND = Kind("QG344", "early-value", can_be_wrong=True)

EXAMPLE = """
-from qten_gen import Module, submodule
+from qten_gen import Module, choice, submodule
 from torch import nn


 class Net(Module):
     dim: int
     depth: int = 2
-    up: nn.Linear = submodule(nn.Linear, "dim", 2 * depth)
-                                                ^^^^^^^^^
+    rms: bool = False
+    up: nn.Linear = submodule(nn.Linear, "dim", "2*depth")
+    norm: nn.Module = submodule(choice("rms", {True: nn.RMSNorm, False: nn.LayerNorm}), "dim")
"""


def check(context: RuleContext) -> Iterator[Diagnostic]:
    if context.source is None or not isinstance(context.declaration, ModuleDecl):
        return
    above: set[str] = set()
    for field in context.source.fields:
        if field.specifier is not None and field.specifier.name != language.FIELD:
            for argument in _walk(field.specifier):
                yield from _problem(argument, above)
        if _is_argument(field):
            above.add(field.name)


def _is_argument(field: FieldSource) -> bool:
    """Whether the class body binds the name of a constructor argument to its default."""
    if field.annotation is None or field.is_class_variable:
        return False
    return field.value is not None if field.specifier is None else field.specifier.name == language.FIELD


def _walk(call: SpecifierCall) -> Iterator[Argument]:
    """The arguments of a specifier and of the children among them that are Python expressions."""
    for argument in call.arguments:
        if isinstance(argument.value, SpecifierCall):
            yield from _walk(argument.value)
        elif isinstance(argument.value, Value):
            yield argument


def _problem(argument: Argument, above: set[str]) -> Iterator[Diagnostic]:
    """The problem with one argument; `above` has the constructor arguments with defaults, which the class body knows."""
    value = argument.value
    assert isinstance(value, Value)
    if value.torch_name is not None or not _may_be_early(value.text, above):
        return
    try:
        tree = ast.parse(value.text.lstrip("*"), mode="eval")
    except SyntaxError:
        return
    for node in _evaluated(tree.body):
        if isinstance(node, ast.Name) and node.id in above:
            message = f"{value.text} is computed once, when the class statement runs, with the default of {node.id}"
            yield Diagnostic(KIND, message, argument.place, _instead(argument, node.id, tree.body))
            return
        condition = (
            node.test if isinstance(node, ast.IfExp) else node.values[0] if isinstance(node, ast.BoolOp) else None
        )
        condition = condition.operand if isinstance(condition, ast.UnaryOp) else condition
        if isinstance(condition, ast.Constant) and isinstance(condition.value, str):
            message = f"{value.text} is computed once, when the class statement runs, where a string is always true"
            yield Diagnostic(KIND, message, argument.place, _instead(argument, condition.value, tree.body))
            return


def _may_be_early(text: str, above: set[str]) -> bool:
    return " if " in text or " and " in text or " or " in text or any(name in text for name in above)


def _evaluated(node: ast.expr) -> Iterator[ast.expr]:
    """The parts of an expression that the class statement evaluates in its own scope."""
    if isinstance(node, ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
        return
    yield node
    for part in ast.iter_child_nodes(node):
        inside = part.value if isinstance(part, ast.keyword) else part
        if isinstance(inside, ast.expr):
            yield from _evaluated(inside)


def _instead(argument: Argument, name: str, node: ast.expr) -> str:
    """How to say what is meant."""
    if argument.keyword == "initializer":
        return f'write initializer="fill", and a method fill(self, tensor) that reads self.{name}'
    if isinstance(node, ast.IfExp | ast.BoolOp | ast.Subscript):
        return f'write choice("{name}", {{...}}), with a value for each that {name} may have'
    return f'write an expression in quotes, such as "{name}"'
