"""The part of a Module's fingerprint that covers its children; see `specifier_rows.py`."""

from __future__ import annotations

from types import FunctionType

from ...common import language
from ...common.fingerprint_rows import VALUE, Row, row
from ...common.specifier_records import RecordedCall, recorded_call
from .annotated_kinds import NotCertain
from .specifier_rows import expression, is_harmless

_OF_CHILDREN = (language.SUBMODULE, language.SEQUENTIAL)
_OWN = language.SPECIFIER_KEYWORDS[language.SUBMODULE]


def child_row(name: str, call: RecordedCall) -> Row:
    """The row of a child, with the attributes of `SubmoduleDecl`.

    Raises:
        NotCertain: an argument is one that a rule may refuse.
    """
    inner = _inner(call)
    if inner is not None and inner.kwargs.keys().isdisjoint((language.REPEAT, "keys")):
        raise NotCertain
    own = {keyword: given for keyword, given in call.kwargs.items() if keyword in _OWN}
    own |= {keyword: expression(own[keyword]) for keyword in (language.WHEN, language.REPEAT) if keyword in own}
    return row(
        "SubmoduleDecl",
        name=name,
        cls=VALUE,
        arguments=_arguments(_innermost(call)),
        inner=None if inner is None else child_row(name, inner),
        **own,
    )


def _inner(call: RecordedCall) -> RecordedCall | None:
    """Each of the children of a call if they are lists or dicts themselves."""
    found = recorded_call(call.args[0]) if call.name == language.SUBMODULE else None
    return found if found is not None and found.name in _OF_CHILDREN else None


def _innermost(call: RecordedCall) -> RecordedCall:
    inner = _inner(call)
    return call if inner is None else _innermost(inner)


def _arguments(call: RecordedCall) -> tuple[Row, ...]:
    """The rows of the arguments that a child is constructed with.

    Raises:
        NotCertain: a rule has to look at one of them, or at what constructs the child.
    """
    positional = call.args
    if call.name == language.SUBMODULE:
        _refuse_uncertain_class(call.args[0])
        positional = call.args[1:]
    return (
        *(row("Argument", value=_argument(None, given)) for given in positional),
        *(
            row("Argument", keyword=keyword, value=_argument(keyword, given))
            for keyword, given in call.kwargs.items()
            if keyword not in _OWN
        ),
    )


def _refuse_uncertain_class(cls: object) -> None:
    if not isinstance(cls, type) and (not isinstance(cls, FunctionType) or cls.__defaults__ or cls.__kwdefaults__):
        raise NotCertain


def _argument(keyword: str | None, given: object) -> object:
    """The value of an argument in its row."""
    call = recorded_call(given)
    if call is not None and call.name in _OF_CHILDREN:
        if not call.kwargs.keys().isdisjoint(_OWN):
            raise NotCertain
        constructed = row("Argument", value=VALUE)
        return row("SpecifierCall", name=language.SUBMODULE, arguments=(constructed, *_arguments(call)))
    if call is not None and call.name == language.CONST:
        given = call.args[0]
    elif call is not None:
        raise NotCertain
    elif type(given) is str and language.takes_dimension(language.SUBMODULE, 1, keyword):
        return expression(given)
    if not is_harmless(given):
        raise NotCertain
    return VALUE
