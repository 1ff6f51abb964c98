"""How a stub writes the user's own methods and functions that it repeats."""

from __future__ import annotations

from collections.abc import Iterable

from ..model import MethodSource, language
from . import layout
from .parameters import as_written, parsed
from .renaming import Way
from .repeated import OVERLOADS, called, is_accessor
from .stub_names import Meanings, StubNames


def written(method: MethodSource, names: StubNames, module: str, inner: Meanings, indent: int) -> str:
    """A method or function as the stub has it. `inner` says what the names in the body of its class stand for.

    One that takes an invariant container has two overloads, `list[_decl.Batch]` and `list[Batch]`: given a union,
    mypy does not see what a list display is to be.
    """
    ways = (Way.TAKEN,) if is_accessor(method) else (Way.TAKEN_DECLARED, Way.TAKEN_GIVEN)
    texts = dict.fromkeys(_definition(method, names, module, inner, indent, way) for way in ways)
    decorators = [
        f"@{_decorator(text, qualified, method, names, module)}"
        for text, qualified in zip(method.spelled, method.decorators, strict=True)
    ]
    overload = f"@{names.aliases.use('_t')}.overload"
    if len(texts) > 1 and overload not in decorators:
        decorators.insert(0, overload)
    return f"\n{' ' * indent}".join(line for text in texts for line in (*decorators, text))


def _definition(method: MethodSource, names: StubNames, module: str, inner: Meanings, indent: int, way: Way) -> str:
    """The `def` of a method, whose parameters go one way."""
    signature = method.signature
    head = "async def" if signature.is_async and not signature.yields else "def"
    parameters = as_written(parsed(signature.parameters), names, module, inner, way)
    result = names.text(signature.result, module, inner, Way.GIVEN) if signature.result else "None"
    generic = names.text(signature.type_parameters, module, inner) if signature.type_parameters else ""
    parameters = [*_receiver(method, names, module, inner), *parameters]
    return layout.bracketed(f"{head} {method.name}{generic}(", parameters, f") -> {result}: ...", indent)


def _receiver(method: MethodSource, names: StubNames, module: str, inner: Meanings) -> list[str]:
    """The first parameter, which has an annotation only where the declaration has one."""
    name, _, type = method.receiver.partition(":")
    return [f"{name}: {names.text(type.strip(), module, inner)}"] if type else [name] if name else []


def mentioned_inside(methods: Iterable[MethodSource]) -> set[str]:
    """The plain names, and the first parts of dotted ones, that the signatures of some methods mention."""
    return {name.partition(".")[0] for method in methods for name in method.signature.names}


def _decorator(text: str, qualified: str, method: MethodSource, names: StubNames, module: str) -> str:
    """A decorator as the stub writes it."""
    if qualified in OVERLOADS:
        return f"{names.aliases.use('_t')}.overload"
    if qualified == language.VIRTUAL:
        return names.builtin("property")
    call = called(text)
    if call is None or is_accessor(method):
        return text
    return f"{names.text(call.function, module)}{call.arguments}"
