"""The vocabulary of the declaration language: qualified names, class flags and class keywords.

The readers resolve a name in a declaration to a qualified name, and compare that with these constants. The runtime uses the same
constants.
"""

from __future__ import annotations

PACKAGE = "qten_gen"

TENSORCLASS = "qten_gen.TensorClass"
SIZED = "qten_gen.SizedTensorClass"
"""TensorClass with the flag of this name, as checkers understand it."""
MODULE = "qten_gen.Module"
OPEN_MODULE = "qten_gen.OpenModule"
"""Module under another name, whose attributes type checkers do not know."""

FIELD = "qten_gen.field"
NUMBER = "qten_gen.number"
"""`field` with another type to checkers, for the default of an `AsTensor`."""
PARAM = "qten_gen.param"
BUFFER = "qten_gen.buffer"
SUBMODULE = "qten_gen.submodule"
SEQUENTIAL = "qten_gen.sequential"
CHAIN = SEQUENTIAL
"""The name of the function that makes a sequence, for both readers: `sequential(...)` is a submodule made by it."""
CHOICE = "qten_gen.choice"
VIRTUAL = "qten_gen.virtual"
CONST = "qten_gen.const"
DERIVED = "qten_gen.derived"
CHECK = "qten_gen.check"
"""A statement of its own in the body of a Module."""
CHECKS = "__checks__"
"""Where a class body that runs keeps its checks, until the metaclass takes them."""

INDEX = "index"
KEY = "key"
OF_CHILD = {INDEX: "int", KEY: "str"}
"""What each of several children has, and its type: its position, and with `keys=` the name that it is under."""

UNBATCHED = "qten_gen.Unbatched"
PER_ITEM = "qten_gen.PerItem"
RAGGED = "qten_gen.Ragged"
AS_TENSOR = "qten_gen.AsTensor"

SAME = {NUMBER: FIELD}
"""Names that differ from another in what checkers know alone."""

ANNOTATED = (UNBATCHED,)
"""The words of annotations that are `Annotated[T, "qten_gen.WORD"]`: a type checker sees T."""

DATACLASS_FIELD = "dataclasses.field"
"""Means the same as `FIELD`, as far as their arguments are the same."""

SPECIFIERS = frozenset({FIELD, PARAM, BUFFER, SUBMODULE, SEQUENTIAL, DERIVED})
"""The functions that are called on the right of a field."""

REPEAT = "repeat"
"""The keyword of `submodule` and `param` that takes a dimension."""
WHEN = "when"
"""The keyword that takes a condition."""
KEEP_DTYPE = "keep_dtype"
"""The keyword of tensors and children that no cast of the module changes."""

ALIAS = "alias"
"""The keyword of `field` that takes the name of a constructor argument, as PEP 681 defines it."""

SPECIFIER_KEYWORDS = {
    FIELD: ("default", "default_factory", "kw_only", ALIAS),
    PARAM: ("initializer", "value", "dtype", "requires_grad", WHEN, "tie", REPEAT, "keys", "group", KEEP_DTYPE, "init"),
    BUFFER: ("initializer", "value", "dtype", "persistent", WHEN, KEEP_DTYPE, "init"),
    SUBMODULE: (WHEN, REPEAT, "keys", "group", KEEP_DTYPE, "init"),
    SEQUENTIAL: (WHEN, REPEAT, "keys", "group", KEEP_DTYPE, "init"),
    DERIVED: ("init",),
    CHECK: (),
    VIRTUAL: ("cached", "cast"),
}
"""The keywords that each specifier takes. `submodule` passes all others to the class of the child: `submodule(nn.LayerNorm,
eps=1e-6)`."""

SPECIFIER_SWITCHES = frozenset({"kw_only", "requires_grad", "persistent", "cached", "cast", KEEP_DTYPE, "init"})
"""The keywords whose value is True or False."""

FLAGS = ("autocast", "frozen", "nocast", "open", "shadow", "sized", "tensor_only")
"""Class flags of a TensorClass, as a keyword (`frozen=True`) or in brackets (`TensorClass["frozen"]`). Each is off unless given.

`open` keeps fields in the instance dict instead of slots: such a class takes undeclared attributes and may be combined with
another class that has fields.
"""

STRING_OPTIONS = {"checks": ("on", "off")}
"""Class keywords of a TensorClass that take a string, with the strings that they accept; the first is the default.

`checks="off"` leaves out the checks of the shapes and dtypes that jaxtyping annotations state.
"""

INIT = "init"
"""The class keyword of a Module that keeps a parent's handwritten `__init__`: `init=False`, as PEP 681 defines it."""

_TAKE_DIMENSIONS = (PARAM, BUFFER, SUBMODULE, SEQUENTIAL, DERIVED, CHECK)
_VALUE_KEYWORDS = {
    keyword
    for specifier in _TAKE_DIMENSIONS
    for keyword in SPECIFIER_KEYWORDS[specifier]
    if keyword not in (REPEAT, WHEN)
}


def takes_dimension(specifier: str, position: int, keyword: str | None) -> bool:
    """True if a string or an integer is an expression when it is the argument of a specifier at that position.

    >>> takes_dimension("qten_gen.param", 0, None), takes_dimension("qten_gen.param", 2, "tie")
    (True, False)
    """
    if specifier not in _TAKE_DIMENSIONS or keyword in _VALUE_KEYWORDS:
        return False
    if specifier == SEQUENTIAL:
        return keyword in (REPEAT, WHEN)
    is_class_of_child = specifier == SUBMODULE and position == 0 and keyword is None
    return not is_class_of_child
