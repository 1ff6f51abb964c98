"""Which of the user's own methods and functions a stub repeats: those that would lead out of it.

A generated class inherits everything from its declaration, so most methods need no mention. A method that gives a declared class
gives the class of the declaration to checkers, though, and the generated one says more. Such methods are repeated with generated
classes in what they give. So are those that take an invariant container, `list[Batch]`, which has to be either.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import replace
from typing import NamedTuple

from ..model import Declaration, FileDecl, MethodSource, ModuleDecl, TypeExpr, language
from .mentions import Mentions, differs
from .parameters import parsed
from .renaming import Way
from .spelling import static_type
from .stub_methods import methods_of_stub

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


def own_members(declaration: Declaration, file: FileDecl) -> tuple[MethodSource, ...]:
    """The methods of a class that its stub repeats: properties, overloads and virtual tensors among them."""
    source = file.classes.get(f"{declaration.module}.{declaration.name}")
    if source is None:
        return ()
    checked = {method.name for method in source.for_checkers.methods}
    methods = [*source.for_checkers.methods, *(method for method in source.methods if method.name not in checked)]
    fields = {field.name for field in declaration.fields}
    said = methods_of_stub(declaration) | (fields - {method.name for method in methods if _is_virtual(method)})
    if isinstance(declaration, ModuleDecl):
        said |= {"__init__"}
    inner = frozenset((*source.attributes, *source.type_parameters.strip("[]").replace(",", " ").split()))
    return tuple(_chosen((method for method in methods if method.name not in said), file, inner))


def own_call(declaration: ModuleDecl, file: FileDecl) -> tuple[MethodSource, ...]:
    """The class's own `forward` as its `__call__`, each of its overloads; none where the text does not say what it gives."""
    source = file.classes.get(f"{declaration.module}.{declaration.name}")
    if source is None or any(method.name == "forward" for method in source.for_checkers.methods):
        return ()
    methods = [_without(method, _WITHOUT_EFFECT.__contains__) for method in source.methods if method.name == "forward"]
    overloads = [method for method in methods if any(name in OVERLOADS for name in method.decorators)]
    shown = overloads or methods[-1:]
    if not all(method.signature.result and set(method.decorators) <= {*OVERLOADS} for method in shown):
        return ()
    return tuple(replace(method, name="__call__") for method in shown)


def own_functions(file: FileDecl) -> tuple[MethodSource, ...]:
    """The functions at the top level that the stub repeats, and that its module gives at run time."""
    handlers = {registration.handler for registration in file.source.registrations}
    functions = (
        _without(function, _registers) if function.name in handlers else function
        for function in _public_functions(file)
    )
    return tuple(_chosen(functions, file, frozenset()))


def passed_on(file: FileDecl) -> list[str]:
    """The other functions at the top level whose types mention declared classes, which the stub imports as they are.

    They take only what may be either class, `Sequence[Batch]`, or the text does not say what they give.
    """
    mentions = Mentions(file, file.source)
    mentioning = {
        function.name
        for function in _public_functions(file)
        if any(differs(type, Way.GIVEN, mentions) for type in _types(function))
    }
    return sorted(mentioning.difference(function.name for function in own_functions(file)))


def _public_functions(file: FileDecl) -> Iterator[MethodSource]:
    return (function for function in file.source.functions if not function.name.startswith("_"))


def own_variables(file: FileDecl) -> dict[str, TypeExpr]:
    """The annotated names at the top level that the stub repeats, and that its module gives at run time."""
    mentions = Mentions(file, file.source)
    public = ((name, type) for name, type in file.source.variables if not name.startswith("_"))
    return {name: type for name, type in public if differs(static_type(type), Way.GIVEN, mentions)}


def _chosen(methods: Iterable[MethodSource], file: FileDecl, inner: Collection[str]) -> Iterator[MethodSource]:
    """Those of some methods that a stub repeats, all that go by one name together."""
    groups: dict[str, list[MethodSource]] = {}
    for method in methods:
        groups.setdefault(method.name, []).append(_without(method, _WITHOUT_EFFECT.__contains__))
    mentions = Mentions(file, file.source, frozenset(inner))
    for group in groups.values():
        overloads = [method for method in group if any(name in OVERLOADS for name in method.decorators)]
        shown = overloads or (group if _is_property(group) else group[-1:])
        if any(_differs(method, mentions) for method in shown) and all(_can_be_written(method) for method in shown):
            yield from shown


def _registers(decorator: str) -> bool:
    return decorator.endswith(".register")


def _without(method: MethodSource, is_idle: Callable[[str], bool]) -> MethodSource:
    """A function without some of its decorators, by their qualified names."""
    kept = [pair for pair in zip(method.decorators, method.spelled, strict=True) if not is_idle(pair[0])]
    return replace(method, decorators=tuple(name for name, _ in kept), spelled=tuple(text for _, text in kept))


def _is_property(group: list[MethodSource]) -> bool:
    return all(map(is_accessor, group[1:]))


def _is_virtual(method: MethodSource) -> bool:
    return language.VIRTUAL in method.decorators


def is_accessor(method: MethodSource) -> bool:
    """Whether a function is the setter or the deleter of the property of its name."""
    return any(text in (f"{method.name}.setter", f"{method.name}.deleter") for text in method.spelled)


def _differs(method: MethodSource, mentions: Mentions) -> bool:
    given = method.signature.result
    return (bool(given) and differs(given, Way.GIVEN, mentions)) or any(
        differs(type, Way.TAKEN, mentions) for type in _taken(method)
    )


def _types(method: MethodSource) -> Iterator[str]:
    """What is written for the parameters and for the result."""
    yield from _taken(method)
    if method.signature.result:
        yield method.signature.result


def _taken(method: MethodSource) -> Iterator[str]:
    return (parameter.type for parameter in parsed(method.signature.parameters) if parameter.type)


def _can_be_written(method: MethodSource) -> bool:
    """Whether the text says all that a checker has to know: the result, and decorators without arguments but constants."""
    says_result = bool(method.signature.result) or method.name == "__init__"
    return (says_result or is_accessor(method)) and all(called(text) is not None for text in method.spelled)


class Decorator(NamedTuple):
    """A decorator: what is named, and the arguments that it is called with."""

    function: str
    arguments: str


def called(text: str) -> Decorator | None:
    """A decorator as its parts; None for one that is computed, or has arguments that are no constants."""
    node = ast.parse(text, mode="eval").body
    if not isinstance(node, ast.Call):
        return Decorator(text, "") if isinstance(node, ast.Name | ast.Attribute) else None
    given = [*node.args, *(keyword.value for keyword in node.keywords)]
    function = ast.unparse(node.func)
    plain = isinstance(node.func, ast.Name | ast.Attribute) and all(isinstance(each, ast.Constant) for each in given)
    return Decorator(function, ast.unparse(node)[len(function) :]) if plain else None
