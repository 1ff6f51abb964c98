"""The expressions of a generated constructor that make children: one, a list or a dict of them, a sequence, a choice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ..model import Argument, Dim, SpecifierCall, SubmoduleDecl, Value, language
from ..model.dimension_text import to_python
from . import layout, spelling
from .builtin_names import Builtins
from .computed import if_wanted, written
from .imports import Aliases

_TO_SUBMODULE = 12
"""The indentation of a child that stands on a line of its own."""


class _Owner(NamedTuple):
    """The class whose constructor makes the children, and the names that its text uses."""

    name: str
    builtins: Builtins
    aliases: Aliases


def child(field: SubmoduleDecl, owner: str, builtins: Builtins, aliases: Aliases) -> str:
    """The expression that makes a child, or the list or dict of several, which their arguments may tell apart by index."""
    of = _Owner(owner, builtins, aliases)
    made = _each(field, field.name, of, _TO_SUBMODULE)
    return made if field.is_repeated else if_wanted(made, field.when, builtins)


def _each(field: SubmoduleDecl, key: str, owner: _Owner, indent: int) -> str:
    """What makes the child whose record `key` leads to, or the list or dict of several."""
    if field.repeat is None and field.keys is None:
        return _construct(field.cls, field.arguments, owner, key, indent)
    inside = field.inner
    call = (
        _construct(field.cls, field.arguments, owner, key, indent + 4)
        if inside is None
        else _each(inside, f"{key}.cls", owner, indent + 4)
    )
    item, clause = several(field.repeat, field.keys, call, owner.builtins, field.mentions_index)
    if field.is_filtered and field.when is not None:
        clause = f"{clause} if {written(field.when, owner.builtins)}"
    brackets = ("_rt.ModuleList([", "])") if field.repeat is not None else ("_rt.ModuleDict({", "})")
    return layout.comprehension(brackets[0], item, clause, brackets[1], indent)


def several(
    repeat: Dim | None, keys: str | tuple[str, ...] | None, made: str, builtins: Builtins, mentions_index: bool
) -> tuple[str, str]:
    """The item and the clause of the comprehension over as many as `repeat` says, or over the names in `keys`."""
    if repeat is not None:
        counter = language.INDEX if mentions_index else "_"
        return made, f"for {counter} in {builtins.name('range')}({written(repeat, builtins)})"
    names = keys if isinstance(keys, str) else layout.names(keys or (), 0, "")
    if mentions_index:
        return f"_name: {made}", f"for {language.INDEX}, _name in {builtins.name('enumerate')}({names})"
    return f"_name: {made}", f"for _name in {names}"


def _construct(cls: Value, arguments: Sequence[Argument], owner: _Owner, key: str, indent: int) -> str:
    """The call that makes one child. `key` leads to its record in the declaration: `blocks`, `blocks.args.0`."""
    if cls.name == language.CHAIN:
        return _sequence(arguments, owner, key, indent)
    return f"_rt.construct({', '.join(_construction(cls, arguments, owner, key, indent))})"


def _sequence(arguments: Sequence[Argument], owner: _Owner, key: str, indent: int) -> str:
    """The members of a sequence, each a child of its own, which have indexes or names."""
    names = [argument.keyword for argument in arguments if argument.keyword is not None]
    if not names:
        members = [
            _member(argument, owner, f"{key}.args.{index}", indent + 4) for index, argument in enumerate(arguments)
        ]
        return layout.bracketed("_rt.Sequential(", members, ")", indent)
    found = [
        f'"{argument.keyword}": {_member(argument, owner, f"{key}.kwargs.{argument.keyword}", indent + 8)}'
        for argument in arguments
    ]
    owner.aliases.use("_OrderedDict")
    named = layout.bracketed("_OrderedDict({", found, "})", indent + 4)
    return layout.bracketed("_rt.Sequential(", [named], ")", indent)


def _member(argument: Argument, owner: _Owner, key: str, indent: int) -> str:
    """A member of a sequence: several with `repeat`, and the identity where its condition is false."""
    call = argument.value
    if not isinstance(call, SpecifierCall):
        return _argument(argument, owner, key, indent)
    made = _nested(call, owner, key, indent)
    when, repeat = (call.get(keyword) for keyword in ("when", language.REPEAT))
    if when is not None and isinstance(when.value, Dim):
        identity = spelling.torch_name("torch.nn.Identity", owner.aliases)
        made = f"{made} if {written(when.value, owner.builtins)} else {identity}()"
    if repeat is not None and isinstance(repeat.value, Dim):
        item, clause = several(repeat.value, None, made, owner.builtins, True)
        return layout.comprehension("*[", item, clause, "]", indent)
    return made


def _nested(call: SpecifierCall, owner: _Owner, key: str, indent: int) -> str:
    """A child among the arguments of another."""
    match call.arguments:
        case (Argument(value=Value() as cls), *arguments):
            own = language.SPECIFIER_KEYWORDS[language.SUBMODULE]
            return _construct(cls, [each for each in arguments if each.keyword not in own], owner, key, indent)
    raise ValueError(f"a rule has to stop this child: {call}")


def _construction(cls: Value, arguments: Sequence[Argument], owner: _Owner, key: str, indent: int) -> Iterator[str]:
    """The arguments of `_rt.construct`: the class, what it is called with, and the owner's device and dtype."""
    yield _value(cls, owner, f"{key}.cls")
    positional = [argument for argument in arguments if argument.keyword is None]
    keywords = {argument.keyword: argument for argument in arguments if argument.keyword is not None}
    for index, argument in enumerate(positional):
        yield _argument(argument, owner, f"{key}.args.{index}", indent)
    for name in ("device", "dtype"):
        given = keywords.pop(name, None)
        yield f"{name}={name if given is None else _argument(given, owner, f'{key}.kwargs.{name}', indent)}"
    for keyword, argument in keywords.items():
        yield f"{keyword}={_argument(argument, owner, f'{key}.kwargs.{keyword}', indent)}"


def _argument(argument: Argument, owner: _Owner, key: str, indent: int) -> str:
    match argument.value:
        case Value() as given:
            return _value(given, owner, key)
        case SpecifierCall() as call:
            return _nested(call, owner, key, indent)
        case dim if isinstance(dim, Dim):
            return written(dim, owner.builtins)
    raise ValueError(f"a rule has to stop this argument: {argument.value}")


def _value(given: Value, owner: _Owner, key: str) -> str:
    """A value as text, or what a choice gives."""
    if given.choice is None:
        return spelling.value(given, owner.name, key, owner.aliases)
    selector = given.choice.selector
    if not isinstance(selector, Dim):
        raise ValueError(f"a rule has to stop this choice: {given.text}")
    text = written(selector, owner.builtins)
    if given.choice.is_given:
        return text
    arguments = f'{owner.name}, "{key}", {text}, {layout.quoted_string(to_python(selector))}'
    return f"{owner.aliases.use('_features')}.chosen({arguments})"
