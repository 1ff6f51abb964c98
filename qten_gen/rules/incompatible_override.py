"""A method of an nn.Module replaces one that torch calls itself, and does not take what torch passes.

`eval()` calls `train(False)`, so `def train(self)` makes it raise TypeError. `state_dict()` of a module calls that of each child
with `destination`, `prefix` and `keep_vars`, and so on.

`qten-gen check` reports this for plain classes.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..model.diagnostics import Kind
from .plain_classes import Finding, Function, PlainClass, owner_of

KIND = Kind("QG504", "incompatible-override", "warning")

EXAMPLE = """
 from torch import nn


 class Net(nn.Module):
-    def train(self) -> None:
-        ^^^^^
-        super().train()
+    def train(self, mode: bool = True) -> "Net":
+        super().train(mode)
+        return self
"""

_CALLS: dict[str, tuple[str, int, tuple[str, ...]]] = {
    "train": ("eval() calls train(False)", 1, ()),
    "_apply": ("to() of a module around it calls _apply(fn)", 1, ()),
    "state_dict": (
        "state_dict() of a module around it passes destination, prefix and keep_vars",
        0,
        ("destination", "prefix", "keep_vars"),
    ),
    "named_modules": ("named_modules() of a module around it passes memo, prefix and remove_duplicate", 3, ()),
    "_save_to_state_dict": ("state_dict() calls _save_to_state_dict(destination, prefix, keep_vars)", 3, ()),
    "_load_from_state_dict": ("load_state_dict() calls _load_from_state_dict with seven arguments", 7, ()),
    "set_extra_state": ("load_state_dict() calls set_extra_state(state)", 1, ()),
}
"""For each method: who calls it, with how many positional arguments, and with which keywords."""


def check_plain(cls: PlainClass) -> Iterator[Finding]:
    for method in cls.methods:
        call = _CALLS.get(method.name)
        if call is not None and owner_of(method) and not method.decorator_list and not _takes(method, *call[1:]):
            help = f"take the arguments of nn.Module.{method.name}, or give the method another name"
            yield Finding(method, f"{method.name} of {cls.node.name} does not take what torch passes: {call[0]}", help)


def _takes(method: Function, positional: int, keywords: tuple[str, ...]) -> bool:
    arguments = method.args
    parameters = [*arguments.posonlyargs, *arguments.args][1:]
    required = len(parameters) - len(arguments.defaults)
    if required > positional and not keywords:
        return False
    if len(parameters) < positional and arguments.vararg is None:
        return False
    named = {each.arg for each in (*parameters, *arguments.kwonlyargs)}
    return arguments.kwarg is not None or named >= set(keywords)
