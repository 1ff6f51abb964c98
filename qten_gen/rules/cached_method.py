"""A method of a module is cached by `functools`.

A declared Module has methods that make tensors: the tensor is kept as it was when the method first ran, so `.to()` does not move
it, and it does not follow the fields that it was made from. `@virtual(cached=True, sources=("size",))` computes it again when a
source changed.

In a plain nn.Module, `qten-gen check` reports each method with `lru_cache` or `cache`. Such a cache belongs to the function, so
it keeps every module that it was called with, and the memory of its tensors, alive. And it returns the old tensor after `.to()`,
`load_state_dict` or a step of the optimizer: a module is its own key whatever it holds.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..model import ModuleDecl
from ..model.diagnostics import Diagnostic, Kind
from .plain_classes import Finding, PlainClass, owner_of
from .rule_input import RuleContext

KIND = Kind("QG327", "cached-method", "warning")

EXAMPLE = """
-from functools import cached_property
-
 import torch
-from qten_gen import Module
+from qten_gen import Module, virtual
 from torch import Tensor


 class Mask(Module):
     size: int

-    @cached_property
-    def causal(self) -> Tensor:
-        ^^^^^^
-        return torch.ones(self.size, self.size).tril()
+    @virtual(cached=True, sources=("size",))
+    def causal(self, dtype: torch.dtype, device: torch.device) -> Tensor:
+        return torch.ones(self.size, self.size, dtype=dtype, device=device).tril()
"""

_CACHES = ("functools.cached_property", "functools.lru_cache", "functools.cache")


def check(context: RuleContext) -> Iterator[Diagnostic]:
    if not isinstance(context.declaration, ModuleDecl):
        return
    for method in context.methods:
        cache = next((name for name in method.decorators if name in _CACHES), None)
        if cache is not None and method.signature.result.removeprefix("torch.") == "Tensor":
            message = f"{cache.rpartition('.')[2]} keeps the first tensor of {method.name}, also when the module moves"
            help = (
                f"write @virtual above def {method.name}(self, dtype: torch.dtype, device: torch.device);"
                " with cached=True and sources=, it is kept"
            )
            yield Diagnostic(KIND, message, method.place / "name", help)


def check_plain(cls: PlainClass) -> Iterator[Finding]:
    for method in cls.methods:
        for decorator in method.decorator_list:
            made = decorator.func if isinstance(decorator, ast.Call) else decorator
            if owner_of(method) and cls.meaning(made) in _CACHES[1:]:
                message = (
                    f"the cache of {method.name} keeps every {cls.node.name} alive, and returns what it held before"
                )
                help = "cache a function of the values that it needs, or a buffer of the module"
                yield Finding(decorator, message, help)
