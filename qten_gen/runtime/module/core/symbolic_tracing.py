"""Whether `torch.fx.symbolic_trace` runs: then a module gives proxies for its parameters.

The tracer puts its own function in the place of `nn.Module.__getattr__`, which properties of a class would hide. So they look at
`symbolic_trace._is_fx_tracing_flag`, where a call would take half the time of the read again.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Protocol, cast

from torch.fx import _symbolic_trace


class _Tracing(Protocol):
    _is_fx_tracing_flag: bool


# Torch has no public name for it that costs no call. In a release without it, a graph has constants in place of parameters.
_never = SimpleNamespace(_is_fx_tracing_flag=False)
symbolic_trace: _Tracing = cast(
    _Tracing, _symbolic_trace if hasattr(_symbolic_trace, "_is_fx_tracing_flag") else _never
)
