"""The view of a Module for the template of its stub: what the declaration's own annotations cannot say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ..model import ConfigDecl, Declaration, ModuleDecl, RegistrationDecl, Signature, SubmoduleDecl, home
from . import layout
from .stub_names import Meanings, StubNames
from .tensorclass_stub import bases
from .type_parameters import arguments, bracketed, meanings, type_parameters


@dataclass(frozen=True, slots=True)
class Child:
    """A submodule under its literal name."""

    name: str
    type: str


@dataclass(frozen=True, slots=True)
class ModuleStubView:
    """What the template of a Module stub sets out."""

    name: str
    doc: str
    parameters: str
    """PEP 695 type parameters after the class name."""
    bases: str
    slots: tuple[str, ...]
    init: str
    calls: tuple[str, ...]
    children: tuple[Child, ...]


def view(declaration: ModuleDecl, names: StubNames, related: Mapping[str, Declaration]) -> ModuleStubView:
    """The view of one declaration; `related` tells which child modules are declared too."""
    variables = meanings(declaration, names, related)
    children = tuple(_children(declaration, names, related, variables))
    return ModuleStubView(
        name=declaration.name,
        doc=layout.docstring(declaration.doc or f"`{declaration.name}` with exact types.", 4),
        parameters=type_parameters(declaration, names).pep695,
        bases=bases(declaration, names),
        slots=tuple(_slots(declaration, children, names, variables)),
        init=_init(declaration, names, variables),
        calls=tuple(_calls(declaration, names, related)),
        children=children,
    )


def _children(
    declaration: ModuleDecl, names: StubNames, related: Mapping[str, Declaration], variables: Mapping[str, Meanings]
) -> Iterator[Child]:
    for field in declaration.fields:
        if isinstance(field, SubmoduleDecl):
            own = variables.get(field.owner, {})
            written = names.field_type(field, own)
            if isinstance(related.get(field.type.name), ModuleDecl):
                given = arguments(field.type.text, names, home(field), own)
                written = f"{names.generated(field.type.name)}{bracketed(given)}"
            yield Child(field.name, written)


def _slots(
    declaration: ModuleDecl, children: tuple[Child, ...], names: StubNames, variables: Mapping[str, Meanings]
) -> Iterator[str]:
    """Submodules that are read as their generated class."""
    submodules = [field for field in declaration.fields if isinstance(field, SubmoduleDecl)]
    written = {field.name: names.field_type(field, variables.get(field.owner, {})) for field in submodules}
    for child in children:
        if child.type != written[child.name]:
            yield f"{child.name}: _Slot[{child.type}, {written[child.name]}] = ..."


def _init(declaration: ModuleDecl, names: StubNames, variables: Mapping[str, Meanings]) -> str:
    if declaration.custom_init:
        own = next((method.signature for method in declaration.methods if method.name == "__init__"), None)
        return "" if own is None else _define("__init__", own, names)
    config = [field for field in declaration.fields if isinstance(field, ConfigDecl)]
    positional = [_parameter(field, names, variables) for field in config if not field.kw_only]
    keyword = [_parameter(field, names, variables) for field in config if field.kw_only]
    own_keywords = ["device: _DeviceLike = ...", "dtype: _torch.dtype | None = ..."]
    return layout.bracketed("def __init__(", ["self", *positional, "*", *keyword, *own_keywords], ") -> None: ...", 4)


def _parameter(field: ConfigDecl, names: StubNames, variables: Mapping[str, Meanings]) -> str:
    type = names.field_type(field, variables.get(field.owner, {}))
    return f"{field.name}: {type}{'' if field.default is None else ' = ...'}"


def _calls(declaration: ModuleDecl, names: StubNames, related: Mapping[str, Declaration]) -> Iterator[str]:
    """`__call__` for forward and for each registered type. Without handlers the declaration says it all."""
    if not declaration.handlers:
        return
    forward = _forward(declaration, related)
    if forward is not None:
        module, signature = forward
        yield _define("__call__", signature, names, module)
    for handler in declaration.handlers:
        yield _handler_call(handler, names)


def _forward(declaration: ModuleDecl, related: Mapping[str, Declaration]) -> tuple[str, Signature] | None:
    """The forward that the class has, inherited or its own, and the module that it stands in."""
    if declaration.forward is not None:
        return declaration.module, declaration.forward
    parents = (related.get(base.name) for base in declaration.bases)
    return next((f for parent in parents if isinstance(parent, ModuleDecl) and (f := _forward(parent, related))), None)


def _define(name: str, signature: Signature, names: StubNames, module: str = "") -> str:
    parameters = names.rewritten(signature.parameters, signature.names, module)
    result = names.rewritten(signature.result, signature.names, module) or ("None" if name == "__init__" else "object")
    return f"def {name}(self{', ' if parameters else ''}{parameters}) -> {result}: ..."


def _handler_call(handler: RegistrationDecl, names: StubNames) -> str:
    """A handler as a call of its module: the object comes first, by position; the rest is passed on by keyword."""
    _, obj, *rest = (text for text in layout.split(handler.signature.parameters) if text != "/")
    rewritten = [names.rewritten(text, handler.signature.names, handler.module) for text in rest]
    keywords = [text for text in rewritten if not text.startswith("*")]
    others = [text for text in rewritten if text.startswith("**")]
    registered = names.type(handler.type, handler.module)
    name = obj.partition(":")[0].strip()
    parameters = ["self", f"{name}: {registered}", "/", *(["*", *keywords] if keywords else []), *others]
    result = names.rewritten(handler.signature.result, handler.signature.names, handler.module) or "object"
    return layout.bracketed("def __call__(", parameters, f") -> {result}: ...", 4)
