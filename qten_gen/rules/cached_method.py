"""A method of an nn.Module is cached by `functools.lru_cache` or `functools.cache`.

The cache belongs to the function, so it keeps every module that it was called with, and the memory of its tensors, alive. And it
returns the old tensor after `.to()`, `load_state_dict` or a step of the optimizer: a module is its own key whatever it holds.

`qten-gen check` reports this for plain classes.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..model.diagnostics import Kind
from .plain import Finding, PlainClass, owner_of

KIND = Kind("QG503", "cached-method", "warning")

EXAMPLE = """
 import functools

 import torch
 from torch import Tensor, nn


+@functools.lru_cache(maxsize=8)
+def causal(size: int, device: torch.device) -> Tensor:
+    return torch.ones(size, size, dtype=torch.bool, device=device).tril()
+
+
 class Net(nn.Module):
-    @functools.lru_cache(maxsize=8)
-     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
-    def causal(self, size: int) -> Tensor:
-        return torch.ones(size, size, dtype=torch.bool).tril()
+    def forward(self, x: Tensor) -> Tensor:
+        return x * causal(x.shape[-1], x.device)
"""

_CACHES = ("functools.lru_cache", "functools.cache")


def check_plain(cls: PlainClass) -> Iterator[Finding]:
    for method in cls.methods:
        for decorator in method.decorator_list:
            made = decorator.func if isinstance(decorator, ast.Call) else decorator
            if owner_of(method) and cls.meaning(made) in _CACHES:
                message = (
                    f"the cache of {method.name} keeps every {cls.node.name} alive, and returns what it held before"
                )
                yield Finding(
                    decorator, message, "cache a function of the values that it needs, or a buffer of the module"
                )
