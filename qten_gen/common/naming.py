"""Names of generated modules and of what is in them, and absolute names of imported modules."""

from __future__ import annotations

PRIVATE_NAMES = frozenset(
    "_abc_impl _assign _batch_size _check_compatible _containers _declaration _declared_as _defaults _device "
    "_entered _field_values _fields _fill _fingerprint _flags _index_put _join _leaves _lock _map _map_with _names _nested "
    "_per_item _rearrange _shapes _specifiers _split _static _to_dict _unbatched _zip".split()
)
"""Private attributes of generated classes and of TensorClass itself."""

WRITTEN_BUILTINS = frozenset(
    """
    KeyError abs any bool bytes classmethod complex dict enumerate float getattr int isinstance len list max min object property
    range round str sum super tuple type zip
    """.split()
)
"""The builtins that generated text uses, so that no class of a generated module can have one of these names."""

ALIASES = frozenset(
    """
    _OrderedDict _Size _Tensor _builtins _compiled _features _joined _module _nn _rt _t _torch _warned
    """.split()
)
"""The other globals of generated modules: what they import, and what the runtime keeps in them."""

REPLACE = r"replace(?<=\breplace)\s*+\(\s*+(?:[\w.]++\s*+,\s*+)?\w++\s*+=(?!=)"
"""A call of `replace` with keywords, which `str.replace` does not have. Python 3.11.2 fails at possessive groups."""

REFERENCE = "_reference"
"""The empty buffer of a Module whose virtual tensors have no parameter or buffer of its own to follow."""


def storage(name: str) -> str:
    """The private attribute that stores a field of a TensorClass.

    >>> storage("tokens"), storage("map"), storage("map_"), storage("_tokens")
    ('_tokens', '_map_', '_map__', '_tokens_')
    """
    if name.startswith("_"):
        return f"{name}_"
    stem = f"_{name.rstrip('_')}"
    gives_way = stem in PRIVATE_NAMES or (name.endswith("_") and f"{stem}_" in PRIVATE_NAMES)
    return f"_{name}_" if gives_way else f"_{name}"


def generated_class(name: str) -> str:
    """The class that is generated for a declaration. A declaration cannot have such a name itself.

    >>> generated_class("Batch"), generated_class("_Batch")
    ('_Batch_', '__Batch_')
    """
    return f"_{name}_"


def own_global(name: str) -> str:
    """The second global of a generated module that holds a declared class, for text in which its name means something else.

    >>> own_global("device")
    'device_class_'
    """
    return f"{name}_class_"


def absolute(module: str, importer: str, is_package: bool) -> str:
    """The absolute name of a module that `importer` imports as `module`; empty if the dots lead above the top level.

    >>> absolute(".base", "shop.model", is_package=False), absolute("..base", "shop.sub", is_package=True)
    ('shop.base', 'shop.base')
    """
    name = module.lstrip(".")
    level = len(module) - len(name)
    if level == 0:
        return name
    parts = importer.split(".") if importer else []
    kept = parts[: max(0, len(parts) - level + is_package)]
    return ".".join([*kept, *([name] if name else [])])


def source_module(name: str) -> str:
    """The module that a generated module is made from, by its name; empty for any other name.

    >>> source_module("shop.model_qten"), source_module("shop._qten"), source_module("shop.model")
    ('shop.model', 'shop', '')
    """
    return name.removesuffix("_qten").removesuffix(".") if name.endswith("_qten") else ""
