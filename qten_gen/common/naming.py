"""The names of the private attributes of generated classes, which the generator writes and the runtime reads."""

from __future__ import annotations

PRIVATE_NAMES = frozenset(
    "_abc_impl _assign _batch_size _check_compatible _containers _declaration _defaults _device _entered _field_values _fields "
    "_fill _fingerprint _flags _index_put _inlined_values _join _leaves _lock _map _map_with _names _nested "
    "_per_item _rearrange _requires_grad _shapes _specifiers _split _static _to_dict _unbatched _viewed _zip".split()
)
"""Private attributes of generated classes and of TensorClass itself."""

REFERENCE = "_reference"
"""The empty buffer of a Module whose virtual tensors have no parameter or buffer of its own to follow."""


def storage(name: str) -> str:
    """The private attribute that stores a field of a TensorClass.

    >>> storage("tokens"), storage("map"), storage("map_"), storage("_tokens")
    ('_tokens', '_map_', '_map__', '_tokens_')
    """
    if name.startswith("_"):
        return f"{name}_"
    return f"_{name}_" if f"_{name.rstrip('_')}" in PRIVATE_NAMES else f"_{name}"
