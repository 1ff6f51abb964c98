"""A constructor keeps tensors or modules where torch does not find them.

A module assigned to an attribute is registered, but not one in a list or a dict: `parameters()` does not contain its
parameters, so no optimizer trains them, `.to()` leaves them where they are, and the state dict does not save them. The same
holds for a plain tensor, and for `nn.Parameter(...).to(device)`, which is an ordinary tensor again.

The rule looks at `__init__` and `__post_init__`. It does not report what the constructor registers afterwards, as in
`nn.ModuleList(self.layers)`.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..model import Change, ConfigDecl, ModuleDecl
from ..model.diagnostics import Diagnostic, Kind
from .rule_input import RuleContext
from .shared_object import made_by

KIND = Kind("QG323", "unregistered-state", "warning")

EXAMPLE = """
+import torch
 from qten_gen import Module
-from torch import nn
+from torch import Tensor, nn


 class Net(Module):
+    layers: nn.ModuleList
+    mask: Tensor
+
     def __init__(self, dim: int, depth: int) -> None:
         super().__init__()
-        self.layers = [nn.Linear(dim, dim) for _ in range(depth)]
-        ^^^^^^^^^^^
+        self.layers = nn.ModuleList(nn.Linear(dim, dim) for _ in range(depth))
+        self.register_buffer("mask", torch.ones(dim, dim).tril(), persistent=False)
"""

_CONSTRUCTORS = ("__init__", "__post_init__")


def check(context: RuleContext) -> Iterator[Diagnostic]:
    declaration = context.declaration
    if not isinstance(declaration, ModuleDecl):
        return
    declared = {field.name for field in declaration.fields if not isinstance(field, ConfigDecl)}
    registered = _registered(context)
    for method in context.methods:
        if method.name not in _CONSTRUCTORS:
            continue
        known = {*registered, *method.registers_later}
        if method.name == "__post_init__":
            known |= declared
        seen: set[str] = set()
        lists = {c.name for c in method.changes if c.action == "assign" and c.in_container and not c.makes}
        for change in method.changes:
            if change.name in known or change.name in seen:
                continue
            problem = _problem(change, lists, context)
            if problem is not None:
                seen.add(change.name)
                message, help = problem
                yield Diagnostic(KIND, message, change.place, help)


def _registered(context: RuleContext) -> set[str]:
    """The names of tensors that the constructors of the class and of its bases register, as far as the run contains them."""
    found: set[str] = set()
    waiting, seen = [context.declaration.qualified], set[str]()
    while waiting:
        name = waiting.pop()
        source = context.project.classes.get(name)
        if source is None or name in seen:
            continue
        seen.add(name)
        waiting += [base.name for base in source.bases]
        found.update(each.name for each in source.registers if each.is_tensor)
    return found


def _problem(change: Change, lists: set[str], context: RuleContext) -> tuple[str, str] | None:
    """The problem with what a constructor assigns, and how to fix it."""
    if change.action not in ("assign", "append") or (change.action == "append" and change.name not in lists):
        return None
    kinds = [made_by(name, context) for name in change.makes]
    what = f"self.{change.name}"
    if "module" in kinds:
        if not change.in_container:
            return None
        return (
            f"the modules in {what} are not registered: it is an ordinary container",
            "write nn.ModuleList or nn.ModuleDict",
        )
    if "parameter" in kinds:
        if change.in_container:
            help = "write nn.ParameterList or nn.ParameterDict"
            return f"the parameters in {what} are not registered: it is an ordinary container", help
        if change.moved:
            help = "give nn.Parameter a tensor of that device and dtype, and assign it directly"
            return f"{what} is not a parameter: the method after nn.Parameter(...) returns an ordinary tensor", help
        return None
    initialised = any(name.startswith("torch.nn.init.") for name in change.makes)
    if change.action == "append" or not ("tensor" in kinds or initialised):
        return None
    if change.in_container:
        return f"the tensors in {what} are not registered, so .to() does not move them", "register a buffer for each"
    help = f'write self.register_buffer("{change.name}", ..., persistent=False), or nn.Parameter(...) to train it'
    return f"the tensor {what} is not registered, so .to() does not move it", help
