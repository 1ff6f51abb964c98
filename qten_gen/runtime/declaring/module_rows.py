"""The part of a Module's fingerprint that covers its fields, from the records of their specifiers, as in `model.build_field`.

It gives up on values that a rule may refuse once they are objects, and the generator's reader decides.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from inspect import unwrap
from types import BuiltinFunctionType, FunctionType

import torch

from ...common import language
from ...common.fingerprint_rows import VALUE, RecordedCall, Row, recorded_call, row
from ...common.python_text import expression_text, is_plain, literal_of, partial_of_torch, torch_name
from .annotated_kinds import NotCertain


def is_harmless(value: object) -> bool:
    """Return whether a value can be shared, and holds no tensor or module: a literal, a class, a member of an enum, a name of
    torch.
    """
    if literal_of(value) is not None or isinstance(value, type | torch.dtype | torch.device):
        return True
    if isinstance(value, Enum):
        # A member that is a dataclass may hold tensors.
        return not hasattr(type(value), "__dataclass_fields__") and recorded_call(value) is None
    return isinstance(value, FunctionType | BuiltinFunctionType) and torch_name(value) is not None


def expression(given: object) -> str | None:
    """The canonical text of an expression over constructor arguments, if there is one.

    Raises:
        NotCertain: it is not one, or may not be one.
    """
    # `type`, because a bool is no size.
    if given is None or type(given) is int:
        return None if given is None else str(given)
    if type(given) is not str or not is_plain(given):
        raise NotCertain
    try:
        return expression_text(given)
    except SyntaxError as error:
        raise NotCertain(given) from error


def parameter_row(name: str, call: RecordedCall, body: Mapping[str, object]) -> Row:
    """The row of a parameter or a buffer. The command has checked a literal that the fingerprint covers as it is.

    Raises:
        NotCertain: an argument is one that a rule may refuse.
    """
    kind = "ParameterDecl" if call.name == language.PARAM else "BufferDecl"
    given = {keyword: _argument(keyword, value, body) for keyword, value in call.kwargs.items()}
    return row(kind, name=name, dims=tuple(map(expression, call.args)), **given)


def _argument(keyword: str, given: object, body: Mapping[str, object]) -> object:
    match keyword:
        case "initializer":
            return _function(given, body)
        case "value":
            return _function(given, {})
        case "dtype":
            return _dtype(given)
        case language.WHEN | language.REPEAT:
            return expression(given)
    return literal(given)


def literal(given: object) -> object:
    """A keyword that the fingerprint covers as it is.

    Raises:
        NotCertain: it is no literal, such as a `const(True)`, which the generator's reader sees through.
    """
    if given is not None and literal_of(given) is None:
        raise NotCertain
    return given


def _function(given: object, body: Mapping[str, object]) -> Row:
    """The row of an initialiser, or of what computes a value; a function of the class body is a method."""
    if type(given) is str and given.isidentifier():
        return row("Value", method=given)
    if isinstance(given, FunctionType):
        code = getattr(unwrap(given), "__code__", None)
        if code is not None and code.co_argcount > 0 and code.co_varnames[0] == "self":
            return row("Value", method=next((name for name, bound in body.items() if bound is given), None))
        return VALUE
    if isinstance(given, type | BuiltinFunctionType) or partial_of_torch(given) is not None:
        return VALUE
    raise NotCertain


def _dtype(given: object) -> Row:
    if isinstance(given, torch.dtype) and torch_name(given) is not None:
        return VALUE
    raise NotCertain


_OF_CHILDREN = (language.SUBMODULE, language.SEQUENTIAL)
_OWN_KEYWORDS = language.SPECIFIER_KEYWORDS[language.SUBMODULE]


def child_row(name: str, call: RecordedCall) -> Row:
    """The row of a child, with the attributes of `SubmoduleDecl`.

    Raises:
        NotCertain: an argument is one that a rule may refuse.
    """
    inner = _inner(call)
    if inner is not None and inner.kwargs.keys().isdisjoint((language.REPEAT, "keys")):
        raise NotCertain
    own = {
        keyword: expression(given) if keyword in (language.WHEN, language.REPEAT) else literal(given)
        for keyword, given in call.kwargs.items()
        if keyword in _OWN_KEYWORDS
    }
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
        *(row("Argument", value=_child_argument(None, given)) for given in positional),
        *(
            row("Argument", keyword=keyword, value=_child_argument(keyword, given))
            for keyword, given in call.kwargs.items()
            if keyword not in _OWN_KEYWORDS
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


def _child_argument(keyword: str | None, given: object) -> object:
    """The value of an argument in its row."""
    call = recorded_call(given)
    if call is not None and call.name in _OF_CHILDREN:
        if not call.kwargs.keys().isdisjoint(_OWN_KEYWORDS):
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
