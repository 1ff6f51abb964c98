"""Makes a submodule of `sequential(...)`, which is another way to write one. Both readers use it."""

from __future__ import annotations

from collections.abc import Iterable

from ..common import language
from .class_body import Argument, SpecifierCall
from .field_parts import NodePath, Value


def as_submodule(arguments: Iterable[Argument], place: NodePath) -> SpecifierCall:
    """`sequential(submodule(nn.Linear, 2, 2), nn.ReLU)` as a submodule of the class `Sequential`.

    A class among the members stands for a child that is constructed without arguments.
    """
    cls = Value(text="Sequential", name=language.CHAIN, place=place)
    return SpecifierCall(language.SUBMODULE, (Argument(None, cls, place), *map(_as_member, arguments)), place)


def nested_keywords(specifier: str, position: int, keyword: str | None) -> tuple[str, ...]:
    """The keywords of `submodule` that a submodule can have as an argument of another specifier, at that position."""
    if specifier == language.SEQUENTIAL:
        return ("when",) if keyword is not None else ("when", language.REPEAT)
    is_each_of_several = specifier == language.SUBMODULE and position == 0 and keyword is None
    return (language.REPEAT, "keys") if is_each_of_several else ()


def is_sequence(call: SpecifierCall) -> bool:
    """Whether a call of `submodule` was written `sequential(...)`."""
    made = call.arguments[0].value if call.arguments else None
    return isinstance(made, Value) and made.name == language.CHAIN


def is_several(call: SpecifierCall) -> bool:
    """Whether a call of `submodule` makes a list or a dict of children."""
    return call.get(language.REPEAT) is not None or call.get("keys") is not None


def _as_member(argument: Argument) -> Argument:
    value = argument.value
    is_own = argument.keyword in language.SPECIFIER_KEYWORDS[language.SEQUENTIAL]
    # `*layers` stays what it is, so that a rule can refuse it.
    if is_own or not isinstance(value, Value) or value.text.startswith("*"):
        return argument
    made = Argument(None, value, argument.place)
    return Argument(argument.keyword, SpecifierCall(language.SUBMODULE, (made,), argument.place), argument.place)
