"""The parts that the setting `shapes` adds to class statements in stubs: portable shape annotations, which pyrefly 1.4 reads.

`Shaped[Tensor, "[b, t, width]"]` is `Annotated` under another name, so any other checker reads `Tensor`. `shape_vars` declares
the names in the strings: for a class, its config fields of type `int`; for a function, the other names in its jaxtyping
annotations. `Shaped[Block, "width, 4"]` is a child with its sizes. A batch has its sizes in the constructor alone, as most of its
methods give objects of other sizes. What pyrefly has no word for, such as a size that another name computes, stays a plain
tensor, which fits everywhere.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from keyword import iskeyword

from ..model import (
    BufferDecl,
    ConfigDecl,
    Declaration,
    Dim,
    FieldDecl,
    ModuleDecl,
    ModuleField,
    ParameterDecl,
    SubmoduleDecl,
    TensorClassDecl,
    Value,
    home,
)
from ..model.array_shapes import ANY_DTYPE, DTYPES, FAMILIES, Axis, AxisKind, UnreadableShape, read_axes
from . import layout
from .exact_classes import says_shapes, sizes
from .stub_names import StubNames

_ARRAY = re.compile(
    rf"""[\w.]*\b_*(?:{"|".join((*FAMILIES, *DTYPES, ANY_DTYPE))})\[([\w.]*Tensor), (?:"([^"\\]*)"|'([^'\\]*)')\]"""
)
"""A jaxtyping annotation in the text of a stub."""
_OF_SELF = re.compile(r"\bself\.")
_ARITHMETIC = (ast.BinOp, ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Name, ast.Load, ast.Constant)
_BATCH = "batch"
"""The name of the batch dimensions, `*batch`."""


def shaped(declaration: Declaration, names: StubNames, forward: Sequence[str]) -> tuple[str, list[str]]:
    """The decorator of a class with its line end, and the members with shapes: parameters, the constructor and the call.

    Args:
        declaration: One that `says_shapes`.
        names: The names of the stub.
        forward: The texts of a Module's call, one for each overload.
    """
    if isinstance(declaration, TensorClassDecl):
        return "", [_batch_constructor(declaration, names)]
    known = sizes(declaration)
    members = [*_held(declaration, names, known), _constructor(declaration, names, known)]
    return f"{_shape_vars(known, names)}\n", [*members, *(_call(forward[0], names, known) if len(forward) == 1 else ())]


def _shape_vars(declared: Collection[str], names: StubNames) -> str:
    return f'@{names.aliases.use("_shape_vars")}("{", ".join(declared)}")'


def _held(declaration: ModuleDecl, names: StubNames, known: Collection[str]) -> Iterator[str]:
    """The parameters and buffers that are always there. Each has a value, as in `class_stub`."""
    for field in declaration.fields:
        if not isinstance(field, ParameterDecl | BufferDecl) or field.when is not None or not field.dims:
            continue
        if isinstance(field, ParameterDecl) and (field.is_several or field.tie is not None):
            continue
        spelled = [_arithmetic(dim.text, known) for dim in field.dims]
        if field.type.name.endswith((".Parameter", ".Tensor")) and None not in spelled:
            held = names.type(field.type, home(field))
            shape = ", ".join(filter(None, spelled))
            yield f'{field.name}: {names.aliases.use("_Shaped")}[{held}, "[{shape}]"] = ...'


def sized_child(
    field: FieldDecl | ModuleField, declaration: Declaration, names: StubNames, related: Mapping[str, Declaration]
) -> str | None:
    """The type of a child, or of a list of equal ones, with the sizes that its arguments say; None where they do not."""
    if not (isinstance(field, SubmoduleDecl) and isinstance(declaration, ModuleDecl)) or field.when or field.inner:
        return None
    child = related.get(field.made)
    each = field.type.args[0] if field.is_repeated and len(field.type.args) == 1 else field.type
    if not isinstance(child, ModuleDecl) or not says_shapes(child) or isinstance(each, str) or each.name != field.made:
        return None
    given = _sizes_given(field, child, sizes(declaration))
    if given is None:
        return None
    held = names.type(each, home(field), given=True)
    sized = f'{names.aliases.use("_Shaped")}[{held}, "{", ".join(given)}"]'
    return (
        sized
        if each is field.type
        else names.type(field.type, home(field), given=True).replace(f"[{held}]", f"[{sized}]")
    )


def _sizes_given(field: SubmoduleDecl, child: ModuleDecl, known: Collection[str]) -> list[str] | None:
    """Each size of a child in terms of the sizes of the class that holds it."""
    taken = [each for each in child.fields if isinstance(each, ConfigDecl)]
    texts = {each.name: _size(each.default.value) for each in taken if each.default is not None}
    positional = iter([each.name for each in taken if not each.kw_only])
    for argument in field.arguments:
        texts[argument.keyword or next(positional, "")] = _size(argument.value)
    spelled = [_arithmetic(texts.get(name, ""), known) for name in sizes(child)]
    return None if None in spelled else [each for each in spelled if each is not None]


def _size(value: object) -> str:
    """The expression or the number that a value is; empty for another, which Python computes in the class body."""
    if isinstance(value, Dim):
        return value.text
    return value.text if isinstance(value, Value) and value.text.isdecimal() else ""


def _constructor(declaration: ModuleDecl, names: StubNames, known: Collection[str]) -> str:
    """The constructor of a Module, which pyrefly learns the sizes of an object from."""
    fields = [field for field in declaration.fields if isinstance(field, ConfigDecl)]
    torch, none = names.aliases.use("_torch"), " | None = ..."
    last = [
        f"device: {torch}.device | {names.builtin('str')} | {names.builtin('int')}{none}",
        f"dtype: {torch}.dtype{none}",
    ]
    return _init(
        [field for field in fields if not field.kw_only],
        [field for field in fields if field.kw_only],
        last,
        names,
        known,
    )


def _batch_constructor(declaration: TensorClassDecl, names: StubNames) -> str:
    """The constructor of a TensorClass, in which a name of a dimension is one size in all fields."""
    t, torch, none = names.aliases.use("_t"), names.aliases.use("_torch"), " | None = ..."
    string, integer = names.builtin("str"), names.builtin("int")
    last = [
        f"batch_size: {integer} | {t}.Sequence[{integer}]{none}",
        f"device: {torch}.device | {string} | {integer}{none}",
        f"names: {t}.Sequence[{string} | None]{none}",
        f"lock: {names.builtin('bool')} = ...",
    ]
    fields = declaration.fields
    text = _init(
        [field for field in fields if not field.kw_only], [field for field in fields if field.kw_only], last, names, ()
    )
    scope = _Scope(names, ())
    text = scope.shaped(text)
    return f"{_shape_vars(scope.variables, names)}\n    {text}"


def _init(
    positional: Collection[ConfigDecl | FieldDecl],
    keywords: Collection[ConfigDecl | FieldDecl],
    last: list[str],
    names: StubNames,
    known: Collection[str],
) -> str:
    """The text of a constructor."""
    texts = [
        *(_argument(field, names, known) for field in positional),
        "*",
        *(_argument(field, names, known) for field in keywords),
    ]
    return layout.bracketed("def __init__(", ["self", *texts, *last], ") -> None: ...", 4)


def _argument(field: ConfigDecl | FieldDecl, names: StubNames, known: Collection[str]) -> str:
    """An argument of a constructor. The default of a size is written out, so that its value is known."""
    type = names.type(field.type, home(field))
    if field.name not in known:
        return f"{field.argument}: {type}{'' if field.default is None else ' = ...'}"
    number = "" if field.default is None else field.default.value.text
    default = number if number.isdecimal() else "..." if field.default is not None else ""
    return (
        f'{field.argument}: {names.aliases.use("_Shaped")}[{type}, "{field.name}"]{f" = {default}" if default else ""}'
    )


def _call(forward: str, names: StubNames, known: Collection[str]) -> Iterator[str]:
    """The call of a Module, if its `forward` says shapes."""
    parameters, arrow, result = forward.rpartition(") -> ")
    scope = _Scope(names, known)
    text = f"{scope.shaped(parameters)}{arrow}{scope.shaped(result, is_result=True)}"
    if text != forward:
        yield f"{_shape_vars(scope.variables, names)}\n    {text}"


class _Scope:
    """The names of dimensions in one function: those of its class, and those that its parameters bind."""

    def __init__(self, names: StubNames, known: Collection[str]) -> None:
        self._names = names
        self._sizes = frozenset(known)
        self.variables: dict[str, None] = {}
        """The variables that `shape_vars` declares for the function: `b`, `*batch`."""

    def shaped(self, text: str, *, is_result: bool = False) -> str:
        """A text with the annotations of jaxtyping in the words of pyrefly, where it has words for them."""
        return _ARRAY.sub(lambda found: self._annotation(found, is_result), text)

    def _annotation(self, found: re.Match[str], is_result: bool) -> str:
        try:
            axes = read_axes(found[2] or found[3] or "", expressions=True)
        except UnreadableShape:
            return found[0]
        before = dict(self.variables)
        spelled = [self._axis(axis, is_result) for axis in axes]
        if None in spelled:
            self.variables = before  # an annotation without words binds none of its names
            return found[0]
        return f'{self._names.aliases.use("_Shaped")}[{found[1]}, "[{", ".join(filter(None, spelled))}]"]'

    def _axis(self, axis: Axis, is_result: bool) -> str | None:
        """A dimension, or several; None if pyrefly has no word for it."""
        match axis.kind:
            case AxisKind.SIZE:
                return axis.value
            case AxisKind.NAME if axis.value in self._sizes:
                return axis.value
            case AxisKind.NAME:
                return self._variable(axis.value, is_result)
            case AxisKind.BATCH | AxisKind.SEVERAL:
                name = self._variable(f"*{axis.value or _BATCH}", is_result)
                return name and f"*{self._names.aliases.use('_Elements')}[{name[1:]}]"
            case AxisKind.EXPRESSION:
                bound = {name for name in self.variables if not name.startswith("*")} if is_result else set()
                return _arithmetic(
                    _OF_SELF.sub("", axis.value.replace("{", "(").replace("}", ")")), {*self._sizes, *bound}
                )
            # A result binds no names, and without one the dimensions cannot be said.
            case AxisKind.REST if not is_result:
                return f"*{self._names.aliases.use('_Elements')}[{self._fresh('*')[1:]}]"
            case AxisKind.ANY | AxisKind.BROADCAST if not is_result:
                return self._fresh("")
        return None

    def _variable(self, name: str, is_result: bool) -> str | None:
        """A name that a parameter binds. A result has no others, and none is both one size and several."""
        other = name[1:] if name.startswith("*") else f"*{name}"
        if other in self.variables or other in self._sizes or other[1:] in self._sizes or iskeyword(name.lstrip("*")):
            return None
        if is_result and name not in self.variables:
            return None
        self.variables[name] = None
        return name

    def _fresh(self, star: str) -> str:
        """A name for dimensions that have none."""
        name = f"{star}any_{len(self.variables)}"
        self.variables[name] = None
        return name


def _arithmetic(text: str, known: Collection[str]) -> str | None:
    """An expression over known sizes, as pyrefly reads it; None for any other."""
    try:
        tree = ast.parse(text, mode="eval").body
    except SyntaxError:
        return None
    for node in ast.walk(tree):
        if not isinstance(node, _ARITHMETIC) or (isinstance(node, ast.Name) and node.id not in known):
            return None
        if isinstance(node, ast.Constant) and type(node.value) is not int:
            return None
    return ast.unparse(tree)
