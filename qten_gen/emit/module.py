"""The view of a Module for the template of its generated class."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from ..common.naming import REFERENCE, own_global
from ..model import (
    Argument,
    BufferDecl,
    ConfigDecl,
    DerivedDecl,
    ModuleDecl,
    ModuleField,
    ParameterDecl,
    SpecifierCall,
    SubmoduleDecl,
    Value,
    VirtualDecl,
    declares,
    fingerprint,
    language,
)
from ..model.dimensions import in_words
from . import layout, spelling
from .constructor import (
    Siblings,
    computing_function,
    is_computed,
    is_several,
    registration_of_child,
    registration_of_tensor,
    statements,
)
from .names import Builtins

_MADE = "Construct the module on `device`, its floating point tensors with `dtype`; None means torch's default."


def init_doc(declaration: ModuleDecl) -> str:
    """The docstring of the generated constructor, with what the declaration says of its arguments."""
    said = [
        f"    {field.argument}: {_indented(field.doc)}"
        for field in declaration.fields
        if isinstance(field, ConfigDecl) and field.doc
    ]
    return "\n".join([_MADE, "", "Args:", *said]) if said else _MADE


def _indented(doc: str) -> str:
    """A docstring below the name of an argument."""
    return doc.replace("\n", "\n        ").replace("\n        \n", "\n\n")  # blank lines have no indentation


def computed_by(field: ParameterDecl | BufferDecl) -> str:
    """The function that computes a value, as the declaration names it."""
    function = field.value
    if function is None or function.text.startswith(("lambda", "<")):
        return "a function"
    return f"`{function.method or function.text}`"


_IN_CONSTRUCTORS = ("self", "device", "dtype", *language.OF_CHILD, "_name", "_each", "_unfilled", "_")
"""The variables of a generated constructor beside its arguments."""


class VirtualView(NamedTuple):
    """A virtual tensor of the class itself; `read` is the expression that computes it."""

    name: str
    type: str
    doc: str
    read: str


class ModuleView(NamedTuple):
    """The input of the template of a Module."""

    declaration: ModuleDecl
    attributes: tuple[str, ...]
    init_doc: str
    """The docstring of the constructor; this and what belongs to it is empty where the class writes its own."""
    signature: str
    """The `def` line of the constructor."""
    config: list[ConfigDecl]
    """The fields that are its arguments."""
    defaults: tuple[ConfigDecl, ...]
    """The arguments whose default is looked up."""
    registrations: tuple[str, ...]
    guarded: str
    """The statement that marks the tensors which user code has to fill; empty without any."""
    resets: bool
    """True if the constructor calls `reset_parameters`. Without a field there is nothing that it could fill. The method may be
    that of a subclass with an `__init__` of its own, which has registered nothing yet."""
    computes: bool
    """True if the constructor computes values, which `reset_parameters` leaves alone then."""
    initializers: tuple[str, ...]
    registered: tuple[str, ...]
    """The assignments of the properties that read parameters, buffers and submodules."""
    virtuals: tuple[VirtualView, ...]
    builtin: dict[str, str]
    """How the text writes each builtin, because a field may have its name."""


def view(declaration: ModuleDecl, siblings: Siblings, variables: Collection[str] = frozenset()) -> ModuleView:
    """The view of one declaration.

    `siblings` are the classes of its file that its constructor calls by name, `variables` the type variables of the file.
    """
    config = [field for field in declaration.fields if isinstance(field, ConfigDecl)]
    own = [field for field in declaration.fields if declares(declaration, field)]
    builtins = Builtins(_names(declaration))
    taken = {*_IN_CONSTRUCTORS, *_names(declaration)}
    # A sibling whose name is an argument or a variable of the constructor is called through its record.
    called = {qualified: name for qualified, name in siblings.items() if name not in taken}
    constructs = not declaration.custom_init
    # An inherited method, which is called first, fills the inherited fields.
    reset = own if declaration.inherited_reset else declaration.fields
    return ModuleView(
        declaration=declaration,
        attributes=_attributes(declaration, called),
        init_doc=layout.docstring(init_doc(declaration), 8) if constructs else "",
        signature=_signature(config, declaration.module, builtins, variables) if constructs else "",
        config=config,
        defaults=tuple(field for field in config if spelling.default_is_looked_up(field)),
        registrations=_registrations(declaration, called, builtins) if constructs else (),
        guarded=_guarded(declaration) if constructs else "",
        resets=any(not isinstance(field, VirtualDecl) for field in declaration.fields),
        computes=constructs and any(map(is_computed, declaration.fields)),
        initializers=tuple(_initializers(declaration, reset)) if constructs else (),
        registered=tuple(_registered(own)),
        virtuals=tuple(_virtual(field, declaration, builtins) for field in own if isinstance(field, VirtualDecl)),
        builtin=builtins.names(*(["property"] if any(isinstance(field, VirtualDecl) for field in own) else [])),
    )


def own_name(declaration: ModuleDecl) -> str:
    """The class itself in its generated code, where an argument of the constructor may have its name."""
    is_taken = declaration.name in _IN_CONSTRUCTORS or declaration.name in _names(declaration)
    return own_global(declaration.name) if is_taken else declaration.name


def _names(declaration: ModuleDecl) -> frozenset[str]:
    """The names that mean something else than a builtin or a global in generated code: fields, and arguments of other names."""
    arguments = (field.argument for field in declaration.fields if isinstance(field, ConfigDecl))
    return frozenset((*(field.name for field in declaration.fields), *arguments))


def _signature(config: list[ConfigDecl], module: str, builtins: Builtins, variables: Collection[str]) -> str:
    """The `def` line of `__init__`. A generated class is not generic, so it says `Any` for the type variables of the file."""

    def parameter(field: ConfigDecl) -> str:
        return spelling.parameter(field, spelling.python_type(field, module, builtins, variables))

    parameters = (
        "self",
        *(parameter(field) for field in config if not field.kw_only),
        "*",
        *(parameter(field) for field in config if field.kw_only),
        "device: _rt.DeviceLike = None",
        "dtype: _torch.dtype | None = None",
    )
    return layout.bracketed("def __init__(", parameters, ") -> None:", 4)


def _registrations(declaration: ModuleDecl, siblings: Siblings, builtins: Builtins) -> tuple[str, ...]:
    """The statements of `__init__` that compute, set the config, and register tensors and children in the order of the fields."""
    owner = own_name(declaration)
    given = [f"{f.name}={f.name}" for f in declaration.fields if isinstance(f, ConfigDecl | DerivedDecl)]
    config = [layout.bracketed("_rt.set_attributes(", ["self", *given], ")", 8)] if given else []
    lines = [
        registration_of_child(field, owner, siblings, builtins)
        if isinstance(field, SubmoduleDecl)
        else registration_of_tensor(field, owner, builtins)
        for field in declaration.fields
        if not isinstance(field, ConfigDecl | DerivedDecl | VirtualDecl)
    ]
    # An empty buffer moves with the module, and so tells virtual tensors their dtype and device.
    if dtype_device_source(declaration) == REFERENCE:
        lines.append(f'_rt.new_buffer(self, "{REFERENCE}", (0,), device, dtype, persistent=False)')
    return (*statements(declaration, builtins), *config, *lines)


def _guarded(declaration: ModuleDecl) -> str:
    """The statement that marks what initialisers outside torch, or a `reset_parameters` of the user's, have to fill."""
    names = [
        f'"{field.name}"'
        for field in declaration.fields
        if isinstance(field, ParameterDecl | BufferDecl)
        and not _is_tied(field)
        and not is_computed(field)
        and (declaration.custom_reset or not spelling.is_of_torch(field.initializer))
    ]
    return layout.bracketed("_unfilled = _rt.mark_unfilled(", ["self", *names], ")", 8) if names else ""


def _initializers(declaration: ModuleDecl, fields: Sequence[ModuleField]) -> Iterator[str]:
    """The statements of `reset_parameters`, under the `no_grad` that the template writes where there are any."""
    for field in fields:
        if not isinstance(field, ParameterDecl | BufferDecl):
            continue
        if field.value is not None:
            yield f'_features.recompute(self, "{field.name}", {computing_function(field, own_name(declaration))})'
        if field.initializer is not None:
            filled = "_each" if is_several(field) else f"self.{field.name}"
            fill = spelling.filled(
                field.initializer,
                own_name(declaration),
                f"{declaration.name}.{field.name}",
                field.name,
                filled,
            )
            if isinstance(field, ParameterDecl) and is_several(field):
                each = f"self.{field.name}" if field.repeat is not None else f"self.{field.name}.values()"
                fill = f"for _each in {each}:\n                {fill}"
            if field.when is not None:
                inner = fill.replace("\n", "\n    ")  # the lines of a loop go one level deeper
                fill = f"if self.{field.name} is not None:\n                {inner}"
            yield fill


def _registered(own: list[ModuleField]) -> Iterator[str]:
    """The properties of the fields that were declared in this class; the docstring of each states the shape."""
    for field in own:
        match field:
            case ParameterDecl() if is_several(field):
                yield _property("submodule", field, f"Parameters of shape `{spelling.shape_in_words(field)}`")
            case ParameterDecl(value=Value()):
                yield _property("parameter", field, f"Parameter computed by {computed_by(field)}")
            case ParameterDecl():
                plain = f"Parameter of shape `{spelling.shape_in_words(field)}`"
                grad = plain if field.requires_grad else f"{plain}, without gradient"
                yield _property("parameter", field, grad if field.tie is None else f"Parameter tied to `{field.tie}`")
            case BufferDecl():
                is_computed = field.value is not None
                what = (
                    f"computed by {computed_by(field)}"
                    if is_computed
                    else f"of shape `{spelling.shape_in_words(field)}`"
                )
                yield _property(
                    "buffer", field, f"Buffer {what}{'' if field.persistent else ', not in the state dict'}"
                )
            case SubmoduleDecl():
                yield _property("submodule", field, _children_in_words(field))


def _property(kind: str, field: ParameterDecl | BufferDecl | SubmoduleDecl, words: str) -> str:
    """The assignment of a property, which documents its field in the field's own words and in ours."""
    exists = "those with" if isinstance(field, SubmoduleDecl) and field.is_filtered else "None unless"
    said = f"{words}." if field.when is None else f"{words}; {exists} `{in_words(field.when)}`."
    doc = layout.doc_argument(f"{field.doc}\n\n{said}" if field.doc else said, 8)
    return layout.bracketed(f"{field.name} = _rt.{kind}(", [f'"{field.name}"', doc], ")", 4)


def _children_in_words(field: SubmoduleDecl) -> str:
    type = f"`{spelling.static_type(field.type)}`"
    if field.repeat is not None:
        return f"{type} of `{in_words(field.repeat)}`"
    if isinstance(field.keys, str):
        return f"{type} with one for each name in `{field.keys}`"
    return type if field.keys is None else f"{type} of {', '.join(f'`{key}`' for key in field.keys)}"


def _virtual(field: VirtualDecl, declaration: ModuleDecl, builtins: Builtins) -> VirtualView:
    """The property that computes a virtual tensor; its docstring says whose dtype and device it has, and when it is kept."""
    source = dtype_device_source(declaration)
    of = f"of `{source}`" if source and source != REFERENCE else "of the module"
    cast = "\nCast to the dtype where it is floating point." if field.cast else ""
    kept = "\nKept while nothing that it is derived from can have changed." if field.cached else ""
    how = f"Computed when it is read, for the dtype and on the device {of}.{cast}{kept}"
    read = "cached_virtual" if field.cached else "virtual"
    return VirtualView(
        name=field.name,
        type=spelling.python_type(field, declaration.module, builtins) or "_torch.Tensor",
        doc=layout.docstring(f"{field.doc}\n\n{how}" if field.doc else how, 8),
        read=f'_features.{read}(self, {own_name(declaration)}, "{field.name}")',
    )


def dtype_device_source(declaration: ModuleDecl) -> str | None:
    """The field whose dtype and device virtual tensors have: the first parameter, else buffer, whose dtype the module decides."""
    fields = declaration.fields
    if declaration.custom_init or not any(isinstance(field, VirtualDecl) for field in fields):
        return None
    for kind in (ParameterDecl, BufferDecl):
        for field in fields:
            is_usual = isinstance(field, kind) and field.dtype is None and field.when is None and not field.keep_dtype
            if is_usual and not (_is_tied(field) or is_computed(field) or is_several(field)):
                return field.name
    return REFERENCE


def _is_tied(field: ModuleField) -> bool:
    return isinstance(field, ParameterDecl) and field.tie is not None


def _attributes(declaration: ModuleDecl, siblings: Siblings) -> tuple[str, ...]:
    """The attributes that the runtime reads from the generated class, one assignment each.

    `_dtype_device_source` may be a parent's: its virtual tensors are there too.
    """
    source = dtype_device_source(declaration)
    inlined = list(_inlined_values(declaration, siblings))
    return (
        f'_fingerprint = "{fingerprint(declaration)}"',
        *([layout.mapping(inlined, 4, "_inlined_values = ")] if inlined else []),
        *([layout.names(_own_config(declaration), 4, "_config = ")] if declaration.custom_init else []),
        *((f'_dtype_device_source = "{source}"',) if source else ()),
    )


def _own_config(declaration: ModuleDecl) -> list[str]:
    """The configuration of a class with its own `__init__`, which annotates all that it assigns: fields of builtin types."""
    config = (field for field in declaration.fields if isinstance(field, ConfigDecl))
    return [field.name for field in config if field.type.name.startswith("builtins.")]


def _inlined_values(declaration: ModuleDecl, siblings: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The values that the generated text spells out beside defaults, for the check when the class statement runs.

    `siblings` are the classes that it calls by name, by their qualified names.
    """
    if declaration.custom_init:
        return
    for field in declaration.fields:
        match field:
            case ParameterDecl(initializer=initializer, dtype=dtype) | BufferDecl(initializer=initializer, dtype=dtype):
                yield from _spelled(f"{field.name}.initializer", initializer)
                if initializer is not None and initializer.partial is not None:
                    yield f"{field.name}.initializer", initializer.partial.text
                yield from _spelled(f"{field.name}.dtype", dtype)
            case SubmoduleDecl(cls=cls, arguments=arguments):
                yield from _assumed_arguments(cls, arguments, _path(field), siblings)
            case ConfigDecl() | VirtualDecl() | DerivedDecl():
                pass


def _path(field: SubmoduleDecl) -> str:
    """The path to the record of a child, inside the records of the lists that hold it."""
    path, inner = field.name, field.inner
    while inner is not None:
        path, inner = f"{path}.cls", inner.inner
    return path


def _assumed_arguments(
    cls: Value, arguments: Sequence[Argument], key: str, siblings: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    """The class and the arguments of a child that the text spells out."""
    if cls.name in siblings and cls.choice is None:
        yield f"{key}.cls", siblings[cls.name]
    elif cls.name != language.CHAIN:
        yield from _spelled(f"{key}.cls", cls)
    index = 0
    for argument in arguments:
        inner = f"{key}.kwargs.{argument.keyword}" if argument.keyword else f"{key}.args.{index}"
        index += argument.keyword is None
        match argument.value:
            case Value() as given:
                yield from _spelled(inner, given)
            case SpecifierCall(arguments=(Argument(value=Value() as child), *own)):
                yield from _assumed_arguments(child, own, inner, siblings)


def _spelled(key: str, value: Value | None) -> Iterator[tuple[str, str]]:
    if value is not None and value.written is not None:
        yield key, value.written
