"""The words of the declaration language by their qualified names, as readers resolve them."""

PACKAGE = "qten_gen"

TENSORCLASS = "qten_gen.TensorClass"
MODULE = "qten_gen.Module"

FIELD = "qten_gen.field"
PARAM = "qten_gen.param"
BUFFER = "qten_gen.buffer"
SUBMODULE = "qten_gen.submodule"
VIRTUAL = "qten_gen.virtual"
CONST = "qten_gen.const"

UNBATCHED = "qten_gen.Unbatched"
PER_ITEM = "qten_gen.PerItem"

SPECIFIERS = frozenset({FIELD, PARAM, BUFFER, SUBMODULE})
"""What stands on the right of a field."""

CLASS_MAKERS = frozenset(
    "dataclasses.dataclass attr.s attr.attrs attr.define attr.frozen attr.mutable attrs.define attrs.frozen attrs.mutable "
    "pydantic.dataclasses.dataclass tensordict.tensorclass tensordict.prototype.tensorclass flax.struct.dataclass "
    "chex.dataclass".split()
)
"""Decorators of other libraries that write the constructor of a class."""

OTHER_KINDS = frozenset(
    "typing.NamedTuple typing.TypedDict typing.Protocol typing_extensions.TypedDict typing_extensions.Protocol "
    "enum.Enum enum.IntEnum enum.StrEnum enum.Flag enum.IntFlag pydantic.BaseModel tensordict.TensorClass".split()
)
"""Classes that make their subclasses in a way of their own, which no declaration can be combined with."""
