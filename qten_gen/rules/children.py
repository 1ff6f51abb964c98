"""Rules about the children of a Module: lists of them, and choices among them."""

from __future__ import annotations

from ast import literal_eval
from collections.abc import Iterator

from ..common.field_kinds import members_of
from ..common.suggestions import did_you_mean
from ..model import Choice, ConfigDecl, DerivedDecl, Dim, ModuleDecl, ParameterDecl, SubmoduleDecl, Value
from .dynamic_declarations import is_dynamic_text
from .rule_input import Problem, RuleContext, at


def invalid_choice(declaration: ModuleDecl, context: RuleContext) -> Iterator[Problem]:
    """A choice does not fit what decides it.

    `choice("act", {"relu": nn.ReLU, "gelu": nn.GELU})` looks up the value of the config field `act` when an instance is made. A
    value without an option raises ValueError there. So a field of type `bool` needs the options True and False, a `Literal` one
    option for each of its values, and the default of the field has to be among them.

    Example:

     from qten_gen import Module, choice, submodule
     from torch import nn


     class Net(Module):
    -    act: str = "rleu"
    +    act: str = "relu"
         activation: nn.ReLU | nn.GELU = submodule(choice("act", {"relu": nn.ReLU, "gelu": nn.GELU}))
    -                                              ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
    """
    config = {field.name: field for field in declaration.fields if isinstance(field, ConfigDecl)}
    for field in context.module_fields:
        if isinstance(field, SubmoduleDecl):
            for argument in field.call.nested:
                if isinstance(argument.value, Value) and argument.value.choice is not None:
                    yield from at(argument.value.place, _choice_problem(argument.value.choice, config))
        elif isinstance(field, ConfigDecl) and field.default is not None and field.default.value.choice is not None:
            message = f"the default of {field.name} is a choice, which decides between the classes of a child"
            help = "write choice(...) as the class or an argument of submodule(...)"
            yield Problem(message, field.default.value.place, help)


def _choice_problem(given: Choice, config: dict[str, ConfigDecl]) -> tuple[str, str] | None:
    """The problem with a choice, and how to fix it."""
    if given.selector is None and not (given.text and is_dynamic_text(given.text)):  # see `dynamic_declaration`
        help = 'write choice("act", {...}), with the name of a config field'
        return "the first argument of choice(...) must be a string", help
    if given.options is None:
        return None
    keys = [_key(key) for key, _ in given.options]
    if not keys:
        return "the choice has no options", 'write them as a dict: {"relu": nn.ReLU, "gelu": nn.GELU}'
    field = config.get(given.selector.name or "") if isinstance(given.selector, Dim) else None
    if field is None:
        return None
    for value in _values(field):
        if value not in keys:
            known = f"the options are {', '.join(map(repr, keys))}"
            help = did_you_mean(str(value), [key for key in keys if isinstance(key, str)], known)
            return f"{field.name} may be {value!r}, which is not among the options", help
    return None


def _key(text: str) -> object:
    """The value of a key; its text where that is not a literal."""
    try:
        found: object = literal_eval(text)
    except (ValueError, SyntaxError):
        return text
    return found


def _values(field: ConfigDecl) -> Iterator[object]:
    """The values that a field certainly may have: its default, and what its annotation lists."""
    if field.default is not None and not field.default.factory and field.default.value.literal is not None:
        yield literal_eval(field.default.value.literal)
    for member in members_of(field.type):
        if member.name == "builtins.bool":
            yield from (True, False)
        elif member.name == "typing.Literal":
            listed = _key(member.text[member.text.find("[") :])
            yield from listed if isinstance(listed, list) else ()


_SEQUENTIALS = ("torch.nn.Sequential", "torch.nn.modules.container.Sequential", "qten_gen.Sequential")

_PLAIN_CONTAINERS = ("torch.nn.ModuleList", "torch.nn.ModuleDict")

_NO_NAMES = frozenset(f"builtins.{name}" for name in ("bool", "int", "float", "complex", "str", "bytes"))


def invalid_repeat(declaration: ModuleDecl, context: RuleContext) -> Iterator[Problem]:
    """The argument `repeat=` or `keys=` of a submodule cannot be used.

    `repeat=` creates a ModuleList with that many children, and `keys=` a ModuleDict with a child for each name. If a field had
    both, one of them would be ignored. The same name twice would create a single child. A name with a dot would raise KeyError,
    because dots separate the parts of a parameter's path.

    `keys` is a tuple of names, or the name of a config field or derived value that contains one. The classes of torch take no
    type of their children; `ModuleList[Block]` is imported from qten_gen.

    Example:

    -from qten_gen import Module, ModuleDict, submodule
    +from qten_gen import Module, ModuleDict, ModuleList, submodule
     from torch import nn


     class Net(Module):
         dim: int
    -    heads: ModuleDict[nn.Linear] = submodule(nn.Linear, "dim", 1, keys=("topic", "topic"))
    -                                                                       ^^^^^^^^^^^^^^^^^^
    +    depth: int
    +    tasks: tuple[str, ...]
    +    layers: ModuleList[nn.Linear] = submodule(nn.Linear, "dim", "dim", repeat="depth")
    +    heads: ModuleDict[nn.Linear] = submodule(nn.Linear, "dim", 1, keys="tasks")
    """
    config = {field.name: field for field in declaration.fields if isinstance(field, ConfigDecl | DerivedDecl)}
    for field in context.module_fields:
        if not isinstance(field, SubmoduleDecl | ParameterDecl) or (field.repeat is None and field.keys is None):
            continue
        inner = field.inner if isinstance(field, SubmoduleDecl) else None
        while inner is not None:
            yield from at(context.value_place(field.name), _repeat_problem(inner.keys, config))
            inner = inner.inner
        given = [name for name in ("repeat", "keys") if getattr(field, name) is not None]
        may_be_none = field.may_be_none if isinstance(field, SubmoduleDecl) else field.when is not None
        given += ["when"] if may_be_none else []
        if len(given) > 1:
            message = f"{field.name} has both {given[0]} and {given[1]}"
            help = "keep one of them: repeat creates a ModuleList, keys a ModuleDict"
            if "when" in given:
                help = "remove when; with repeat=0 or keys=() it is empty, and index in when leaves out children"
            yield Problem(message, context.argument_place(field.name, given[1]), help)
        if field.type.args and field.type.name in _PLAIN_CONTAINERS:
            cls = field.type.name.rpartition(".")[2]
            message = f"{field.type.text} is a TypeError, because the class of torch takes no type of children"
            help = f"write {cls}[...], with from qten_gen import {cls}"
            yield Problem(message, context.value_place(field.name), help)
        if isinstance(field, SubmoduleDecl) and field.repeat is not None and field.type.name in _SEQUENTIALS:
            annotated = field.type.text
            message = f"{field.name} is annotated {annotated}, but repeat= makes a ModuleList, which cannot be called"
            help = f"annotate it ModuleList[{annotated}], or write sequential(submodule(...), ...) without repeat="
            yield Problem(message, context.argument_place(field.name, "repeat"), help)
        yield from at(context.argument_place(field.name, "keys"), _repeat_problem(field.keys, config))


def _repeat_problem(
    keys: str | tuple[str, ...] | None, config: dict[str, ConfigDecl | DerivedDecl]
) -> tuple[str, str] | None:
    """The problem with `keys`, and how to fix it."""
    if isinstance(keys, tuple):
        wrong = [key for index, key in enumerate(keys) if not key or "." in key or key in keys[:index]]
        if wrong:
            help = "write each name once; a name cannot be empty or contain a dot"
            return f"{wrong[0]!r} cannot be the name of a child", help
    elif keys is not None:
        found = config.get(keys)
        if found is None:
            if not keys.isidentifier():
                help = f'write keys="names", with a field above: names: tuple[str, ...] = derived({keys!r})'
                return f"keys is the name of a config field or derived value, got {keys!r}", help
            help = did_you_mean(keys, config, f"for a single child, write keys=({keys!r},)")
            return f"there is no config field {keys!r}", help
        if found.type.name in _NO_NAMES:
            message = f"{keys} is annotated {found.type.text}, which cannot contain names"
            return message, f"write {keys}: tuple[str, ...]"
    return None
