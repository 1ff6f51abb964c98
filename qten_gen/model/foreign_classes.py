"""Lists decorators and classes of other libraries that a declaration cannot be combined with, by qualified name."""

from __future__ import annotations

CLASS_MAKERS = frozenset(
    "dataclasses.dataclass attr.s attr.attrs attr.define attr.frozen attr.mutable attrs.define attrs.frozen attrs.mutable "
    "pydantic.dataclasses.dataclass tensordict.tensorclass tensordict.prototype.tensorclass flax.struct.dataclass "
    "chex.dataclass".split()
)
"""Decorators that create the constructor of a class."""

OTHER_KINDS = frozenset(
    "typing.NamedTuple typing.TypedDict typing_extensions.NamedTuple typing_extensions.TypedDict "
    "enum.Enum enum.IntEnum enum.StrEnum enum.Flag enum.IntFlag pydantic.BaseModel tensordict.TensorClass".split()
)
"""Bases that create their subclasses in their own way."""

PROTOCOLS = frozenset({"typing.Protocol", "typing_extensions.Protocol"})
"""The base that makes a class a protocol. A declaration cannot be one, but it can derive from one."""
