"""The types of expressions over constructor arguments, and the mistakes that Python would find when it evaluates them.

A type is a set of alternatives. `UNKNOWN` among them stands for any other: only what is certain is reported.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping, Sequence

from ..common.records import field, record, replace
from ..common.suggestions import did_you_mean
from ..model import (
    ConfigDecl,
    ConfigurationClass,
    DerivedDecl,
    Dim,
    ModuleField,
    TypeExpr,
    language,
)
from ..model.dimensions import in_words, path_of
from ..model.field_kinds import members_of

Types = frozenset[TypeExpr]


def _builtin(name: str) -> Types:
    return frozenset({TypeExpr(f"builtins.{name}")})


UNKNOWN = TypeExpr("?")
ANY: Types = frozenset({UNKNOWN})
INT, FLOAT, BOOL, STR, TUPLE = map(_builtin, ("int", "float", "bool", "str", "tuple"))
NONE: Types = frozenset({TypeExpr("None")})

_NUMBERS = ("bool", "int", "float", "complex")
_SEQUENCES = frozenset(
    {"builtins.str", "builtins.bytes", "builtins.tuple", "builtins.list", "typing.Tuple", "typing.List"}
    | {"typing.Sequence", "collections.abc.Sequence"}
)
_MAPPINGS = frozenset({"builtins.dict", "typing.Dict", "typing.Mapping", "collections.abc.Mapping"})
_NO_NUMBERS = (
    _SEQUENCES
    | _MAPPINGS
    | {"builtins.set", "builtins.frozenset", "typing.Callable", "collections.abc.Callable", "None"}
)
_PLAIN = {f"builtins.{cls.__name__}": cls for cls in (bool, int, float, complex, str, bytes)} | {"None": type(None)}


@record(frozen=True, slots=True)
class Problem:
    """What Python would refuse when it evaluates an expression."""

    message: str
    help: str
    of: str
    """The text that it is about: `config.heads`."""
    about_none: bool = False
    """Whether a value may be None where it must not. A condition may rule that out."""
    about_attribute: bool = False
    """Whether an object has no attribute of a name."""


@record(frozen=True, slots=True)
class Names:
    """What the names in an expression mean."""

    fields: Mapping[str, ModuleField]
    configuration: Callable[[str], ConfigurationClass | None]
    """The attributes of a class, by its qualified name."""
    has_index: bool = False
    """Whether `index` is the position of a repeated child."""
    narrowed: Mapping[str, Types] = field(default_factory=dict)
    """What a condition says about the types of single paths: `config.hidden`."""

    def narrow(self, test: ast.expr, outcome: bool) -> Names:
        """What is known where a condition has that outcome."""
        found = dict(self.narrowed)
        for path, types in _consequences(test, outcome, self):
            found[path] = types
        return replace(self, narrowed=found) if found else self


def types_of(dim: Dim, names: Names) -> tuple[Types, tuple[Problem, ...]]:
    """The types that an expression may have, and what is wrong with it."""
    problems: list[Problem] = []
    return _Inference(problems).of(dim.node, names), tuple(problems)


def of_annotation(type: TypeExpr) -> Types:
    """The types that an annotation allows."""
    return frozenset(_known(member) for member in members_of(type))


def _known(type: TypeExpr) -> TypeExpr:
    return UNKNOWN if type.name in ("", "typing.Any", "typing.Literal", "builtins.object") else type


def without_none(types: Types) -> Types:
    """The types without None; any at all if nothing is left."""
    return types - NONE or ANY


def names_in(types: Iterable[TypeExpr]) -> frozenset[str]:
    """The qualified names of some types."""
    return frozenset(type.name for type in types)


def in_words_of(types: Types) -> str:
    """Types as a message says them: `int | None`."""
    shown = sorted(
        {type.text or type.name.rpartition(".")[2] for type in types}, key=lambda text: (text == "None", text)
    )
    return " | ".join(shown)


@record(frozen=True, slots=True)
class _Inference:
    """Finds the type of an expression from those of its parts, and collects problems on the way."""

    problems: list[Problem]

    def of(self, dim: ast.expr, names: Names) -> Types:
        """The types of an expression, under what conditions around it say."""
        path = path_of(dim)
        if path is not None and path in names.narrowed:
            return names.narrowed[path]
        match dim:
            case ast.Constant(value=value):
                return NONE if value is None else _builtin(type(value).__name__)
            case ast.Name(id=name):
                return _of_name(name, names)
            case ast.Attribute():
                return self._attribute(dim, names)
            case ast.Subscript():
                return self._item(dim, names)
            case ast.Tuple(elts=items):
                for item in items:
                    self.of(item, names)
                return TUPLE
            case ast.Call(func=ast.Name(id=function), args=arguments):
                return self._call(dim, function, arguments, names)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                types = self._number(operand, names)
                return frozenset(next(iter(INT)) if type.name == "builtins.bool" else type for type in types)
            case ast.UnaryOp(operand=operand):
                self.of(operand, names)
                return BOOL
            case ast.BinOp():
                return self._binary(dim, names)
            case ast.BoolOp(op=operator, values=values):
                return self._logical(isinstance(operator, ast.And), values, names)
            case ast.Compare():
                self._comparison(dim, names)
                return BOOL
            case ast.IfExp(body=then, test=test, orelse=otherwise):
                self.of(test, names)
                return self.of(then, names.narrow(test, True)) | self.of(otherwise, names.narrow(test, False))
        return ANY

    def _logical(self, is_and: bool, values: Sequence[ast.expr], names: Names) -> Types:
        """The types of `and` or `or`: each operand is evaluated under what those before it say."""
        found: Types = frozenset()
        for value in values:
            found = (found if is_and else found - NONE) | self.of(value, names)
            names = names.narrow(value, is_and)
        return found

    def _report(self, message: str, help: str, of: ast.expr, **about: bool) -> None:
        self.problems.append(Problem(message, help, in_words(of), **about))

    def _present(self, dim: ast.expr, names: Names, what: str) -> Types:
        """The types of an expression that must not be None where it stands."""
        types = self.of(dim, names)
        if NONE & types:
            shown = in_words(dim)
            help = f"write {shown}: int, or give an alternative: ({shown} or ...)" if what == "number" else ""
            help = help or f"give an alternative: {shown} if {shown} is not None else ..."
            self._report(f"{shown} may be None", help, dim, about_none=True)
        return without_none(types)

    def _number(self, dim: ast.expr, names: Names) -> Types:
        """The types of an operand of arithmetic that must be a number."""
        types = self._present(dim, names, "number")
        return self._checked_number(dim, types)

    def _checked_number(self, dim: ast.expr, types: Types) -> Types:
        """The types, if all of them may be numbers."""
        if names_in(types) & _NO_NUMBERS:
            self._report(f"{in_words(dim)} is not a number", _why(dim, types), dim)
            return ANY
        return types

    def _attribute(self, dim: ast.Attribute, names: Names) -> Types:
        """The types of an attribute, if its class is known: `config.width`."""
        holder = self._present(dim.value, names, "object")
        found: set[TypeExpr] = set()
        for type in holder:
            plain = _PLAIN.get(type.name)
            known = names.configuration(type.name) if plain is None else None
            if plain is not None and not hasattr(plain, dim.attr):
                shown = in_words(dim.value)
                help = f"{shown} is annotated {in_words_of(frozenset({type}))}"
                self._report(f"{shown} has no attribute {dim.attr}", help, dim, about_attribute=True)
            elif known is not None and dim.attr not in known.attributes and not dim.attr.startswith("_"):
                cls = type.name.rpartition(".")[2]
                public = [name for name in known.attributes if not name.startswith("_")]
                listed = ", ".join(public[:_MOST_LISTED]) + (", ..." if len(public) > _MOST_LISTED else "")
                help = did_you_mean(dim.attr, public, f"it has {listed}" if public else "add it to the class")
                message = f"{cls} has no attribute {dim.attr}"
                self._report(message, help, dim, about_attribute=True)
            annotation = known.attributes.get(dim.attr) if known is not None else None
            found |= ANY if annotation is None else of_annotation(annotation)
        return frozenset(found)

    def _item(self, dim: ast.Subscript, names: Names) -> Types:
        """The types of an element: `widths[index]`."""
        holder = self._present(dim.value, names, "object")
        index = self._present(dim.slice, names, "number")
        shown = in_words(dim.value)
        if names_in(holder) <= {f"builtins.{name}" for name in _NUMBERS}:
            self._report(f"{shown} has no items", f"{shown} is annotated {in_words_of(holder)}", dim.value)
            return ANY
        if names_in(holder) <= _SEQUENCES and names_in(index) <= _NO_NUMBERS | FLOAT_NAMES:
            self._report(
                f"{in_words(dim.slice)} is not an integer", f"it is the index of an item of {shown}", dim.slice
            )
        return frozenset(element for type in holder for element in _elements(type, dim.slice))

    def _call(self, dim: ast.Call, function: str, arguments: Sequence[ast.expr], names: Names) -> Types:
        """The types of what a function returns."""
        if function == "getattr":
            self.of(arguments[0], names)
            if not (isinstance(arguments[1], ast.Constant) and isinstance(arguments[1].value, str)):
                self._report("getattr takes the name of an attribute", 'write getattr(config, "name", default)', dim)
            self.of(arguments[2], names)
            return ANY
        if function == "bool":
            self.of(arguments[0], names)
            return BOOL
        types = [self._present(argument, names, "object") for argument in arguments]
        if function == "len":
            if names_in(types[0]) <= {f"builtins.{name}" for name in _NUMBERS}:
                shown = in_words(arguments[0])
                self._report(f"{shown} has no length", f"{shown} is a number", arguments[0])
            return INT
        if function in ("min", "max", "sum") and len(types) == 1:
            return frozenset(element for type in types[0] for element in _elements(type, None))
        if function in ("min", "max", "abs"):
            return frozenset(type for each in types for type in each)
        return FLOAT if function == "float" or len(types) > 1 else INT

    def _binary(self, dim: ast.BinOp, names: Names) -> Types:
        """The types of arithmetic: with numbers, or `+` and `*` with tuples."""
        operator = dim.op
        if isinstance(operator, ast.Add | ast.Mult | ast.Mod):
            left, right = (self._present(part, names, "number") for part in (dim.left, dim.right))
            if isinstance(operator, ast.Add) and _is_tuple(left) and _is_tuple(right):
                return TUPLE
            if isinstance(operator, ast.Mult) and _is_tuple(left) != _is_tuple(right):
                self._checked_number(*((dim.right, right) if _is_tuple(left) else (dim.left, left)))
                return TUPLE
            left, right = self._checked_number(dim.left, left), self._checked_number(dim.right, right)
        else:
            left, right = self._number(dim.left, names), self._number(dim.right, names)
        return _arithmetic(operator, left, right, dim.right)

    def _comparison(self, dim: ast.Compare, names: Names) -> None:
        """Look for values that cannot be compared by size."""
        left = dim.left
        for operator, right in zip(dim.ops, dim.comparators, strict=True):
            if type(operator) in _BY_SIZE:
                sides = [self._present(side, names, "number") for side in (left, right)]
                texts = [names_in(side) <= names_in(STR) for side in sides]
                numbers = [names_in(side) <= {f"builtins.{name}" for name in _NUMBERS} for side in sides]
                if (texts[0] and numbers[1]) or (numbers[0] and texts[1]):
                    of = left if texts[0] else right
                    self._report(
                        f"{in_words(of)} is not a number", f"it is compared with {_BY_SIZE[type(operator)]}", of
                    )
            else:
                self.of(left, names)
                self.of(right, names)
            left = right


_MOST_LISTED = 12
_BY_SIZE: dict[type[ast.cmpop], str] = {ast.Lt: "<", ast.Gt: ">", ast.LtE: "<=", ast.GtE: ">="}
FLOAT_NAMES = names_in(FLOAT)


def _of_name(name: str, names: Names) -> Types:
    found = names.fields.get(name)
    if isinstance(found, ConfigDecl | DerivedDecl):
        return of_annotation(found.type)
    return INT if name == language.INDEX and names.has_index else ANY


def _is_tuple(types: Types) -> bool:
    return names_in(types) <= {"builtins.tuple", "typing.Tuple"}


def _elements(type: TypeExpr, index: ast.expr | None) -> Types:
    """The types of the elements of a sequence or a dict, or of the one at an index."""
    if type.name == "builtins.str":
        return STR
    given = [argument for argument in type.args if isinstance(argument, TypeExpr)]
    if type.name in _MAPPINGS:
        return of_annotation(given[1]) if len(given) == 2 and index is not None else ANY
    if type.name not in _SEQUENCES or not given:
        return ANY
    if type.name.rpartition(".")[2].lower() == "tuple" and not (len(given) == 2 and given[1].name == "..."):
        match index:
            case ast.Constant(value=int(position)) if position < len(given):
                return of_annotation(given[position])
        return frozenset(one for argument in given for one in of_annotation(argument))
    return of_annotation(given[0])


def _arithmetic(operator: ast.operator, left: Types, right: Types, exponent: ast.expr) -> Types:
    """The type of the result of arithmetic with numbers."""
    found: set[TypeExpr] = set()
    for one in names_in(left):
        for other in names_in(right):
            widths = [_NUMBERS.index(name) for name in (one[9:], other[9:]) if name in _NUMBERS]
            if len(widths) < 2:
                return ANY
            widest = max(1, *widths)
            is_power = isinstance(operator, ast.Pow)
            if isinstance(operator, ast.Div) or (is_power and widest == 1 and not isinstance(exponent, ast.Constant)):
                widest = max(2, widest)
            if is_power and widest == 2 and max(widths) < 2:
                return ANY if not isinstance(exponent, ast.UnaryOp) else FLOAT
            found |= _builtin(_NUMBERS[widest])
    return frozenset(found)


def _consequences(test: ast.expr, outcome: bool, names: Names) -> Iterable[tuple[str, Types]]:
    """What the outcome of a condition says about the types of paths."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield from _consequences(operand, not outcome, names)
        case ast.BoolOp(op=operator, values=values) if outcome == isinstance(operator, ast.And):
            for value in values:
                yield from _consequences(value, outcome, names)
        case ast.Compare(
            left=left,
            ops=[ast.Is() | ast.IsNot() | ast.Eq() | ast.NotEq() as operator],
            comparators=[ast.Constant(value=None)],
        ):
            path = path_of(left)
            if path is not None:
                is_none = isinstance(operator, ast.Is | ast.Eq) == outcome
                types = _Inference([]).of(left, names)
                yield path, NONE if is_none else without_none(types)
        case ast.Call(func=ast.Name(id="bool"), args=[operand]):
            yield from _consequences(operand, outcome, names)
        case _:
            path = path_of(test)
            if path is not None and outcome:
                yield path, without_none(_Inference([]).of(test, names))


def _why(dim: ast.expr, types: Types) -> str:
    """The help for an operand that is not a number."""
    shown = in_words(dim)
    if isinstance(dim, ast.Name | ast.Attribute):
        return f"{shown} is annotated {in_words_of(types)}"
    return f"it is {in_words_of(types)}"
