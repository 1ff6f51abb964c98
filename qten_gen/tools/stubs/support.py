"""The stub that other stubs import: what types a call by `forward`, hooks by their class, and containers by what they hold.

Each class takes one line for its calls, because a descriptor looks at the `forward` of the object. So a class that overrides
`forward` with other parameters has a call of its own, with nothing said of `__call__`.
"""

from __future__ import annotations

NAME = "qten_gen_module_types"
"""The module. It exists for type checkers only."""

TEMPLATE = "library_types.pyi.j2"
"""The template of its text."""

TYPES = "_types"
"""The name of the module in stubs."""

IMPORTS = f"from typing import ClassVar as _ClassVar, Generic as _Generic\n\nimport {NAME} as _types"

CALL = "__call__: _ClassVar[_types.Call]"
ANY_CALL = "__call__: _types.AnyCall"
HOOKS = (
    "register_forward_hook: _ClassVar[_types.ForwardHook]",
    "register_forward_pre_hook: _ClassVar[_types.ForwardPreHook]",
    "register_full_backward_hook: _ClassVar[_types.BackwardHook]",
    "register_full_backward_pre_hook: _ClassVar[_types.BackwardPreHook]",
)
ANY = "_types.Any"
PARAMETER = "_types.Parameter"
TENSOR = "_types.Tensor"
