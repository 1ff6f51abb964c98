"""The functions and methods of the user that a stub writes anew, and their parameters."""

from __future__ import annotations

import ast
from collections.abc import Collection, Container, Iterable, Iterator
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

from ..common.records import record, replace
from ..model import Declaration, FileDecl, MethodSource, ModuleDecl, language
from . import layout
from .stub_names import StubNames

if TYPE_CHECKING:
    from .stub_names import StubNames


class Passed(Enum):
    """How a parameter is given."""

    POSITION = "position"
    POSITION_OR_KEYWORD = "position or keyword"
    ALL_POSITIONS = "all positions"
    KEYWORD = "keyword"
    ALL_KEYWORDS = "all keywords"


@record(frozen=True, slots=True)
class Parameter:
    """A parameter of a function: `scale: float = 1.0`."""

    name: str
    kind: Passed
    type: str = ""
    """Its annotation as written; empty without one."""
    default: str = ""
    """The text of its default; empty without one."""

    def text(self, names: StubNames, module: str = "") -> str:
        """The parameter as a stub writes it. Its annotation is read in a module of the run."""
        stars = {Passed.ALL_POSITIONS: "*", Passed.ALL_KEYWORDS: "**"}.get(self.kind, "")
        type = names.text(self.type, module) if self.type else f"{names.aliases.use('_t')}.Any"
        if self.default == "None" and self.type and not _may_be_none(self.type):
            type = f"{type} | None"  # checkers report it where the function is; its callers can leave the argument out
        return f"{stars}{self.name}: {type}{f' = {self.default}' if self.default else ''}"


def _may_be_none(annotation: str) -> bool:
    """True if None is of the type as far as the text of the annotation says."""
    tree = ast.parse(annotation, mode="eval")
    said = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    said |= {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    quoted = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    none = any(isinstance(node, ast.Constant) and node.value is None for node in ast.walk(tree))
    return none or not said.isdisjoint({"Any", "Optional", "object"}) or any("None" in text for text in quoted)


def parsed(parameters: str) -> tuple[Parameter, ...]:
    """The parameters of a function, from the text between its parentheses.

    >>> [(parameter.name, parameter.type) for parameter in parsed("x: int, *, mode: str = ', '")]
    [('x', 'int'), ('mode', 'str')]
    """
    if not parameters:
        return ()
    text = f"def f({parameters}): ..."
    (function,) = ast.parse(text).body
    assert isinstance(function, ast.FunctionDef)
    return tuple(_parameters(function.args, text))


def _parameters(found: ast.arguments, text: str) -> Iterator[Parameter]:
    """The parameters among the arguments of a function, in the order in which they are written."""

    def made(node: ast.arg, kind: Passed, default: ast.expr | None = None) -> Parameter:
        type = ast.get_source_segment(text, node.annotation) if node.annotation is not None else None
        given = ast.get_source_segment(text, default) if default is not None else None
        return Parameter(node.arg, kind, type or "", given or "")

    positional = [*found.posonlyargs, *found.args]
    defaults = [*[None] * (len(positional) - len(found.defaults)), *found.defaults]
    for index, (node, default) in enumerate(zip(positional, defaults, strict=True)):
        yield made(node, Passed.POSITION if index < len(found.posonlyargs) else Passed.POSITION_OR_KEYWORD, default)
    if found.vararg is not None:
        yield made(found.vararg, Passed.ALL_POSITIONS)
    for node, default in zip(found.kwonlyargs, found.kw_defaults, strict=True):
        yield made(node, Passed.KEYWORD, default)
    if found.kwarg is not None:
        yield made(found.kwarg, Passed.ALL_KEYWORDS)


def as_written(parameters: Iterable[Parameter], names: StubNames, module: str = "") -> list[str]:
    """The texts of some parameters, with the `/` and the `*` that they need between them."""
    texts: list[str] = []
    kinds = [parameter.kind for parameter in parameters]
    for parameter, before in zip(parameters, [None, *kinds], strict=False):
        if before is Passed.POSITION and parameter.kind is not Passed.POSITION:
            texts.append("/")
        if parameter.kind is Passed.KEYWORD and before not in (Passed.KEYWORD, Passed.ALL_POSITIONS):
            texts.append("*")
        texts.append(parameter.text(names, module))
    return [*texts, "/"] if kinds and kinds[-1] is Passed.POSITION else texts


def of_call(handler: Iterable[Parameter], type: str) -> tuple[Parameter, ...]:
    """The parameters of a call that runs a handler: an object of `type` by position; the rest is passed on by keyword."""
    parameters = tuple(handler)
    # The first two are the module and the object.
    positional = [found for found in parameters if found.kind in (Passed.POSITION, Passed.POSITION_OR_KEYWORD)]
    by_keyword = [
        *(found for found in positional[2:] if found.kind is Passed.POSITION_OR_KEYWORD),
        *(found for found in parameters if found.kind is Passed.KEYWORD),
    ]
    # A keyword of that name would be the module once more.
    keywords = [replace(found, kind=Passed.KEYWORD) for found in by_keyword if found.name != "self"]
    others = [found for found in parameters if found.kind is Passed.ALL_KEYWORDS]
    name = positional[1].name if len(positional) > 1 else "obj"
    taken = {"self", *(parameter.name for parameter in keywords)}
    obj = Parameter(_free(name, taken), Passed.POSITION, type)
    return (obj, *keywords, *(replace(other, name=_free(other.name, {*taken, obj.name})) for other in others))


def _free(name: str, taken: Collection[str]) -> str:
    """The name, with underscores where it is taken."""
    return next(found for count in range(len(taken) + 1) if (found := f"{name}{'_' * count}") not in taken)


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
    """True if a function is the setter or the deleter of the property of its name."""
    return any(text in (f"{method.name}.setter", f"{method.name}.deleter") for text in method.spelled)


def _is_plain(method: MethodSource) -> bool:
    """True if the text says all that a checker has to know: the result, and decorators without arguments but constants."""
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
