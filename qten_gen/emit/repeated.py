"""The user's own methods and functions that a stub repeats: those that give a class with a statement in a stub.

To a checker, `def build() -> Net` of the source gives the Net of the source. Repeated in the stub, it gives the Net of the stub.
"""

from __future__ import annotations

import ast
from collections.abc import Container, Iterable, Iterator
from typing import NamedTuple

from ..common.records import replace
from ..model import Declaration, FileDecl, MethodSource, ModuleDecl, language
from . import layout
from .parameters import as_written, parsed
from .stub_names import StubNames

OVERLOADS = ("typing.overload", "typing_extensions.overload")
"""The decorator of overloads."""

_WITHOUT_EFFECT = frozenset(
    """
    torch.no_grad torch.enable_grad torch.inference_mode torch.set_grad_enabled torch.autocast torch.amp.autocast torch.compile
    torch.compiler.disable torch._dynamo.disable torch.jit.export torch.jit.ignore torch.jit.unused
    typing.final typing.override typing_extensions.final typing_extensions.override
    """.split()
)
"""Decorators that do not change the signature, which a stub leaves out."""


def own_methods(declaration: Declaration, names: StubNames) -> Iterator[str]:
    """The methods of a class that its stub repeats, as it has them."""
    methods = [method for method in declaration.methods if method.name not in ("__init__", "__call__")]
    if isinstance(declaration, ModuleDecl):
        bound = declaration.bound
    else:
        bound = frozenset(field.name for field in declaration.fields).union(method.name for method in methods)
    for method in _chosen(methods, names, declaration.module, bound):
        yield _written(method, names, declaration.module, 4)


def own_functions(file: FileDecl, names: StubNames) -> dict[str, str]:
    """The functions at the top level that the stub repeats, by name; overloads of one function are one text."""
    handlers = {registration.handler for registration in file.source.registrations}
    found: dict[str, str] = {}
    for function in _chosen(_public(file, handlers), names, file.source.module, ()):
        before = f"{found[function.name]}\n" if function.name in found else ""
        found[function.name] = f"{before}{_written(function, names, file.source.module, 0)}"
    return found


def _public(file: FileDecl, handlers: Container[str]) -> Iterator[MethodSource]:
    for function in file.source.functions:
        if not function.name.startswith("_"):
            kept = [not (function.name in handlers and name.endswith(".register")) for name in function.decorators]
            yield _with_decorators(function, kept)


def _chosen(
    methods: Iterable[MethodSource], names: StubNames, module: str, inner: Container[str]
) -> Iterator[MethodSource]:
    """The methods that a stub repeats, all of one name together.

    Where a type names what only the class body binds, of which `inner` are the names, they stay as they are.
    """
    groups: dict[str, list[MethodSource]] = {}
    for method in methods:
        kept = [name not in _WITHOUT_EFFECT for name in method.decorators]
        groups.setdefault(method.name, []).append(_with_decorators(method, kept))
    for group in groups.values():
        overloads = [method for method in group if any(name in OVERLOADS for name in method.decorators)]
        # Setters have the name of their property; of other functions of one name, the last one counts.
        shown = overloads or (group if all(map(_is_accessor, group[1:])) else group[-1:])
        mentioned = {name.partition(".")[0] for method in shown for name in method.signature.names}
        is_written = all(map(_is_plain, shown)) and not any(name in inner for name in mentioned)
        if is_written and any(names.is_exact(method.signature.result, module) for method in shown):
            yield from shown


def _with_decorators(method: MethodSource, kept: list[bool]) -> MethodSource:
    """A function with some of its decorators."""
    pairs = [pair for pair, keep in zip(zip(method.decorators, method.spelled, strict=True), kept, strict=True) if keep]
    return replace(method, decorators=tuple(name for name, _ in pairs), spelled=tuple(text for _, text in pairs))


def _is_accessor(method: MethodSource) -> bool:
    """Whether a function is the setter or the deleter of the property of its name."""
    return any(text in (f"{method.name}.setter", f"{method.name}.deleter") for text in method.spelled)


def _is_plain(method: MethodSource) -> bool:
    """Whether the text says all that a checker has to know: the result, and decorators without arguments but constants."""
    return bool(method.signature.result or _is_accessor(method)) and None not in map(_called, method.spelled)


class _Decorator(NamedTuple):
    """A decorator: what is named, and the arguments that it is called with."""

    function: str
    arguments: str


def _called(text: str) -> _Decorator | None:
    """A decorator as its parts; None for one that is computed, or has arguments that are no constants."""
    node = ast.parse(text, mode="eval").body
    if not isinstance(node, ast.Call):
        return _Decorator(text, "") if isinstance(node, ast.Name | ast.Attribute) else None
    given = [*node.args, *(keyword.value for keyword in node.keywords)]
    function = ast.unparse(node.func)
    plain = isinstance(node.func, ast.Name | ast.Attribute) and all(isinstance(each, ast.Constant) for each in given)
    return _Decorator(function, ast.unparse(node)[len(function) :]) if plain else None


def _written(method: MethodSource, names: StubNames, module: str, indent: int) -> str:
    """A method or function as the stub has it."""
    signature = method.signature
    # In a stub, `async def` without a `yield` is a coroutine.
    head = "async def" if signature.is_async and not signature.yields else "def"
    generic = names.text(signature.type_parameters, module) if signature.type_parameters else ""
    receiver, _, type = method.receiver.partition(":")
    first = [f"{receiver}: {names.text(type.strip(), module)}" if type else receiver] if receiver else []
    parameters = [*first, *as_written(parsed(signature.parameters), names, module)]
    result = names.text(signature.result, module, given=True) if signature.result else "None"
    text = layout.bracketed(f"{head} {method.name}{generic}(", parameters, f") -> {result}: ...", indent)
    return f"\n{' ' * indent}".join([*_decorators(method, names, module), text])


def _decorators(method: MethodSource, names: StubNames, module: str) -> Iterator[str]:
    for text, qualified in zip(method.spelled, method.decorators, strict=True):
        call = _called(text)
        if qualified in OVERLOADS:
            yield f"@{names.aliases.use('_t')}.overload"
        elif qualified == language.VIRTUAL:
            yield f"@{names.builtin('property')}"
        elif call is None or _is_accessor(method):
            yield f"@{text}"
        else:
            yield f"@{names.text(call.function, module)}{call.arguments}"
