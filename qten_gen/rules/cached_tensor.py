"""A method of a Module that makes a tensor is cached by `functools`.

The tensor is kept as it was when the method first ran: `.to()` does not move it, and it does not follow the fields that it was
made from. `lru_cache` also keeps each module alive. `@virtual(cached=True, sources=("size",))` computes the tensor again when a
source changed.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..model import ModuleDecl
from ..model.diagnostics import Diagnostic, Kind
from .context import RuleContext

KIND = Kind("QG327", "cached-tensor", "warning")

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
