"""The part of a Module's fingerprint that covers its children; see `specifier_rows.py`."""

from __future__ import annotations

from collections.abc import Iterator
from types import FunctionType

from ...common import language
from ...common.specifier_records import RecordedCall, recorded_call
from .annotated_kinds import NotCertain
from .kept_facts import Row
from .specifier_rows import VALUE, expression, is_harmless, optional_expression, row


def child_row(name: str, call: RecordedCall) -> Row:
    """The row of a child, with the attributes of `SubmoduleDecl`.

    Raises:
        NotCertain: an argument is one that a rule may refuse.
    """
    call = _as_submodule(call)
    given = call.kwargs
    cls = call.args[0]
    each = recorded_call(cls)
    inner = None
    if each is not None and each.name in _OF_CHILDREN:
        each = _as_submodule(each)
        if "repeat" not in each.kwargs and "keys" not in each.kwargs:
            raise NotCertain
        inner = child_row(name, each)
    elif cls is not _SEQUENCE:
        _refuse_uncertain_class(cls)
    arguments = _arguments(call, first=1) if inner is None else dict(_pairs(inner)).get("arguments", ())
    return row(
        "SubmoduleDecl",
        [("name", name), ("cls", VALUE)],
        [
            ("arguments", arguments, ()),
            ("when", optional_expression(given.get(language.WHEN)), None),
            ("repeat", optional_expression(given.get(language.REPEAT)), None),
            ("keys", given.get("keys"), None),
            ("inner", inner, None),
            ("group", given.get("group"), None),
            ("keep_dtype", given.get(language.KEEP_DTYPE, False), False),
        ],
    )


_OF_CHILDREN = (language.SUBMODULE, language.SEQUENTIAL)
_SEQUENCE = object()
"""Stands for the class of a sequence."""


def _pairs(given: Row) -> Iterator[tuple[str, object]]:
    for item in given[1:]:
        if isinstance(item, tuple):
            yield item


def _as_submodule(call: RecordedCall) -> RecordedCall:
    """`sequential(...)` as the submodule that it stands for."""
    if call.name == language.SUBMODULE:
        return call
    return RecordedCall(language.SUBMODULE, (_SEQUENCE, *call.args), call.kwargs)


def _call_row(call: RecordedCall) -> Row:
    """The row of a submodule among the arguments of another, where no field is built of it."""
    call = _as_submodule(call)
    if call.args[0] is not _SEQUENCE:
        _refuse_uncertain_class(call.args[0])
    if any(keyword in _OWN for keyword in call.kwargs):
        raise NotCertain
    return ("SpecifierCall", ("name", language.SUBMODULE), ("arguments", _arguments(call, first=0)))


_OWN = language.SPECIFIER_KEYWORDS[language.SUBMODULE]


def _arguments(call: RecordedCall, *, first: int) -> tuple[Row, ...]:
    """The rows of the arguments that a child is constructed with."""
    positional = [("Argument", ("keyword", None), ("value", _argument(given, None))) for given in call.args[first:]]
    named = [
        ("Argument", ("keyword", keyword), ("value", _argument(given, keyword)))
        for keyword, given in call.kwargs.items()
        if keyword not in _OWN
    ]
    return (*positional, *named)


def _argument(given: object, keyword: str | None) -> object:
    """The row of an argument that a child is constructed with."""
    if given is _SEQUENCE:
        return VALUE
    call = recorded_call(given)
    if call is not None and call.name in _OF_CHILDREN:
        return _call_row(call)
    if call is not None and call.name == language.CONST:
        given = call.args[0]
    elif call is not None:
        raise NotCertain
    elif type(given) is str and language.takes_dimension(language.SUBMODULE, 1, keyword):
        return expression(given)
    if not is_harmless(given):
        raise NotCertain
    return VALUE


def _refuse_uncertain_class(cls: object) -> None:
    """Refuse what constructs a child, unless it is a class or a plain function.

    Raises:
        NotCertain: a rule has to look at it.
    """
    if isinstance(cls, type):
        return
    if not isinstance(cls, FunctionType) or cls.__defaults__ or cls.__kwdefaults__:
        raise NotCertain
