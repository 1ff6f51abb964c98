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
