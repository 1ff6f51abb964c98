"""The part of a Module's fingerprint that covers its children; see `specifier_rows.py`."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType

from ...common import language
from ...common.fingerprint_rows import VALUE, RecordedCall, Row, recorded_call, row
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
        cls=_class(_innermost(call)),
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
    positional = call.args[1:] if call.name == language.SUBMODULE else call.args
    return (
        *(row("Argument", value=_argument(None, given)) for given in positional),
        *(
            row("Argument", keyword=keyword, value=_argument(keyword, given))
            for keyword, given in call.kwargs.items()
            if keyword not in _OWN
        ),
    )


def _class(call: RecordedCall) -> Row:
    """The value of what constructs a child in its row."""
    if call.name != language.SUBMODULE:
        return VALUE
    cls = call.args[0]
    choice = recorded_call(cls)
    if choice is not None and choice.name == language.CHOICE:
        return _choice(choice, _is_maker)
    if not _is_maker(cls):
        raise NotCertain
    return VALUE


def _is_maker(cls: object) -> bool:
    # A default may be a module, which all children would share; a rule looks for it.
    return isinstance(cls, type) or (isinstance(cls, FunctionType) and not cls.__defaults__ and not cls.__kwdefaults__)


def _choice(call: RecordedCall, is_certain: Callable[[object], bool]) -> Row:
    """The value of a choice in its row. The options are no part of it: a constructor looks them up when it is called."""
    selector, options = call.args[0], call.args[1] if len(call.args) > 1 else None
    if type(selector) is not str or not (
        options is None or (type(options) is dict and all(map(is_certain, options.values())))
    ):
        raise NotCertain
    return row("Value", choice=row("Choice", selector=expression(selector), is_given=options is None))


def _argument(keyword: str | None, given: object) -> object:
    """The value of an argument in its row."""
    call = recorded_call(given)
    if call is not None and call.name in _OF_CHILDREN:
        if not call.kwargs.keys().isdisjoint(_OWN):
            raise NotCertain
        constructed = row("Argument", value=_class(call))
        return row("SpecifierCall", name=language.SUBMODULE, arguments=(constructed, *_arguments(call)))
    if call is not None and call.name == language.CHOICE:
        return _choice(call, is_harmless)
    if call is not None and call.name == language.CONST:
        given = call.args[0]
    elif call is not None:
        raise NotCertain
    # 1 is any position behind the class.
    elif type(given) is str and language.takes_dimension(language.SUBMODULE, 1, keyword):
        return expression(given)
    if not is_harmless(given):
        raise NotCertain
    return VALUE
