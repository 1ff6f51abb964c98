"""An expression uses a name that is not a config field or a derived value, or one whose value does not fit.

The constructor computes sizes and other values from its own arguments, which are the fields with a plain annotation, and from
derived values. Any other name, such as that of a parameter, a buffer or a global variable, would raise NameError there. A size
that is not an integer would raise TypeError when the tensor is created.

An argument of a submodule can be the name of a config field of any type, which passes its value: `submodule(nn.Dropout, "rate")`
for `rate: float`. Among the arguments of a submodule with `repeat` or `keys`, and in its `when`, `index` is the position of each
child.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..common.suggestions import only_near
from ..model import ConfigDecl, DerivedDecl, ModuleDecl, SubmoduleDecl, declares, language
from ..model.diagnostics import Diagnostic, Fix, Kind
from ..model.dimensions import in_words, path_of
from .expression_types import BOOL, NONE, UNKNOWN, Types, in_words_of, names_in, of_annotation, types_of
from .module_expressions import Expression, Use, expressions, unknown_names, usable_names
from .rule_input import RuleContext

KIND = Kind("QG302", "unknown-dimension")

EXAMPLE = """
 from qten_gen import Module, param
 from torch import nn


 class Project(Module):
     dim: int
-    weight: nn.Parameter = param("3*dmi", "dim", initializer=nn.init.xavier_uniform_)
-                                    ^^^
+    weight: nn.Parameter = param("3*dim", "dim", initializer=nn.init.xavier_uniform_)
"""

_INTEGERS = frozenset({"builtins.int", "builtins.bool"})
_WIDER = {
    "builtins.bool": ("builtins.int", "builtins.float", "builtins.complex"),
    "builtins.int": ("builtins.float", "builtins.complex"),
}
"""The types whose annotations take a value of a narrower one."""


def check(context: RuleContext) -> Iterator[Diagnostic]:
    if not isinstance(context.declaration, ModuleDecl):
        return
    declared = {field.name: field for field in context.declaration.fields}
    yield from _index_is_a_field(context, context.declaration)
    for expression in expressions(context):
        place = expression.argument.place
        unknown = list(unknown_names(expression, declared))
        usable = usable_names(expression, declared)
        for name, message, help in unknown:
            within = expression.span(name)
            meant = only_near(name, usable) if name not in declared and within else None
            fix = None if meant is None else Fix(meant, place, within)
            yield Diagnostic(KIND, message, place, help, within=within, fix=fix)
        if not unknown and expression.use is not Use.VALUE:
            for message, help in _of_result(expression, text := in_words(expression.dim)):
                yield Diagnostic(KIND, message, place, help, within=expression.span(text))


def _of_result(expression: Expression, text: str) -> Iterator[tuple[str, str]]:
    """The problem with the value of an expression, and how to fix it."""
    types = types_of(expression.dim.node, expression.names)
    if expression.use in (Use.SIZE, Use.COUNT):
        yield from _of_size(expression, types, text)
    elif (
        expression.use in (Use.CHECK, Use.CONDITION) and UNKNOWN not in types and "builtins.bool" not in names_in(types)
    ):
        yield f"{text} is not a bool", f"it is {in_words_of(types)}: write a comparison, such as {text} > 0"
    elif expression.use is Use.DERIVED and isinstance(expression.field, DerivedDecl):
        field = expression.field
        if not _fits(types, of_annotation(field.type)):
            message = f"{field.name} is annotated {field.type.text}, but {text} is {in_words_of(types)}"
            yield message, f"write {field.name}: {in_words_of(types)}, or compute what the annotation says"


def _of_size(expression: Expression, types: Types, text: str) -> Iterator[tuple[str, str]]:
    """The problem with a size that is certainly not an integer, or that may be None."""
    is_flag = types == BOOL and path_of(expression.dim.node) is None
    if UNKNOWN in types or (types != NONE and names_in(types - NONE) <= _INTEGERS and not is_flag):
        if NONE & types and not expression.is_conditional:
            path = path_of(expression.dim.node) or text
            help = f'write {path}: int, or when="..." with a config field that says whether there is one'
            yield f"{path} may be None", help
        return
    if types == NONE and expression.is_conditional:
        return
    is_path = path_of(expression.dim.node) is not None
    help = f"dimensions are integers, but {text} is {'annotated ' if is_path else ''}{in_words_of(types)}"
    if not is_path and names_in(types) == {"builtins.float"}:
        help = f"{help}: write // for the quotient of integers, or int({text})"
    yield f"{text} is not an integer", help


def _fits(types: Types, annotated: Types) -> bool:
    """Whether an annotation allows the types, as far as both are known."""
    allowed = names_in(annotated)
    if UNKNOWN in annotated or not all(name in _KNOWN for name in allowed):
        return True
    return all(
        type == UNKNOWN
        or type.name not in _KNOWN
        or type.name in allowed
        or allowed.intersection(_WIDER.get(type.name, ()))
        for type in types
    )


_KNOWN = frozenset({"None", *(f"builtins.{name}" for name in ("bool", "int", "float", "complex", "str", "tuple"))})


def _index_is_a_field(context: RuleContext, declaration: ModuleDecl) -> Iterator[Diagnostic]:
    """Whether `index` means two things: a config field, and the position of a repeated child, in the class or a base."""
    if not any(
        isinstance(field, ConfigDecl | DerivedDecl) and field.name == language.INDEX for field in declaration.fields
    ):
        return
    for field in declaration.fields:
        if isinstance(field, SubmoduleDecl) and field.has_positions and field.mentions_index:
            message = f"index is the position of each child of {field.name}, and also a config field"
            place = context.value_place(field.name) if declares(declaration, field) else context.name_place
            yield Diagnostic(KIND, message, place, "rename the config field")
