"""A method of a module is cached by `functools`.

Such a cache belongs to the function, so it keeps every module that it was called with, and the memory of its tensors, alive. And
it returns the old tensor after `.to()`, `load_state_dict` or a step of the optimizer: a module is its own key whatever it holds.
`qten-gen check` reports it. In a declared Module, `@virtual(cached=True)` makes a tensor that follows the module.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..model.diagnostics import Kind
from .plain_classes import Finding, PlainClass, owner_of

KIND = Kind("QG327", "cached-method", "warning")

EXAMPLE = """
-from functools import lru_cache
-
 import torch
 from torch import Tensor, nn


 class Mask(nn.Module):
-    @lru_cache
-     ^^^^^^^^^
     def causal(self, size: int) -> Tensor:
         return torch.ones(size, size).tril()
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
                help = "cache a function of the values that it needs, or a buffer of the module"
                yield Finding(decorator, message, help)
