"""What the docstrings of a generated Module say of its fields."""

from __future__ import annotations

from ..model import (
    BufferDecl,
    ConfigDecl,
    DerivedDecl,
    ModuleDecl,
    ModuleField,
    ParameterDecl,
    SubmoduleDecl,
    VirtualDecl,
)
from ..model.dimension_text import in_words
from . import spelling
from .computed import condition_in_words


def class_doc(declaration: ModuleDecl) -> str:
    """The docstring of the generated class: every field, under the heading of its kind."""
    what = "Properties" if declaration.custom_init else "Construction and properties"
    lines = [f"{what} of `{declaration.name}`."]
    groups: dict[str, list[str]] = {}
    for field in declaration.fields:
        group, line = _documented(field)
        named = "Attributes" if group == "Config" and declaration.custom_init else group
        groups.setdefault(named, []).append(f"    {line}")
    for group in ("Config", "Attributes", "Derived values", "Parameters", "Buffers", "Submodules", "Virtual tensors"):
        if group in groups:
            lines += [*([""] if len(lines) == 1 else []), f"{group}:", *groups[group]]
    return "\n".join(lines)


def init_doc(declaration: ModuleDecl) -> str:
    """The docstring of the generated constructor: every argument with what the declaration says of it."""
    config = [field for field in declaration.fields if isinstance(field, ConfigDecl)]
    arguments = [f"{field.argument}: {_indented(field.doc) or spelling.static_type(field.type)}" for field in config]
    arguments += [
        "device: Where its tensors are made; None means the default device.",
        "dtype: The dtype of its floating point tensors that declare none; None means the default dtype.",
    ]
    made = "Construct the module, and initialise its parameters and buffers."
    return "\n".join([made, "", "Args:", *(f"    {line}" for line in arguments)])


def _indented(doc: str) -> str:
    """A docstring below the name of an argument."""
    return doc.replace("\n", "\n        ").replace("\n        \n", "\n\n")


def _what(field: ParameterDecl | BufferDecl) -> str:
    """What the docstring of the class says of a parameter or buffer: its shape, or what computes it."""
    if field.value is not None:
        return f"computed by {computed_by(field)}"
    shape = f"`{spelling.shape_in_words(field)}`"
    if isinstance(field, BufferDecl) or not field.is_several:
        return shape
    each = in_words(field.repeat) if field.repeat is not None else f"each of {field.keys}"
    return f"{shape} for {each}" if field.repeat is None else f"{each} of {shape}"


def _condition(field: ParameterDecl | BufferDecl) -> str:
    return "" if field.when is None else f", if {condition_in_words(field.when)}"


def _documented(field: ModuleField) -> tuple[str, str]:
    """The heading that a field stands under in the docstring of the class, and its line there."""
    match field:
        case ConfigDecl(alias=alias):
            given = "" if alias is None else f", the argument `{alias}`"
            return "Config", f"{field.name}: {spelling.static_type(field.type)}{given}"
        case DerivedDecl():
            return "Derived values", f"{field.name}: `{in_words(field.value)}`"
        case ParameterDecl():
            what = _what(field) if field.tie is None else f"tied to `{field.tie}`"
            return "Parameters", f"{field.name}: {what}{_condition(field)}"
        case BufferDecl(persistent=persistent):
            kept = "" if persistent else ", not in the state dict"
            return "Buffers", f"{field.name}: {_what(field)}{kept}{_condition(field)}"
        case SubmoduleDecl():
            return "Submodules", f"{field.name}: {spelling.static_type(field.type)}"
        case VirtualDecl(cached=cached):
            return "Virtual tensors", f"{field.name}: {'cached' if cached else 'computed at each read'}"


def computed_by(field: ParameterDecl | BufferDecl) -> str:
    """The function that computes a value, as the declaration names it."""
    function = field.value
    if function is None or function.text.startswith(("lambda", "<")):
        return "a function"
    return f"`{function.method or function.text}`"
