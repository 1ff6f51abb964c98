"""Names that generated classes and the runtime share."""

from __future__ import annotations

PRIVATE_NAMES = frozenset(
    "_assumed _batch_size _contents _declaration _defaults _device _fields _fingerprint _flags _index_put _join _leaves _map "
    "_map_with _nested _part _refill _specifiers _static _tensors _to_dict _zip".split()
)
"""Private attributes of generated classes and of TensorClass itself."""


def storage(name: str) -> str:
    """The private attribute that holds a field of a TensorClass.

    >>> storage("tokens"), storage("map")
    ('_tokens', '_map_')
    """
    return f"_{name}_" if f"_{name}" in PRIVATE_NAMES else f"_{name}"
