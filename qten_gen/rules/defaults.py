"""Rules about the defaults of fields."""

from __future__ import annotations

import ast
import re
from ast import literal_eval
from collections.abc import Iterator

from ..common.field_kinds import members_of
from ..model import ConfigDecl, Declaration, Default, FieldDecl, FieldKind, ModuleDecl, TensorClassDecl, TypeExpr, Value
from ..model.diagnostics import Fix
from .rule_input import Problem, RuleContext
from .shared_objects import kind_of


def field_after_default(context: RuleContext) -> Iterator[Problem]:
    """A field without a default follows a field that has one.

    Fields are the parameters of the constructor, in order, with the inherited fields first. Python does not allow a required
    parameter after an optional one, so the generated module would be a SyntaxError. A Module with its own `__init__` can
    have them in any order.

    Example:

     from qten_gen import TensorClass
     from torch import Tensor


     class Batch(TensorClass):
    +    tokens: Tensor
         mask: Tensor | None = None
    -    tokens: Tensor
    -    ^^^^^^
    """
    if isinstance(context.declaration, ModuleDecl) and context.declaration.custom_init:
        return
    own = {field.name for field in context.fields}
    inherited = [{field.name for field in parent.fields} for parent in context.facts.parents(context.declaration)]
    before: str | None = None
    for field in context.declaration.fields:
        if not isinstance(field, FieldDecl | ConfigDecl) or field.kw_only:
            continue
        if field.default is not None:
            before = field.name
        elif before is not None and not any({field.name, before} <= names - own for names in inherited):
            place = field.place / "target" if field.name in own else context.name_place
            write = f"write {field.name}: ... = field(kw_only=True)"
            help = f"give {field.name} a default, move it above {before}, or {write}"
            yield Problem(f"{field.name} has no default, but follows {before}, which has one", place, help)


_MUTABLE = r"[\[{]|(?:\w+\.)*(list|dict|set|bytearray|deque|defaultdict|OrderedDict|Counter)\("

_MUTABLE_TYPES = frozenset(f"collections.{name}" for name in ("Counter", "defaultdict", "deque"))
"""Classes whose objects are mutable, by whatever name a file calls them."""

_KINDS = {"[": "list", "{": "dict"}


def mutable_default(context: RuleContext) -> Iterator[Problem]:
    """A default is a list, a dict or another mutable object.

    The default is evaluated once, so all instances would share the object: appending to the list of one instance would change
    it in every other. A `default_factory` creates a new object for each instance.

    Example:

    -from qten_gen import TensorClass
    +from qten_gen import TensorClass, field
     from torch import Tensor


     class Batch(TensorClass):
         tokens: Tensor
    -    tags: list[str] = []
    -                      ^^
    +    tags: list[str] = field(default_factory=list)
    """
    for field in context.fields:
        if not isinstance(field, FieldDecl | ConfigDecl) or field.default is None or field.default.factory:
            continue
        value = field.default.value
        if value.held_specifier is not None:
            continue  # see `misplaced_specifier`
        match = re.match(_MUTABLE, value.text)
        is_known = isinstance(field, ConfigDecl) or not context.is_running
        is_made = not _MUTABLE_TYPES.isdisjoint(value.contains)
        if match is None and (is_made or (is_known and value.mutable and not value.contains)):
            message = f"the default of {field.name} is mutable, and all instances would share it"
            yield Problem(message, value.place, "write field(default_factory=...) with a function that makes it")
        if match is None or (match.group(1) is None and value.is_callable):  # such as {"a": 1}["a"]
            continue
        kind = match.group(1) or ("dict" if value.text == "{}" or ":" in value.text else _KINDS[value.text[0]])
        empty = value.text in ("[]", "{}") or value.text.endswith("()")
        factory = kind if empty else f"lambda: {value.text}"
        message = f"the default of {field.name} is mutable, and all instances would share it"
        yield Problem(message, value.place, f"write field(default_factory={factory})")


_WIDTHS = (bool, int, float, complex)

_BUILTINS = {
    **{f"builtins.{cls.__name__}": cls for cls in (*_WIDTHS, str, bytes, list, dict, tuple, set, frozenset)},
    "typing.List": list,
    "typing.Dict": dict,
    "typing.Tuple": tuple,
    "typing.Set": set,
    "typing.FrozenSet": frozenset,
}

_FOREIGN = {
    "attr.field": "attrs",
    "attr.ib": "attrs",
    "attr.attrib": "attrs",
    "attrs.field": "attrs",
    "pydantic.Field": "pydantic",
    "pydantic.fields.Field": "pydantic",
    "flax.struct.field": "flax",
    "equinox.field": "equinox",
    "chex.field": "chex",
}
"""Functions of other libraries that mean `field` there."""


def invalid_default(context: RuleContext) -> Iterator[Problem]:
    """The default of a field is not a value that the field can hold.

    A default is stored like any other value of the field. With `mask: Tensor = None`, every call of the constructor that leaves
    the mask out would raise TypeError, and type checkers would take `batch.mask` for a tensor. A number or string in place of a
    tensor is refused likewise, unless the class converts values, and so is `0.5` in an `int` field.

    `field(default_factory=...)` takes a function, which is called without arguments for each instance. What means that in attrs
    or pydantic is an object like any other here: `x: str = Field(...)` would have that object as its default.

    Example:

    -from qten_gen import TensorClass
    +import torch
    +from qten_gen import TensorClass, field
     from torch import Tensor


     class Batch(TensorClass):
         tokens: Tensor
    -    mask: Tensor = None
    -                   ^^^^
    +    mask: Tensor | None = None
    +    weight: Tensor = field(default_factory=lambda: torch.ones(()))
    """
    if context.constructs_itself:
        return
    for field in context.fields:
        if not isinstance(field, FieldDecl | ConfigDecl) or field.default is None:
            continue
        value = field.default.value
        found = _of_factory(field.name, value, context) if field.default.factory else _of_any(field, field.default)
        if found is not None:
            yield Problem(found[0], value.place, found[1])
        elif not field.default.factory and (literal := value.literal or value.constant) is not None:
            help = _help(field, literal_eval(literal), _converts(context.declaration))
            if help:
                shown = value.text if value.literal is not None else f"{value.text}, which is {literal}"
                message = f"the default of {field.name} is {shown}, but its type is {field.type.text}"
                fix = _or_none(field.name, context) if help.endswith(" | None = None") else None
                yield Problem(message, value.place, help, fix=fix)


def _or_none(name: str, context: RuleContext) -> Fix | None:
    """The fix that allows None, for an annotation that is not a string."""
    source = context.field_source(name)
    if source is None or source.annotation is None or source.annotation.text[:1] in ("'", '"'):
        return None
    return Fix(" | None", source.place / "annotation", is_behind=True)


def _or_none_in_text(type: TypeExpr) -> str:
    """An annotation that allows None, as it is written: a string stays one, as `"Net" | None` would raise TypeError."""
    quote = type.text[-1]
    return f"{type.text[:-1]} | None{quote}" if quote in ("'", '"') else f"{type.text} | None"


def _of_any(field: FieldDecl | ConfigDecl, default: Default) -> tuple[str, str] | None:
    """The problem with a default that no field can hold, or only one of another type; and how to fix it."""
    value = default.value
    foreign = next((_FOREIGN[name] for name in value.contains if name in _FOREIGN), None)
    if foreign is not None:
        message = f"the default of {field.name} is a field of {foreign}, which qten-gen does not support"
        return message, "write field(default=...) or field(default_factory=...) of qten_gen"
    if value.text in ("...", "Ellipsis") and not any(member.name in _ANY_OBJECT for member in members_of(field.type)):
        message = f"the default of {field.name} is an ellipsis, which its type {field.type.text} does not allow"
        return message, "remove the default: a field without one is required"
    present = [member for member in members_of(field.type) if member.name != "None"]
    is_lambda = value.text.startswith(("lambda:", "lambda ", "<function "))
    if is_lambda and all(member.name in _BUILTINS or member.name == "torch.Tensor" for member in present):
        message = f"the default of {field.name} is a function, but its type is {field.type.text}"
        return message, f"write field(default_factory={value.text if value.text.startswith('lambda') else '...'})"
    if value.name and any(member.name == value.name for member in present):
        message = f"the default of {field.name} is the class {value.text}, not an instance of it"
        return message, f"write field(default_factory={value.name.rpartition('.')[2]})"
    return None


def _of_factory(name: str, value: Value, context: RuleContext) -> tuple[str, str] | None:
    """The problem with a default factory, and how to fix it."""
    example = "write a function without arguments, such as default_factory=list or default_factory=lambda: ..."
    is_object = not value.is_callable or value.literal is not None
    if is_object or (not value.is_container and kind_of(value, context) in ("tensor", "parameter")):
        shown = value.text if len(value.text) <= _SHOWN else f"{value.text[:_SHOWN]}..."
        return f"the default_factory of {name} is {shown}, which is not a function", example
    if value.text.startswith("lambda"):
        function = ast.parse(value.text, mode="eval").body
        if isinstance(function, ast.Lambda):
            taken = function.args
            required = len(taken.posonlyargs) + len(taken.args) - len(taken.defaults)
            if required or None in taken.kw_defaults:
                return f"the default_factory of {name} is called without arguments, but requires some", example
    return None


_SHOWN = 60

_ANY_OBJECT = {"builtins.object", "typing.Any", "types.EllipsisType"}
"""Types that an ellipsis is of."""


def _converts(declaration: Declaration) -> bool:
    """True if the constructor of a class converts values to the annotated types."""
    return isinstance(declaration, TensorClassDecl) and not declaration.flags.isdisjoint({"autocast", "tensor_only"})


def can_hold(field: FieldDecl | ConfigDecl, value: object, declaration: Declaration) -> bool:
    """True if a field may have the value of a literal."""
    is_listed = isinstance(field, FieldDecl) and field.kind is FieldKind.PER_ITEM and isinstance(value, tuple)
    return is_listed or not _help(field, value, _converts(declaration))


def _help(field: FieldDecl | ConfigDecl, value: object, converts: bool) -> str:
    """How to fix a literal default that does not fit; empty for one that does."""
    if isinstance(field, ConfigDecl) or field.kind is FieldKind.STATIC:
        return "" if converts else _of_plain(field, value)
    if value is None:
        return "" if field.optional else f"write {field.name}: {_or_none_in_text(field.type)} = None"
    if field.kind is FieldKind.NUMBER:
        return "" if _fits(value, field.cast or "") else _OF_ITS_TYPE
    if field.kind is FieldKind.TENSOR and field.container is None:
        factory = f"write field(default_factory=lambda: torch.tensor({value!r}))"
        return "" if converts else factory if isinstance(value, _WIDTHS) else _NONE_OR_MADE
    if field.kind is FieldKind.PER_ITEM:
        annotation = "" if field.optional else f"{field.name}: {_or_none_in_text(field.type)} = "
        return f"write {annotation}None as the default; the constructor takes a value for each item"
    return _NONE_OR_MADE


_OF_ITS_TYPE = "write a default of the annotated type, or change the annotation"
_NONE_OR_MADE = "remove the default, or write a default_factory"


def _of_plain(field: FieldDecl | ConfigDecl, value: object) -> str:
    """How to fix a default that a builtin type does not have among its values; empty for any other type."""
    names = [member.name for member in members_of(field.type)]
    if value is None:
        known = all(name in _BUILTINS or name == "torch.Tensor" or name.startswith("torch.nn.") for name in names)
        return f"write {field.name}: {_or_none_in_text(field.type)} = None" if known else ""
    classes = [_BUILTINS.get(name) for name in names if name != "None"]
    if None in classes:
        return ""
    fits = any(_fits(value, cls.__name__) if cls in _WIDTHS else isinstance(value, cls) for cls in classes if cls)
    return "" if fits else _OF_ITS_TYPE


def _fits(value: object, kind: str) -> bool:
    """True if a number is of the type that an annotation says, or of a narrower one; 0 and 1 are booleans."""
    if not isinstance(value, _WIDTHS):
        return False
    names = [width.__name__ for width in _WIDTHS]
    return names.index(type(value).__name__) <= names.index(kind) or (
        kind == "bool" and type(value) is int and value in (0, 1)
    )
