"""The view of a Module for the template of its stub: what the declaration's own annotations cannot say."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from ..model import (
    ConfigDecl,
    Declaration,
    DerivedDecl,
    MethodSource,
    ModuleDecl,
    ParameterDecl,
    RegistrationDecl,
    Signature,
    SubmoduleDecl,
    home,
)
from ..model.field_kinds import members_of
from ..model.registered import RegisteredKind
from . import layout, spelling
from .call_order import forward_first
from .held_modules import may_be_module
from .module_names import TensorNames, tensor_names
from .parameters import as_written, of_call, parsed
from .registered_names import RegisteredName, lines, registered_names
from .renaming import Way
from .repeated import OVERLOADS
from .stub_exports import export
from .stub_names import Meanings, StubNames
from .tensorclass_stub import bases, members, remark
from .type_parameters import meanings, type_parameters

_WITHOUT_FORWARD = frozenset(
    "abc.ABC qten_gen.Module typing.Generic typing.Protocol typing_extensions.Protocol".split()
)
"""Bases that bring no `forward` along."""


class Child(NamedTuple):
    """A submodule under its literal name: its type as it is read, as it is written, and without None."""

    name: str
    read: str
    written: str
    type: str
    doc: str

    @property
    def lookup(self) -> str:
        """`get_submodule` for this name."""
        target = ["self", f'target: _t.Literal["{self.name}"]']
        return layout.bracketed("def get_submodule(", target, f") -> {self.type}: ...", 4)


class ModuleStubView(NamedTuple):
    """What the template of a Module stub sets out."""

    name: str
    doc: str
    parameters: str
    """PEP 695 type parameters after the class name."""
    bases: str
    is_final: bool
    """Whether the declaration is `@final`: the class in the stub derives from it all the same."""
    remark: str
    """A comment behind the statement."""
    slots: tuple[str, ...]
    init: str
    members: tuple[str, ...]
    """The user's own methods that the stub repeats."""
    calls: tuple[str, ...]
    children: tuple[Child, ...]
    below: str
    """`get_submodule` for other names; nothing where any name will do."""
    lookups: tuple[str, ...]
    """`get_parameter`, `get_buffer` and `export` by literal names."""
    state: str
    """The type that `state_dict` returns."""
    keys: str
    """The statement of the class of its state dict; nothing where not all keys are known."""
    config: str
    """The TypedDict of the constructor arguments; nothing where there are none."""
    has_config: bool
    """Whether `config` is the method that returns it, rather than a field of that name."""
    values: tuple[str, ...]
    """Its keys with their types."""
    taken: str
    """The TypedDict that `from_config` takes: `config` itself where no argument has a default."""
    arguments: tuple[str, ...]
    """The keys of that other TypedDict; none where there is no other."""
    builtin: dict[str, str]
    """How the text writes each builtin, because a field may have its name."""
    imports: frozenset[str]
    """The names of `imports.IMPORTS` that the class uses."""


def view(
    declaration: ModuleDecl,
    names: StubNames,
    related: Mapping[str, Declaration],
    own: Sequence[MethodSource] = (),
    call: Sequence[MethodSource] = (),
) -> ModuleStubView:
    """The view of one declaration; `related` tells which child modules are declared too, `own` are the methods it repeats.

    `call` is its own `forward` as a method that calls it, where that can be written.
    """
    variables = meanings(declaration, names, related)
    registered = registered_names(declaration, names, related)
    declared = tuple(_children(declaration, names, related, variables))
    children = (*declared, *_registered_children(registered))
    tensors = tensor_names(declaration, related, names.classes).and_(_registered_tensors(registered))
    is_closed = not any(
        may_be_module(field.type, related, names.classes, unknown=True)
        for field in declaration.fields
        if isinstance(field, ConfigDecl)
    )
    config = _config(declaration, names)
    values = tuple(f"{field.argument}: {_config_type(field, names, variables)}" for field in config)
    arguments = tuple(_arguments(config, names, variables))
    qualified = f"{declaration.module}.{declaration.name}"
    keys = _keys(tensors, names.generated(qualified, "State"))
    use = names.aliases.use
    plain_state = f"{use('_OrderedDict')}[{names.builtin('str')}, {use('_torch')}.Tensor]"
    use("_Destination")
    if keys:
        use("_KeyedState")
    if config:
        use("_DeviceLike")
    return ModuleStubView(
        name=declaration.name,
        doc=layout.docstring(declaration.doc or f"`{declaration.name}` with exact types.", 4),
        parameters=type_parameters(declaration, names).pep695,
        bases=bases(declaration, names),
        is_final=names.is_final(declaration),
        remark=remark(declaration, names),
        slots=(
            *_config_slots(declaration, names, variables),
            *_slots(declared, names),
            *_keyed_parameters(declaration, names),
            *_read_only(declaration, names, variables),
            *lines(registered, names),
        ),
        init=_init(declaration, names, variables, related),
        members=members(declaration, own, names),
        calls=tuple(_calls(declaration, names, related, call)),
        children=children,
        below=_below(tensors, children, names, is_closed),
        lookups=(*_lookups(tensors, names, is_closed), *export(declaration, related, names)),
        state=names.generated(qualified, "State") if keys else plain_state,
        keys=keys,
        config=names.generated(qualified, "Config") if config else "",
        has_config=not any(field.name == "config" for field in declaration.fields),
        values=values,
        taken=names.generated(qualified, "Arguments" if arguments else "Config") if config else "",
        arguments=arguments,
        builtin={name: names.builtin(name) for name in ("bool", "str", *(["classmethod"] if config else []))},
        imports=names.aliases.used,
    )


def _children(
    declaration: ModuleDecl, names: StubNames, related: Mapping[str, Declaration], variables: Mapping[str, Meanings]
) -> Iterator[Child]:
    """The children of a declaration, each with the types that reading and assigning it have."""
    for field in declaration.fields:
        if isinstance(field, SubmoduleDecl):
            own = variables.get(field.owner, {})
            read, written = (names.field_type(field, own, way) for way in (Way.GIVEN, Way.TAKEN))
            read = _keyed(field, read, names)
            yield Child(
                field.name, read, written, _present(field, names, own) if field.may_be_none else read, field.doc
            )


def _present(field: SubmoduleDecl, names: StubNames, variables: Meanings) -> str:
    """The type of a child that exists: the annotation without None."""
    members = (member for member in members_of(field.type) if member.name != "None")
    return " | ".join(names.type(member, home(field), variables, Way.GIVEN) for member in members)


def _keyed(field: SubmoduleDecl, read: str, names: StubNames) -> str:
    """The type of children, with their names where the declaration says them."""
    optional = " | None" if field.may_be_none else ""
    present = next((member for member in members_of(field.type) if member.name != "None"), field.type)
    if not isinstance(field.keys, tuple) or not field.keys or present.name != "qten_gen.ModuleDict":
        return read
    inside = read.removesuffix(optional).partition("[")[2].removesuffix("]")
    return f"{names.aliases.use('_KeyedModules')}[{literals(field.keys)}, {inside}]{optional}" if inside else read


def _keyed_parameters(declaration: ModuleDecl, names: StubNames) -> Iterator[str]:
    """Dicts of parameters whose names the declaration says."""
    for field in declaration.fields:
        if isinstance(field, ParameterDecl) and isinstance(field.keys, tuple) and field.keys:
            keyed = f"{names.aliases.use('_KeyedParameters')}[{literals(field.keys)}]"
            doc = f"\n    {layout.docstring(field.doc, 4)}" if field.doc else ""
            yield f"{field.name}: {names.aliases.use('_Slot')}[{keyed}, {names.field_type(field)}] = ...{doc}"


def literals(keys: Sequence[str]) -> str:
    """The type of one of several strings."""
    return f"_t.Literal[{', '.join(map(layout.quoted_string, keys))}]"


def _registered_children(registered: Iterable[RegisteredName]) -> Iterator[Child]:
    for each in registered:
        if each.kind is RegisteredKind.CHILD:
            yield Child(each.name, each.read, each.written, each.type, doc="")


def _registered_tensors(registered: Sequence[RegisteredName]) -> TensorNames:
    """The tensors that a hand-written constructor registers, by name. It may register others, in an order of its own."""
    parameters = tuple(each.name for each in registered if each.kind is RegisteredKind.PARAMETER)
    buffers = tuple(each.name for each in registered if each.kind is RegisteredKind.BUFFER)
    knows_children = not any(each.kind in (RegisteredKind.CHILD, RegisteredKind.BUFFER, None) for each in registered)
    return TensorNames(parameters, buffers, complete=not (parameters or buffers), knows_children=knows_children)


def _slots(children: Iterable[Child], names: StubNames) -> Iterator[str]:
    """Submodules that are read as their generated class."""
    for child in children:
        if child.read != child.written:
            doc = f"\n    {layout.docstring(child.doc, 4)}" if child.doc else ""
            yield f"{child.name}: {names.aliases.use('_Slot')}[{child.read}, {child.written}] = ...{doc}"


def _read_only(declaration: ModuleDecl, names: StubNames, variables: Mapping[str, Meanings]) -> Iterator[str]:
    """Derived values, which nobody assigns. Those annotated `Final` are read-only in the declaration already."""
    for field in declaration.fields:
        if isinstance(field, DerivedDecl) and field.type.name != "typing.Final" and not declaration.custom_init:
            type = names.field_type(field, variables.get(field.owner, {}))
            doc = f"\n    {layout.docstring(field.doc, 4)}" if field.doc else ""
            yield f"{field.name}: {names.aliases.use('_Slot')}[{type}, {names.aliases.use('_t')}.Never] = ...{doc}"


def _config_slots(declaration: ModuleDecl, names: StubNames, variables: Mapping[str, Meanings]) -> Iterator[str]:
    """Constructor arguments that hold declared classes."""
    for field in declaration.fields:
        if isinstance(field, ConfigDecl):
            own = variables.get(field.owner, {})
            read, written = (names.field_type(field, own, way) for way in (Way.GIVEN, Way.TAKEN))
            if read != written:
                doc = f"\n    {layout.docstring(field.doc, 4)}" if field.doc else ""
                yield f"{field.name}: {names.aliases.use('_Slot')}[{read}, {written}] = ...{doc}"


def _below(tensors: TensorNames, children: Sequence[Child], names: StubNames, is_closed: bool) -> str:
    """`get_submodule` for what is further down and the module itself, or for any name where not all are known."""
    if not children and not (tensors.knows_children and is_closed):
        return ""
    result = f"{names.aliases.use('_torch')}.nn.Module: ..."
    if not tensors.knows_children:
        return f"def get_submodule(self, target: {names.builtin('str')}) -> {result}"
    direct = {child.name for child in children}
    quoted = [layout.quoted_string(name) for name in ("", *tensors.children) if name not in direct]
    return layout.bracketed("def get_submodule(self, target: _t.Literal[", quoted, f"]) -> {result}", 4)


def _lookups(tensors: TensorNames, names: StubNames, is_closed: bool) -> Iterator[str]:
    """Parameters and buffers by literal names; by any name too where not all are known, and by none where there are none.

    `is_closed` says that no argument can be a module.
    """
    for method, found, type, complete in (
        ("get_parameter", tensors.parameters, "_torch.nn.Parameter", tensors.complete),
        ("get_buffer", tensors.buffers, "_torch.Tensor", tensors.complete or tensors.knows_children),
    ):
        if found:
            quoted = [layout.quoted_string(name) for name in found]
            literal = layout.bracketed(f"def {method}(self, target: _t.Literal[", quoted, f"]) -> {type}: ...", 4)
            other = f"def {method}(self, target: {names.builtin('str')}) -> {type}: ..."
            yield literal if complete else f"@_t.overload\n    {literal}\n    @_t.overload\n    {other}"
        elif complete and is_closed:
            yield f"def {method}(self, target: _t.Never) -> {type}: ..."


def _keys(tensors: TensorNames, state: str) -> str:
    if not tensors.complete or not tensors.state:
        return ""
    quoted = [layout.quoted_string(name) for name in tensors.state]
    return layout.bracketed(f"class {state}(_KeyedState[_t.Literal[", quoted, "], _torch.Tensor]):", 0)


def _config(declaration: ModuleDecl, names: StubNames) -> list[ConfigDecl]:
    """The constructor arguments that `config` gives. A generic class has none: its variables mean nothing out there."""
    fields = {field.name for field in declaration.fields}
    taken = (declaration.bound - fields).intersection(("config", "from_config"))
    if declaration.custom_init or taken or "from_config" in fields or type_parameters(declaration, names).variables:
        return []
    return [field for field in declaration.fields if isinstance(field, ConfigDecl)]


def _arguments(config: Sequence[ConfigDecl], names: StubNames, variables: Mapping[str, Meanings]) -> Iterator[str]:
    """What `from_config` takes, where that is not what `config` gives: arguments with defaults can be left out.

    A key that is required is one that can be left out only where it is read-only: so what `config` gives can be passed on.
    """
    if all(field.default is None for field in config):
        return
    for field in config:
        taken = f"{names.aliases.use('_ReadOnly')}[{_config_type(field, names, variables, Way.TAKEN)}]"
        yield f"{field.argument}: {taken if field.default is None else f'_t.NotRequired[{taken}]'}"


def _config_type(
    field: ConfigDecl, names: StubNames, variables: Mapping[str, Meanings], way: Way = Way.DECLARED
) -> str:
    return names.field_type(field, variables.get(field.owner, {}), way)


def _init(
    declaration: ModuleDecl, names: StubNames, variables: Mapping[str, Meanings], related: Mapping[str, Declaration]
) -> str:
    """The constructor: the hand-written one of the class or of a base, or the generated one."""
    if declaration.custom_init:
        written = _written_init(declaration, related)
        if written is not None:
            return _define("__init__", written[1], names, written[0])
        # That of another library's class: a checker would derive one from the fields, of which there are none.
        any_type = f"{names.aliases.use('_t')}.Any"
        return (
            ""
            if declaration.keeps_init
            else f"def __init__(self, *args: {any_type}, **kwargs: {any_type}) -> None: ..."
        )
    config = [field for field in declaration.fields if isinstance(field, ConfigDecl)]
    positional = [_parameter(field, names, variables) for field in config if not field.kw_only]
    keyword = [_parameter(field, names, variables) for field in config if field.kw_only]
    use = names.aliases.use
    own_keywords = [f"device: {use('_DeviceLike')} = None", f"dtype: {use('_torch')}.dtype | None = None"]
    return layout.bracketed("def __init__(", ["self", *positional, "*", *keyword, *own_keywords], ") -> None: ...", 4)


def _written_init(declaration: ModuleDecl, related: Mapping[str, Declaration]) -> tuple[str, Signature] | None:
    """The hand-written constructor of the class or its nearest ancestor, and the module that it stands in."""
    own = next((method.signature for method in declaration.methods if method.name == "__init__"), None)
    if own is not None:
        return declaration.module, own
    parents = (related.get(base.name) for base in declaration.bases)
    return next(
        (f for parent in parents if isinstance(parent, ModuleDecl) and (f := _written_init(parent, related))), None
    )


def _parameter(field: ConfigDecl, names: StubNames, variables: Mapping[str, Meanings]) -> str:
    return f"{field.argument}: {_config_type(field, names, variables, Way.TAKEN)}{spelling.stub_default(field)}"


def _calls(
    declaration: ModuleDecl, names: StubNames, related: Mapping[str, Declaration], call: Sequence[MethodSource]
) -> Iterator[str]:
    """`__call__` for each registered type, and for all overloads of forward. Without handlers it is forward alone."""
    if not declaration.handlers:
        yield from _plain_call(declaration, names, related, call)
        return
    forward = _forward(declaration, related)
    calls = [_define("__call__", signature, names, module) for module, signature in forward]
    handlers = [handler_call(handler, names) for handler in declaration.handlers]
    taking = [(names.source(module), signature) for module, signature in forward]
    first = forward_first(taking, declaration.handlers, related)
    for text in calls + handlers if first else handlers + calls:
        yield f"@_t.overload\n    {text}" if len(calls + handlers) > 1 else text


def _plain_call(
    declaration: ModuleDecl, names: StubNames, related: Mapping[str, Declaration], call: Sequence[MethodSource]
) -> Iterator[str]:
    """The call of a class that has no handlers, where it is not its parent's.

    It is a method wherever `forward` can be written out. pyright takes any other `__call__` for one that takes and gives anything
    where a module is passed as a function, to torch.compile for instance.
    """
    if _calls_itself(declaration, related):
        return
    mixes = any(not base.declared and base.name not in _WITHOUT_FORWARD for base in declaration.bases)
    if call:
        yield from members(declaration, call, names)
    elif "forward" in declaration.bound or mixes or not any(base.declared for base in declaration.bases):
        yield f"__call__: {names.aliases.use('_ExactCall')} = ..."


def _calls_itself(declaration: ModuleDecl, related: Mapping[str, Declaration]) -> bool:
    """Whether the class or one of its ancestors defines `__call__`."""
    if "__call__" in declaration.bound:
        return True
    parents = (related.get(base.name) for base in declaration.bases)
    return any(_calls_itself(parent, related) for parent in parents if isinstance(parent, ModuleDecl))


def _forward(declaration: ModuleDecl, related: Mapping[str, Declaration]) -> tuple[tuple[str, Signature], ...]:
    """The forward that the class has, inherited or its own, each of its overloads with the module that it stands in."""
    own = [method for method in declaration.methods if method.name == "forward"]
    overloads = [method for method in own if any(name in OVERLOADS for name in method.decorators)]
    if own:
        return tuple((declaration.module, method.signature) for method in overloads or own[-1:])
    parents = (related.get(base.name) for base in declaration.bases)
    return next((f for parent in parents if isinstance(parent, ModuleDecl) and (f := _forward(parent, related))), ())


def _define(name: str, signature: Signature, names: StubNames, module: str = "") -> str:
    parameters = as_written(parsed(signature.parameters), names, module)
    result = "None" if name == "__init__" and not signature.result else _result(signature, names, module)
    return layout.bracketed(f"def {name}(", ["self", *parameters], f") -> {result}: ...", 4)


def handler_call(handler: RegistrationDecl, names: StubNames, method: str = "__call__") -> str:
    """A handler as a call of its module, or as a method that calls it."""
    signature, module = handler.signature, handler.module
    parameters = as_written(of_call(parsed(signature.parameters), spelling.static_type(handler.type)), names, module)
    return layout.bracketed(
        f"def {method}(", ["self", *parameters], f") -> {_result(signature, names, module)}: ...", 4
    )


def _result(signature: Signature, names: StubNames, module: str) -> str:
    """What a call gives: a coroutine where the function is async."""
    result = names.text(signature.result, module, way=Way.GIVEN) if signature.result else names.builtin("object")
    return f"_t.Coroutine[_t.Any, _t.Any, {result}]" if signature.is_async and not signature.yields else result
