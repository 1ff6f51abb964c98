"""Generated stubs: the classes of the source, and class statements where there is more to say than a declaration does."""

from __future__ import annotations

import ast
from collections.abc import Container, Iterable, Iterator, Mapping
from typing import NamedTuple

from ..model import (
    Declaration,
    FieldDecl,
    FieldKind,
    FileDecl,
    FunctionalDecl,
    MethodSource,
    ModuleDecl,
    RegistrationDecl,
    Signature,
    SourceFile,
    TensorClassDecl,
    declares,
    home,
)
from ..model.dimensions import annotation_text
from ..model.field_kinds import members_of
from ..model.source import Registered, RegisteredKind
from . import layout, spelling
from .file import declaration_import, reexported, reexports, source_name
from .names import statements
from .stub_functions import OVERLOADS, as_written, of_call, own_functions, own_methods, parsed
from .stub_names import StubNames, arguments, needs_type, qualified, registered_names, type_parameters


class ClassStub(NamedTuple):
    """A class statement in a stub."""

    head: str
    doc: str
    lines: tuple[str, ...]
    """The members, each with the indentation of all its lines but the first."""


def class_stub(declaration: Declaration, names: StubNames, related: Mapping[str, Declaration]) -> ClassStub:
    """The statement of one class. Its constructor is the one that a checker makes for the declaration, or finds in it."""
    parameters = type_parameters(declaration, names)
    parents = [
        f"{names.generated(base.name)}{arguments(base.text, names, declaration.module)}"
        for base in declaration.bases
        if base.name in names.exact
    ]
    frozen = ["frozen=True"] if isinstance(declaration, TensorClassDecl) and declaration.frozen_by_keyword else []
    bases = ", ".join([f"_decl.{declaration.name}{parameters.arguments}", *parents, *frozen, "init=False"])
    # pyright knows the keywords of a class statement from `__init_subclass__`, and TensorClass has no `init`.
    is_refused = isinstance(declaration, TensorClassDecl) or names.is_final(declaration)
    remark = "  # pyright: ignore[reportGeneralTypeIssues]" if is_refused else ""
    lines = [*_held(declaration, names)]
    if isinstance(declaration, TensorClassDecl):
        # A field that stands here is no keyword-only one to a checker.
        positional = [field.name for field in declaration.fields if not field.kw_only]
        lines += [layout.names(positional, 4, "__match_args__ = ")] if lines else []
    else:
        lines += [*_registered(declaration, names), *own_methods(declaration, names)]
        lines += _calls(declaration, names, related)
    return ClassStub(
        head=f"class {declaration.name}{parameters.pep695}({bases}):{remark}",
        doc=layout.docstring(declaration.doc or f"`{declaration.name}` with exact types.", 4),
        lines=tuple(lines),
    )


def _held(declaration: Declaration, names: StubNames) -> Iterator[str]:
    """Fields that hold an object with a class statement of its own, and numbers that become tensors.

    Each has a value: checkers take it for a field of a dataclass, where one without may not hide one with a default.
    """
    for field in declaration.fields:
        if not declares(declaration, field):
            continue
        if isinstance(field, FieldDecl) and field.kind is FieldKind.NUMBER:
            held = _number(field, names)
        elif any(name in names.exact for name in field.type.mentioned):
            held = names.type(field.type, declaration.module, given=True)
        else:
            continue
        doc = f"\n    {layout.docstring(field.doc, 4)}" if field.doc else ""
        yield f"{field.name}: {held} = ...{doc}"


def _number(field: FieldDecl, names: StubNames) -> str:
    """A number that becomes a tensor: it is read as one, and written as either."""
    tensor = f"{names.aliases.use('_torch')}.Tensor"
    read = f"{tensor} | None" if field.optional else tensor
    return f"{names.aliases.use('_Slot')}[{read}, {names.type(field.type, home(field))} | {tensor}]"


def _registered(declaration: ModuleDecl, names: StubNames) -> Iterator[str]:
    """The attributes that the stub has for the names that the class itself registers.

    Each has a value: to a checker that takes it for a field of a dataclass, one without may hide one with a default.
    """
    for name, group in registered_names(declaration).items():
        if needs_type(group) or any(each.type is not None and each.type.name in names.exact for each in group):
            types = [
                _registered_type(each, declaration, names) for each in group if each.kind is not RegisteredKind.NONE
            ]
            optional = ["None"] if any(each.may_be_none for each in group) else []
            yield f"{name}: {' | '.join(dict.fromkeys([*types, *optional]))} = ..."


def _registered_type(each: Registered, declaration: ModuleDecl, names: StubNames) -> str:
    """The type of what one statement registers, with the imports that it needs."""
    use = names.aliases.use
    match each.kind:
        case RegisteredKind.PARAMETER:
            return f"{use('_torch')}.nn.Parameter"
        case RegisteredKind.BUFFER:
            return f"{use('_torch')}.Tensor"
        case RegisteredKind.CHILD if each.type is None:
            return f"{use('_torch')}.nn.Module"
        case RegisteredKind.CHILD if each.type is not None:
            child = names.type(each.type, declaration.module, given=True)
            return f"{use(f'_{each.container}')}[{child}]" if each.container else child
    return f"{use('_t')}.Any"


def _calls(declaration: ModuleDecl, names: StubNames, related: Mapping[str, Declaration]) -> Iterator[str]:
    """`__call__` for each registered type, and for all overloads of forward; nothing for a class without handlers."""
    if not declaration.handlers:
        return
    forward = _forward(declaration, related)
    calls = _forward_calls(declaration, names, related)
    handlers = [handler_call(handler, names) for handler in declaration.handlers]
    taking = [(names.source(module), signature) for module, signature in forward]
    first = forward_first(taking, declaration.handlers, related)
    for text in calls + handlers if first else handlers + calls:
        yield f"@{names.aliases.use('_t')}.overload\n    {text}" if len(calls + handlers) > 1 else text


def _forward(declaration: ModuleDecl, related: Mapping[str, Declaration]) -> tuple[tuple[str, Signature], ...]:
    """The forward that the class has, inherited or its own, each of its overloads with the module that it stands in."""
    own = [method for method in declaration.methods if method.name == "forward"]
    if own:
        # The last definition of a name counts.
        return tuple((declaration.module, method.signature) for method in list(filter(_is_overload, own)) or own[-1:])
    parents = (related.get(base.name) for base in declaration.bases)
    return next((f for parent in parents if isinstance(parent, ModuleDecl) and (f := _forward(parent, related))), ())


def _forward_calls(declaration: ModuleDecl, names: StubNames, related: Mapping[str, Declaration]) -> list[str]:
    """`__call__` for each overload of forward."""
    return [_forward_call(signature, names, module) for module, signature in _forward(declaration, related)]


def _is_overload(method: MethodSource) -> bool:
    return any(name in OVERLOADS for name in method.decorators)


def _forward_call(signature: Signature, names: StubNames, module: str) -> str:
    parameters = as_written(parsed(signature.parameters), names, module)
    result = _result(signature, names, module)
    return layout.bracketed("def __call__(", ["self", *parameters], f") -> {result}: ...", 4)


def handler_call(handler: RegistrationDecl, names: StubNames, method: str = "__call__") -> str:
    """A handler as a call of its module, or as a method that calls it."""
    signature, module = handler.signature, handler.module
    parameters = as_written(of_call(parsed(signature.parameters), spelling.static_type(handler.type)), names, module)
    result = _result(signature, names, module)
    return layout.bracketed(f"def {method}(", ["self", *parameters], f") -> {result}: ...", 4)


def _result(signature: Signature, names: StubNames, module: str) -> str:
    """The type of a call's result: a coroutine where the function is async."""
    result = names.text(signature.result, module, given=True) if signature.result else names.builtin("object")
    if not signature.is_async or signature.yields:  # an async generator is not awaited
        return result
    t = names.aliases.use("_t")
    return f"{t}.Coroutine[{t}.Any, {t}.Any, {result}]"


_PLAIN = frozenset(
    f"builtins.{name}" for name in "bool bytes complex dict float frozenset int list set str tuple".split()
)
"""Builtins that are no base of a tensor."""


def forward_first(
    forward: Iterable[tuple[SourceFile, Signature]], handlers: Iterable[RegistrationDecl], declared: Container[str]
) -> bool:
    """True if `forward` takes only tensors and plain builtins, and the handlers only declared classes and the other of these.

    A call runs a handler where there is one, so `forward` stands behind the handlers if both can mean an object. If not, it
    stands first: where a module is taken for a function, as by `torch.compile(module)`, mypy reads the first overload alone.
    """
    taken = {name for source, signature in forward for name in _taken(signature, source)} - {"None"}
    registered = {member.name for handler in handlers for member in members_of(handler.type)} - {"None"}
    others = {name for name in registered if name not in declared}
    return taken <= {"torch.Tensor", *_PLAIN} and others <= _PLAIN and not (others and taken & _PLAIN)


def _taken(signature: Signature, source: SourceFile) -> Iterator[str]:
    """The qualified names of what the first argument can be; `""` for a type that says less."""
    first = next(iter(parsed(signature.parameters)), None)
    return iter(()) if first is None else _members(first.type, source)


def _members(text: str, source: SourceFile) -> Iterator[str]:
    """The qualified names of the members of a union, with what jaxtyping annotates in the place of its annotation."""
    node = ast.parse(text, mode="eval").body if text else None
    match node:
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            yield from _members(ast.unparse(left), source)
            yield from _members(ast.unparse(right), source)
        case ast.Constant(value=None):
            yield "None"
        case ast.Constant(value=str(quoted)):
            yield from _members(annotation_text(quoted) or "", source)
        case ast.Subscript(value=value, slice=ast.Tuple(elts=[item, *_])) if _is_shaped(ast.unparse(value), source):
            yield from _members(ast.unparse(item), source)
        case ast.Name() | ast.Attribute():
            yield qualified(ast.unparse(node), source)
        case _:
            yield ""


def _is_shaped(name: str, source: SourceFile) -> bool:
    return qualified(name, source).startswith("jaxtyping.")


_FORMATTERS = ("# ruff: noqa", "# fmt: off", "# isort: skip_file")
UNCHECKED = "# mypy: ignore-errors"
"""mypy reads the types of a stub, and does not compare its methods with each other and with base classes."""

_PYRIGHT_RULES_PYI = (
    "reportIncompatibleMethodOverride",
    "reportIncompatibleVariableOverride",
    "reportOverlappingOverload",
    "reportImplicitOverride",
    "reportInvalidTypeVarUse",
    "reportMissingTypeArgument",
    "reportMissingImports",
    "reportMissingModuleSource",
    "reportUnknownParameterType",
    "reportUnknownVariableType",
)
_TY_RULES_PYI = (
    "incompatible-attribute-override",
    "incompatible-method-override",
    "incompatible-mutable-override",
    "subclass-of-final-class",
    "unused-ignore-comment",
)
"""The last is for stubs that need none of the others."""
_CHECKERS = (
    UNCHECKED,
    f"# pyright: {', '.join(f'{rule}=false' for rule in _PYRIGHT_RULES_PYI)}",
    f"# ty: ignore[{', '.join(_TY_RULES_PYI)}]",
    "# pyrefly: ignore-errors",
)
"""A class statement says more exact types than its declaration, and checkers take that for an incompatible override."""


class StubFileView(NamedTuple):
    """The input of the template of a stub."""

    summary: str
    imports: tuple[tuple[str, ...], ...]
    """The statements, in groups with a blank line between them."""
    classes: tuple[ClassStub, ...]
    functions: tuple[str, ...]
    """The functions of the source that give one of these classes."""
    directives: tuple[str, ...]
    """Comments for checkers and formatters."""


def stub_file(file: FileDecl) -> StubFileView:
    """The stub of a source file's generated module."""
    given = reexported(file)
    names = StubNames(file, given)
    classes = tuple(
        class_stub(declaration, names, file.related)
        for declaration in file.declarations
        if declaration.qualified in names.exact
    )
    classes += tuple(functional_stub(functional, names) for functional in file.functionals)
    same = [declaration.name for declaration in file.declarations if declaration.qualified not in names.exact]
    functions = own_functions(file, names)
    others = [name for name in given if name not in (*same, *functions)]
    own = [
        *names.imports,
        *([declaration_import(file)] if classes or functions else []),  # the only users of `_decl`
        *reexports(file, [*same, *others]),
    ]
    return StubFileView(
        summary=f"The classes declared in `{source_name(file)}`, as type checkers see them.",
        imports=(*statements(names.aliases.used), tuple(own)),
        classes=classes,
        functions=tuple(functions.values()),
        directives=(*_FORMATTERS, *(_CHECKERS if classes or functions else ())),
    )


def functional_stub(functional: FunctionalDecl, names: StubNames) -> ClassStub:
    """The class in the stub, which derives from the one of the source. An object without a handler is an error."""
    bases = (f"_decl.{functional.name}", *map(names.generated, functional.parents))
    return ClassStub(
        head=f"class {functional.name}({', '.join(bases)}):",
        doc=layout.docstring(functional.doc or f"`{functional.name}` with the calls of its handlers.", 4),
        lines=tuple(_methods(functional, names)),
    )


def _methods(functional: FunctionalDecl, names: StubNames) -> Iterator[str]:
    for method, is_written in (("__call__", functional.writes_call), ("invoke", functional.writes_invoke)):
        for handler in () if is_written else functional.handlers:
            overload = f"@{names.aliases.use('_t')}.overload\n    " if len(functional.handlers) > 1 else ""
            yield f"{overload}{handler_call(handler, names, method)}"
