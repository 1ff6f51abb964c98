"""The attributes of a new nn.Module as the fast paths write them, and whether the installed torch agrees.

Registering writes what nn.Module would write, and only where nothing was changed: neither the attributes of a new module nor
nn.Module's methods, and where there is no global hook.
"""

from __future__ import annotations

from collections import OrderedDict

from torch import nn

Module = nn.Module

_ATTRIBUTES: dict[str, object] = {
    "training": True,
    "_parameters": {},
    "_buffers": {},
    "_non_persistent_buffers_set": set(),
    "_backward_pre_hooks": OrderedDict(),
    "_backward_hooks": OrderedDict(),
    "_is_full_backward_hook": None,
    "_forward_hooks": OrderedDict(),
    "_forward_hooks_with_kwargs": OrderedDict(),
    "_forward_hooks_always_called": OrderedDict(),
    "_forward_pre_hooks": OrderedDict(),
    "_forward_pre_hooks_with_kwargs": OrderedDict(),
    "_state_dict_hooks": OrderedDict(),
    "_state_dict_pre_hooks": OrderedDict(),
    "_load_state_dict_pre_hooks": OrderedDict(),
    "_load_state_dict_post_hooks": OrderedDict(),
    "_modules": {},
}
"""The attributes of a new module, in the order in which nn.Module sets them."""


def is_known(module: nn.Module) -> bool:
    """Whether a new module has exactly the attributes that the fast paths write."""
    state = vars(module)
    return list(state) == list(_ATTRIBUTES) and all(
        type(state[name]) is type(value) and state[name] == value for name, value in _ATTRIBUTES.items()
    )


KNOWN = is_known(nn.Module())
"""Whether the installed torch has this layout. Where it has not, nn.Module does everything."""
