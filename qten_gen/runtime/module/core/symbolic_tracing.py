"""Whether `torch.fx.symbolic_trace` runs: then a module gives proxies for its parameters.

The tracer puts its own function in the place of `nn.Module.__getattr__`, which properties of a class would hide. So they compare
the two, `Module.__getattr__ is not of_torch`, where a call would take half the time of the read again.
"""

from __future__ import annotations

from torch.nn import Module

of_torch = Module.__getattr__
"""What `nn.Module.__getattr__` is while nothing is traced."""
