"""The statements of a generated constructor: derived values and checks, and the registration of children and tensors."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from ..model import (
    Argument,
    BufferDecl,
    CheckDecl,
    Dim,
    ModuleDecl,
    ModuleField,
    ParameterDecl,
    SpecifierCall,
    SubmoduleDecl,
    Value,
    language,
)
from ..model.build_field import computed
from ..model.dimensions import canonical, dim_names, to_python
from ..model.foreign_classes import PLACED, WITHOUT_TENSORS
from . import layout, spelling
from .names import Builtins

# `<` has no opposite here: of NaN, neither it nor `>=` is true.
_OPPOSITES: dict[type[ast.cmpop], ast.cmpop] = {
    ast.Eq: ast.NotEq(),
    ast.NotEq: ast.Eq(),
    ast.In: ast.NotIn(),
    ast.NotIn: ast.In(),
    ast.Is: ast.IsNot(),
    ast.IsNot: ast.Is(),
}


def statements(declaration: ModuleDecl, builtins: Builtins) -> Iterator[str]:
    """One statement for each derived value and each check, in an order in which all that they mention is known."""
    for step in computed(declaration):
        match step:
            case CheckDecl(condition):
                yield f"if {written(opposite(condition), builtins)}:\n            {_raised(condition)}"
            case field:
                yield f"{field.name} = {written(field.value, builtins)}"


def _raised(condition: Dim) -> str:
    """The statement that raises the error of a check, with the values that the condition mentions."""
    names = [f"{name}={name}" for name in sorted(dim_names(condition))]
    return layout.bracketed(
        "raise _features.failed_check(",
        ["self", layout.quoted_string(to_python(condition)), *names],
        ")",
        12,
    )


def opposite(condition: Dim) -> Dim:
    """The condition that holds where another does not."""
    match condition.node:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return Dim(canonical(operand))
        case ast.Compare(left=left, ops=[operator], comparators=others) if type(operator) in _OPPOSITES:
            return Dim(canonical(ast.Compare(left, [_OPPOSITES[type(operator)]], others)))
    return Dim(canonical(ast.UnaryOp(ast.Not(), condition.node)))


def written(dim: Dim, builtins: Builtins) -> str:
    """An expression over the variables of a generated constructor."""
    return to_python(dim, builtin=builtins.name)


def if_wanted(made: str, when: Dim | None, builtins: Builtins) -> str:
    """An expression, or None where a condition is false."""
    return made if when is None else f"{made} if {written(when, builtins)} else None"


def either(when: Dim, made: str, otherwise: str, builtins: Builtins) -> str:
    """The statements of a constructor that do one of two things, as a condition says."""
    return f"if {written(when, builtins)}:\n            {made}\n        else:\n            {otherwise}"


Siblings = Mapping[str, str]
"""The classes of the same file that a generated constructor may call by name, by their qualified names."""

_LAYERS = PLACED | WITHOUT_TENSORS


class _Owner(NamedTuple):
    """The class whose constructor makes the children, and the names that its text uses."""

    name: str
    siblings: Siblings
    builtins: Builtins


def registration_of_child(field: SubmoduleDecl, owner: str, siblings: Siblings, builtins: Builtins) -> str:
    """The statement that makes a child and registers it, or None where a condition is false."""
    of = _Owner(owner, siblings, builtins)
    if field.when is None or field.is_repeated:  # of several, a condition is about each
        return _each(field, field.name, of, 8, f"self.{field.name} = ")
    made = _each(field, field.name, of, 12, f"self.{field.name} = ")
    return either(field.when, made, f'self.register_module("{field.name}", None)', builtins)


def _each(field: SubmoduleDecl, key: str, owner: _Owner, indent: int, target: str = "") -> str:
    """The expression that makes the child whose record `key` leads to, or the list or dict of several, behind `target`."""
    if field.repeat is None and field.keys is None:
        return _construct(field.cls, field.arguments, owner, key, indent, target)
    inside = field.inner
    call = (
        _construct(field.cls, field.arguments, owner, key, indent + 4)
        if inside is None
        else _each(inside, f"{key}.cls", owner, indent + 4)
    )
    item, clause = several(field.repeat, field.keys, call, owner.builtins, field.mentioned)
    if field.is_filtered and field.when is not None:
        clause = f"{clause} if {written(field.when, owner.builtins)}"
    brackets = ("_rt.ModuleList([", "])") if field.repeat is not None else ("_rt.ModuleDict({", "})")
    return layout.comprehension(f"{target}{brackets[0]}", item, clause, brackets[1], indent)


def several(
    repeat: Dim | None, keys: str | tuple[str, ...] | None, made: str, builtins: Builtins, mentioned: Collection[str]
) -> tuple[str, str]:
    """The item and the clause of the comprehension over as many as `repeat` says, or over the names in `keys`.

    Its variables have the names `index` and `key` where an expression mentions these.
    """
    if repeat is not None:
        counter = language.INDEX if language.INDEX in mentioned else "_"
        return made, f"for {counter} in {builtins.name('range')}({written(repeat, builtins)})"
    names = keys if isinstance(keys, str) else layout.names(keys or (), 0, "")
    name = language.KEY if language.KEY in mentioned else "_name"
    if language.INDEX in mentioned:
        return f"{name}: {made}", f"for {language.INDEX}, {name} in {builtins.name('enumerate')}({names})"
    return f"{name}: {made}", f"for {name} in {names}"


def _construct(
    cls: Value, arguments: Sequence[Argument], owner: _Owner, key: str, indent: int, target: str = ""
) -> str:
    """The call that makes one child. `key` leads to its record in the declaration: `blocks`, `blocks.args.0`."""
    if cls.name == language.CHAIN:
        return _sequence(arguments, owner, key, indent, target)
    called = _called(cls, owner)
    given = list(_arguments(cls, arguments, owner, key, indent + 4))
    if called is not None:
        return layout.bracketed(f"{target}{called}(", given, ")", indent)
    return layout.bracketed(f"{target}_rt.construct(", [_value(cls, owner, f"{key}.cls"), *given], ")", indent)


def _called(cls: Value, owner: _Owner) -> str | None:
    """The class as its constructor is called, where that is known to take what it is given; None for another class."""
    if cls.choice is not None:
        return None
    if cls.name in owner.siblings:
        return owner.siblings[cls.name]
    layer = (cls.torch_name or "").removeprefix("torch.nn.")
    return spelling.torch_name(f"torch.nn.{layer}") if layer in _LAYERS else None


def _sequence(arguments: Sequence[Argument], owner: _Owner, key: str, indent: int, target: str) -> str:
    """The members of a sequence, each a child of its own, which have indexes or names."""
    names = [argument.keyword for argument in arguments if argument.keyword is not None]
    if not names:
        members = [
            _member(argument, owner, f"{key}.args.{index}", indent + 4) for index, argument in enumerate(arguments)
        ]
        return layout.bracketed(f"{target}_rt.Sequential(", members, ")", indent)
    found = [
        f'"{argument.keyword}": {_member(argument, owner, f"{key}.kwargs.{argument.keyword}", indent + 8)}'
        for argument in arguments
    ]
    named = layout.bracketed("_OrderedDict({", found, "})", indent + 4)
    return layout.bracketed(f"{target}_rt.Sequential(", [named], ")", indent)


def _member(argument: Argument, owner: _Owner, key: str, indent: int) -> str:
    """A member of a sequence: several with `repeat`, and the identity where its condition is false."""
    call = argument.value
    if not isinstance(call, SpecifierCall):
        return _argument(argument, owner, key, indent)
    made = _nested(call, owner, key, indent)
    when, repeat = (call.get(keyword) for keyword in ("when", language.REPEAT))
    if when is not None and isinstance(when.value, Dim):
        identity = spelling.torch_name("torch.nn.Identity")
        made = f"{made} if {written(when.value, owner.builtins)} else {identity}()"
    if repeat is not None and isinstance(repeat.value, Dim):
        mentioned = {name for dim in call.nested_dims for name in dim_names(dim)}
        item, clause = several(repeat.value, None, made, owner.builtins, mentioned)
        return layout.comprehension("*[", item, clause, "]", indent)
    return made


def _nested(call: SpecifierCall, owner: _Owner, key: str, indent: int) -> str:
    """A child among the arguments of another."""
    match call.arguments:
        case (Argument(value=Value() as cls), *arguments):
            own = language.SPECIFIER_KEYWORDS[language.SUBMODULE]
            return _construct(cls, [each for each in arguments if each.keyword not in own], owner, key, indent)
    raise ValueError(f"a rule has to stop this child: {call}")


def _arguments(cls: Value, arguments: Sequence[Argument], owner: _Owner, key: str, indent: int) -> Iterator[str]:
    """The arguments of a class: the declared ones, and the owner's device and dtype."""
    positional = [argument for argument in arguments if argument.keyword is None]
    keywords = {argument.keyword: argument for argument in arguments if argument.keyword is not None}
    for index, argument in enumerate(positional):
        yield _argument(argument, owner, f"{key}.args.{index}", indent)
    for keyword, argument in keywords.items():
        yield f"{keyword}={_argument(argument, owner, f'{key}.kwargs.{keyword}', indent)}"
    if (cls.torch_name or "").removeprefix("torch.nn.") not in WITHOUT_TENSORS:
        yield from (f"{name}={name}" for name in ("device", "dtype") if name not in keywords)


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
        return spelling.value(given, owner.name, key)
    selector = given.choice.selector
    if not isinstance(selector, Dim):
        raise ValueError(f"a rule has to stop this choice: {given.text}")
    text = written(selector, owner.builtins)
    if given.choice.is_given:
        return text
    arguments = f'{owner.name}, "{key}", {text}, {layout.quoted_string(to_python(selector))}'
    return f"_features.chosen({arguments})"


def registration_of_tensor(field: ParameterDecl | BufferDecl, owner: str, builtins: Builtins) -> str:
    """The statement that registers one field, over as many lines as it needs."""
    quoted = f'"{field.name}"'
    match field:
        case ParameterDecl(tie=str(path)):
            shape = f", {spelling.shape(field.dims, builtins)}" if field.dims else ""
            tied = f"_features.tied_parameter(self, {layout.quoted_string(path)}{shape})"
            made = if_wanted(tied, field.when, builtins)
            return layout.bracketed("self.register_parameter(", [quoted, made], ")", 8)
        case ParameterDecl(value=Value()) | BufferDecl(value=Value()):
            return _computed(field, owner, builtins)
        case ParameterDecl() if is_several(field):
            return _several_parameters(field, owner, builtins)
        case ParameterDecl(requires_grad=requires_grad):
            frozen = [] if requires_grad else ["requires_grad=False"]
            return layout.bracketed(
                "_rt.new_parameter(",
                ["self", quoted, *_allocation(field, owner, builtins), *frozen],
                ")",
                8,
            )
        case BufferDecl(persistent=persistent):
            kept = [] if persistent else ["persistent=False"]
            return layout.bracketed(
                "_rt.new_buffer(", ["self", quoted, *_allocation(field, owner, builtins), *kept], ")", 8
            )


def _computed(field: ParameterDecl | BufferDecl, owner: str, builtins: Builtins) -> str:
    """The statement that computes a parameter or buffer and registers it, or None where a condition is false."""
    arguments = ["self", f'"{field.name}"', computing_function(field, owner), "device", "dtype"]
    if field.dims:
        arguments.append(spelling.shape(field.dims, builtins))
    if isinstance(field, ParameterDecl):
        head, none = "_features.register_parameter_value(", f'self.register_parameter("{field.name}", None)'
        arguments += [] if field.requires_grad else ["requires_grad=False"]
    else:
        kept = [] if field.persistent else ["persistent=False"]
        head, none = (
            "_features.register_value(",
            "self.register_buffer(" + ", ".join([f'"{field.name}"', "None", *kept]) + ")",
        )
        arguments += kept
    if field.dtype is not None:
        arguments.append(f"own_dtype={spelling.value(field.dtype, owner, f'{field.name}.dtype')}")
    if field.when is None:
        return layout.bracketed(head, arguments, ")", 8)
    made = layout.bracketed(head, arguments, ")", 12)
    return either(field.when, made, none, builtins)


def computing_function(field: ParameterDecl | BufferDecl, owner: str) -> str:
    """The function that computes a value: the name of a method, or the function that the declaration gave."""
    assert field.value is not None
    if field.value.method is not None:
        return layout.quoted_string(field.value.method)
    return spelling.value(field.value, owner, f"{field.name}.value")


def _several_parameters(field: ParameterDecl, owner: str, builtins: Builtins) -> str:
    """The statement that registers a list or dict of parameters."""
    mentioned = {name for dim in field.dims for name in dim_names(dim)}
    item, clause = several(field.repeat, field.keys, spelling.shape(field.dims, builtins), builtins, mentioned)
    brackets = "[]" if field.repeat is not None else "{}"
    shapes = layout.comprehension(brackets[0], item, clause, brackets[1], 12)
    arguments = [
        "self",
        f'"{field.name}"',
        if_wanted(shapes, field.when, builtins),
        *_allocation(field, owner, builtins)[1:],
    ]
    frozen = [] if field.requires_grad else ["requires_grad=False"]
    return layout.bracketed("_features.register_parameters(", [*arguments, *frozen], ")", 8)


def is_several(field: ModuleField) -> bool:
    """True if it is a list or a dict of parameters."""
    return isinstance(field, ParameterDecl) and field.is_several


def is_computed(field: ModuleField) -> bool:
    return isinstance(field, ParameterDecl | BufferDecl) and field.value is not None


def _allocation(field: ParameterDecl | BufferDecl, owner: str, builtins: Builtins) -> tuple[str, str, str]:
    dtype = "dtype" if field.dtype is None else spelling.value(field.dtype, owner, f"{field.name}.dtype")
    return if_wanted(spelling.shape(field.dims, builtins), field.when, builtins), "device", dtype
