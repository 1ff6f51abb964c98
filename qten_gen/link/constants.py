"""Replaces constants by their values where a declaration needs one: `param(SIZE)` is `param(3)` where a file says `SIZE = 3`.

Only names that a file binds once count, and only expressions whose result the text shows. Everything else stays as it is; the
rule `dynamic-declaration` reports it where the declaration depends on it.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable
from typing import NamedTuple

from ..common.python_text import literal_of
from ..common.records import replace
from ..model import (
    Argument,
    ClassSource,
    FieldSource,
    MethodSource,
    SourceFile,
    SpecifierCall,
    TypeExpr,
    Value,
    language,
)
from ..read.dimensions import parse
from .name_resolution import Names

_LONGEST = 1000
"""The length up to which strings and tuples are computed, and the bits of an integer."""
_DEEPEST = 20
"""How many constants may refer to each other."""

_NAME = r"[^\W\d]\w*(?:\.[^\W\d]\w*)*"

_MUTABLE = (list, dict, set)

Constant = bool | int | float | complex | str | bytes | None | tuple[object, ...]
Mutable = list[object] | dict[object, object] | set[object]


class _Known(NamedTuple):
    """A value that the text shows."""

    value: Constant | Mutable


Lookup = Callable[[str], "_Known | None"]

_BINARY: dict[type[ast.operator], Callable[..., object]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Div: operator.truediv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}
_UNARY: dict[type[ast.unaryop], Callable[..., object]] = {
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
    ast.Invert: operator.invert,
}


def with_constants(file: SourceFile, names: Names) -> SourceFile:
    """The file with constants in specifiers and class keywords replaced by their values."""
    return replace(file, classes=tuple(_class(cls, file, names) for cls in file.classes))


def _class(cls: ClassSource, file: SourceFile, names: Names) -> ClassSource:
    """A class statement with the constants in it replaced."""

    def lookup(name: str) -> _Known | None:
        own = file.constants.get(f"{cls.qualname}.{name}")
        # Attributes that refer to each other end in a RecursionError, which `_fold_text` takes for no value.
        return _constant(names.meaning(name, file), names, 0) if own is None else _fold_text(own, lookup)

    arguments = {field.name for field in cls.fields if field.annotation is not None and not field.is_class_variable}

    def of_fields(name: str) -> _Known | None:
        """A constructor argument is none: the class body knows its default only, which the rule `early-value` reports."""
        return None if name in arguments else lookup(name)

    return replace(
        cls,
        fields=tuple(_made(_field(field, of_fields), file, names) for field in cls.fields),
        methods=tuple(_method(method, lookup) for method in cls.methods),
        checks=tuple(_call(call, of_fields) for call in cls.checks),
        keywords=tuple((name, _value(value, lookup)) for name, value in cls.keywords),
        bases=tuple(_base(base, names, lookup) for base in cls.bases),
        values=tuple((name, _named(_value(value, lookup), names)) for name, value in cls.values),
    )


def _named(value: Value, names: Names) -> Value:
    """An attribute of a class with the names of the objects that it is, and is made by: `Tokens = Ids` where `Ids = Tensor`."""
    name, contains = names.object(value.name), tuple(map(names.object, value.contains))
    if name == value.name and contains == value.contains:
        return value
    torch_name = name if name.startswith("torch.") else None
    return replace(value, name=name, torch_name=torch_name, contains=contains)


def _field(field: FieldSource, lookup: Lookup) -> FieldSource:
    call = None if field.specifier is None else _call(field.specifier, lookup)
    value = None if field.value is None else _default(field.value, lookup)
    same = call is field.specifier and value is field.value
    return field if same else replace(field, specifier=call, value=value)


def _default(value: Value, lookup: Lookup) -> Value:
    """A default, which is generated as it stands, with its value for the rules."""
    if value.literal is not None or value.torch_name is not None or value.contains:
        return value
    known = _fold_text(value.text, lookup)
    if known is None:
        return value
    return replace(value, constant=literal_of(known.value), mutable=isinstance(known.value, _MUTABLE))


def _made(field: FieldSource, file: SourceFile, names: Names) -> FieldSource:
    """The field, with a note in its value where that is made by something which calls a specifier."""
    value = field.value
    if value is None or value.literal is not None or value.torch_name is not None:
        return field
    name = value.text.partition("(")[0]
    located = names.locate(names.meaning(name, file)) if re.fullmatch(_NAME, name) else None
    if located is None or located[1] not in located[0].makers:
        return field
    return replace(field, value=replace(value, contains=(*value.contains, language.PARAM)))


def _method(method: MethodSource, lookup: Lookup) -> MethodSource:
    call = None if method.specifier is None else _call(method.specifier, lookup)
    return method if call is method.specifier else replace(method, specifier=call)


def _base(base: TypeExpr, names: Names, lookup: Lookup) -> TypeExpr:
    """`TensorClass[FLAG]` with the flag as a string."""
    if not base.args or names.resolve(base.name) != language.TENSORCLASS:
        return base
    found = [(None if isinstance(arg, str) else _fold_text(arg.text, lookup), arg) for arg in base.args]
    args = tuple(known.value if known and isinstance(known.value, str) else arg for known, arg in found)
    return base if args == base.args else replace(base, args=args)


def _call(call: SpecifierCall, lookup: Lookup) -> SpecifierCall:
    arguments = tuple(
        _argument(call.name, position, argument, lookup) for position, argument in enumerate(call.arguments)
    )
    same = all(new is old for new, old in zip(arguments, call.arguments, strict=True))
    return call if same else replace(call, arguments=arguments)


def _argument(specifier: str, position: int, argument: Argument, lookup: Lookup) -> Argument:
    """An argument as if the value of its constant had been written; itself if it is not a constant."""
    given = argument.value
    if isinstance(given, SpecifierCall):
        call = _call(given, lookup)
        return argument if call is given else replace(argument, value=call)
    # A factory is called, not stored.
    if not isinstance(given, Value) or (specifier == language.FIELD and argument.keyword == "default_factory"):
        return argument
    if specifier == language.FIELD and argument.keyword == "default":
        default = _default(given, lookup)
        return argument if default is given else replace(argument, value=default)
    value = _value(given, lookup)
    if value is given or value.literal is None:
        return argument
    known: object = ast.literal_eval(value.literal)
    is_const = given.place != argument.place  # the value stands inside of `const(...)`
    if (
        not is_const
        and language.takes_dimension(specifier, position, argument.keyword)
        and _is_dimension(specifier, argument.keyword, known)
    ):
        text = known if isinstance(known, str) else str(known)
        return replace(argument, value=parse(text), text=text)
    return replace(argument, value=value)


def _is_dimension(specifier: str, keyword: str | None, known: object) -> bool:
    """True if a value is a dimension where one is taken; an argument of a child is one if it is a string."""
    if keyword == language.WHEN or (specifier == language.SUBMODULE and keyword != language.REPEAT):
        return type(known) is str
    return type(known) in (str, int)


def _value(value: Value, lookup: Lookup) -> Value:
    """The value as a literal, where the text shows what it is."""
    opaque = value.literal is None and value.torch_name is None and value.partial is None and not value.contains
    if not opaque or not value.is_callable or value.text.startswith("*"):  # `*SIZES` is no single value
        return value
    known = _fold_text(value.text, lookup)
    literal = None if known is None else literal_of(known.value)
    return value if literal is None else replace(value, literal=literal)


def _constant(qualified: str, names: Names, depth: int) -> _Known | None:
    """The value of a constant of the run, by its qualified name. The name of `FLAG = True` has been followed to `True`."""
    if qualified in ("builtins.True", "builtins.False"):
        return _Known(qualified == "builtins.True")
    located = names.locate(qualified)
    if located is None or depth > _DEEPEST:
        return None
    file, rest = located
    text = file.constants.get(rest)
    if text is None or not _is_plain(file, rest, names):
        return None
    return _fold_text(text, lambda name: _constant(names.meaning(name, file), names, depth + 1))


def _is_plain(file: SourceFile, name: str, names: Names) -> bool:
    """True if an attribute of a class is what the class body assigns: not in an enum, nor where a metaclass may change it."""
    cls = names.class_of(f"{file.module}.{name.partition('.')[0]}") if "." in name else None
    return cls is None or not (cls[1].bases or cls[1].keywords or cls[1].decorators)


def _fold_text(text: str, lookup: Lookup) -> _Known | None:
    if len(text) > _LONGEST:
        return None
    try:
        node = ast.parse(f"({text})", mode="eval").body
        return _fold(node, lookup)
    except (SyntaxError, ValueError, RecursionError, ArithmeticError, TypeError, LookupError):
        return None


def _fold(node: ast.expr, lookup: Lookup) -> _Known | None:
    """The value of an expression; None where the text does not show it. It raises what the operation raises."""
    match node:
        case ast.Constant(value) if value is not ...:
            return _Known(value)
        case ast.List() | ast.Dict() | ast.Set():
            return _Known(ast.literal_eval(node))
        case ast.Name() | ast.Attribute():
            return lookup(ast.unparse(node))
        case ast.UnaryOp(op, operand) if type(op) in _UNARY:
            return _applied(_UNARY[type(op)], _fold(operand, lookup))
        case ast.BinOp(left, op, right) if type(op) in _BINARY:
            return _binary(op, _fold(left, lookup), _fold(right, lookup))
        case ast.Tuple(elements):
            items = [_fold(element, lookup) for element in elements]
            known_items = [item.value for item in items if item is not None]
            return _Known(tuple(known_items)) if len(known_items) == len(items) else None
    return None


def _applied(function: Callable[..., object], *operands: _Known | None) -> _Known | None:
    values = [operand.value for operand in operands if operand is not None]
    if len(values) < len(operands):
        return None
    return _checked(function(*values))


def _binary(op: ast.operator, left: _Known | None, right: _Known | None) -> _Known | None:
    """The result of an operation, unless it would be too large to compute."""
    # Formatting may give a text of any length.
    if left is None or right is None or (isinstance(op, ast.Mod) and isinstance(left.value, str | bytes)):
        return None
    for one, other in ((left.value, right.value), (right.value, left.value)):
        if isinstance(op, ast.Mult) and isinstance(one, str | bytes | tuple) and not _fits(len(one), other):
            return None
    if isinstance(op, ast.Pow) and not (isinstance(right.value, int) and abs(right.value) <= 64):
        return None
    return _applied(_BINARY[type(op)], left, right)


def _fits(length: int, times: object) -> bool:
    return isinstance(times, int) and length * times <= _LONGEST


def _checked(value: object) -> _Known | None:
    if (isinstance(value, int) and value.bit_length() > _LONGEST) or (isinstance(value, str) and len(value) > _LONGEST):
        return None
    return _Known(value) if isinstance(value, bool | int | float | complex | str | bytes | tuple | None) else None
