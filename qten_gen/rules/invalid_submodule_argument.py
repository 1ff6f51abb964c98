"""The arguments of a submodule do not fit its class.

The constructor would raise TypeError when the first instance is made: an argument that the class does not take, one that is
missing, or one too many. Type checkers do not see it, because `submodule(cls, ...)` takes any arguments.

The rule knows the classes of the run, declared or with an `__init__` written by hand, and at run time every class that is not
torch's. `device` and `dtype` come from the owner.
"""

from __future__ import annotations

import ast
from ast import literal_eval
from collections.abc import Collection, Iterator, Mapping

from ..common.records import dataclass
from ..common.suggestions import did_you_mean
from ..model import (
    Argument,
    ClassSource,
    ConfigDecl,
    Dim,
    ModuleDecl,
    NodePath,
    SpecifierCall,
    SubmoduleDecl,
    TypeExpr,
    Value,
    language,
)
from ..model.diagnostics import Diagnostic, Kind
from ..model.dimensions import in_words
from ..model.field_kinds import members_of
from .context import RuleContext
from .expression_types import NONE, UNKNOWN, Names, in_words_of, types_of
from .expressions import configurations

KIND = Kind("QG320", "invalid-submodule-argument", can_be_wrong=True)

GOOD = """
from qten_gen import Module, submodule


class Block(Module):
    dim: int
    heads: int = 4


class Net(Module):
    dim: int
    block: Block = submodule(Block, "dim", heads=2)
"""

BAD = """
from qten_gen import Module, submodule


class Block(Module):
    dim: int
    heads: int = 4


class Net(Module):
    dim: int
    block: Block = submodule(Block, "dim", head=2)
                                           ^^^^
"""

_FROM_THE_OWNER = frozenset({"device", "dtype"})


@dataclass(frozen=True, slots=True)
class _Parameters:
    """What a constructor takes."""

    positional: tuple[str, ...]
    """The parameters that can be given by position, in order."""
    unnamed: frozenset[str]
    """Those that cannot be given by keyword."""
    keyword_only: tuple[str, ...]
    required: frozenset[str]
    many: bool
    """Whether it takes any number of positional arguments."""
    any_keyword: bool

    @property
    def names(self) -> tuple[str, ...]:
        """The parameters that can be given by keyword."""
        return (*(name for name in self.positional if name not in self.unnamed), *self.keyword_only)


def check(context: RuleContext) -> Iterator[Diagnostic]:
    if not isinstance(context.declaration, ModuleDecl):
        return
    for field in context.module_fields:
        if isinstance(field, SubmoduleDecl):
            source = context.field_source(field.name)
            call = source.specifier if source is not None else None
            arguments = call.arguments if call is not None else (Argument(None, field.cls), *field.arguments)
            yield from _of_call(SpecifierCall("", arguments), context)


def _of_call(call: SpecifierCall, context: RuleContext) -> Iterator[Diagnostic]:
    """What is wrong with the arguments of a child, and of those among its arguments."""
    for argument in call.arguments[1:]:
        if isinstance(argument.value, SpecifierCall):
            yield from _of_call(argument.value, context)
    cls = call.arguments[0].value if call.arguments else None
    if isinstance(cls, SpecifierCall):
        yield from _of_call(cls, context)
    for made in cls.alternatives if isinstance(cls, Value) else ():
        yield from _of_class(made, call, context)


def _of_class(made: Value, call: SpecifierCall, context: RuleContext) -> Iterator[Diagnostic]:
    """What is wrong with the arguments of a child for one class that it may have."""
    taken = _parameters(made, context)
    if taken is None:
        return
    given = [argument for argument in call.arguments[1:] if argument.keyword not in _OF_SUBMODULE]
    if any(isinstance(one.value, Value) and one.value.text.startswith("*") for one in given):
        return
    positional = [argument for argument in given if argument.keyword is None]
    keywords = [argument for argument in given if argument.keyword is not None]
    if len(positional) > len(taken.positional) and not taken.many:
        extra = positional[len(taken.positional)]
        takes = f"{len(taken.positional)} positional argument{'s' * (len(taken.positional) != 1)}"
        help = f"it takes {', '.join(taken.names)}" if taken.names else "remove it"
        yield Diagnostic(KIND, f"{made.text} takes {takes}, but {len(positional)} are given", extra.place, help)
        return
    by_position = set(taken.positional[: len(positional)])
    for argument in keywords:
        name = argument.keyword or ""
        if name in by_position:
            yield Diagnostic(
                KIND,
                f"{made.text} gets {name} twice, by position and by keyword",
                _name(argument),
                "remove one of them",
            )
        elif name not in taken.names and not taken.any_keyword:
            help = did_you_mean(name, taken.names, f"it takes {', '.join(taken.names)}" if taken.names else "remove it")
            yield Diagnostic(KIND, f"{made.text} has no constructor argument {name}", _name(argument), help)
    child = context.project.declarations.get(made.name)
    if isinstance(child, ModuleDecl) and isinstance(context.declaration, ModuleDecl) and not child.custom_init:
        is_certain = call.get("when") is None
        fields = {field.name: field for field in context.declaration.fields}
        scope = Names(fields, configurations(context), has_index=language.INDEX not in fields)
        yield from _of_types(positional, keywords, scope, child, is_certain)
    missing = taken.required - by_position - {argument.keyword or "" for argument in keywords} - _FROM_THE_OWNER
    if missing:
        names = " and ".join(name for name in (*taken.positional, *taken.keyword_only) if name in missing)
        plural = "arguments" if len(missing) > 1 else "argument"
        example = "".join(f", {name}=..." for name in sorted(missing))
        message = f"{made.text} requires the {plural} {names}"
        yield Diagnostic(KIND, message, made.place, f"write submodule({made.text}, ...{example})")


_OF_SUBMODULE = language.SPECIFIER_KEYWORDS[language.SUBMODULE]


def _of_types(
    positional: list[Argument], keywords: list[Argument], scope: Names, child: ModuleDecl, is_certain: bool
) -> Iterator[Diagnostic]:
    """Arguments that a declared child cannot take by the types of both declarations: a string or None for an integer."""
    taken = {field.argument: field for field in child.fields if isinstance(field, ConfigDecl)}
    order = [field for field in taken.values() if not field.kw_only]
    given = [(field, argument) for field, argument in zip(order, positional, strict=False)]
    given += [(taken[one.keyword], one) for one in keywords if one.keyword in taken]
    for field, argument in given:
        names = {member.name for member in members_of(field.type)}
        if not names <= _PLAIN:
            continue
        value = argument.value
        if isinstance(value, Dim):
            types, problems = types_of(value, scope)
            text, takes = in_words(value), f"{child.name} takes {field.argument}: {field.type.text}"
            if is_certain and types >= NONE and "None" not in names:
                help = f'write {text}: {field.type.text}, or when="..."'
                yield Diagnostic(KIND, f"{text} may be None, but {takes}", argument.place, help)
            elif not problems and not any(_is_taken(type, names) for type in types):
                message = f"{text} has the type {in_words_of(types)}, but {takes}"
                yield Diagnostic(KIND, message, argument.place, "pass a value of the annotated type")
        elif isinstance(value, Value) and value.literal is not None:
            got = type(literal_eval(value.literal)).__name__
            if got in ("str", "bytes", "tuple") and f"builtins.{got}" not in names:
                message = f"{child.name} takes {field.argument}: {field.type.text}, got {value.text}"
                yield Diagnostic(KIND, message, argument.place, "write a value of the annotated type")


_PLAIN = frozenset({"None", *(f"builtins.{name}" for name in ("bool", "complex", "float", "int", "str"))})
"""Types whose values are told apart by their literals."""


def _is_taken(type: TypeExpr, names: Collection[str]) -> bool:
    """Whether a value of a type may be one of plain types: an integer is a float, and what is not known may be anything."""
    if type == UNKNOWN or type.name not in _PLAIN:
        return type.name not in _NEVER_PLAIN
    wider = [f"builtins.{name}" for name in ("bool", "int", "float", "complex")]
    return type.name in names or (type.name in wider and bool(set(names) & set(wider[wider.index(type.name) :])))


_NEVER_PLAIN = frozenset(f"builtins.{name}" for name in ("tuple", "list", "dict", "set", "bytes"))


def _name(argument: Argument) -> NodePath:
    return argument.place.beside("arg")


def _parameters(made: Value, context: RuleContext) -> _Parameters | None:
    """What the constructor of a class takes; None for one that is not known."""
    declared = context.project.declarations.get(made.name)
    if isinstance(declared, ModuleDecl) and not declared.custom_init:
        if any(not base.declared and not base.name.startswith("qten_gen.") for base in declared.bases):
            return None  # a base of another kind may have a constructor
        return _of_fields(declared)
    if context.source is None:
        text = context.statement.constructors.get(made.name)
        return None if text is None else _parsed(text)
    text = _written(made.name, context.project.classes, frozenset())
    return None if text is None else _parsed(text)


def _of_fields(declared: ModuleDecl) -> _Parameters:
    """What the generated constructor of a declared Module takes."""
    fields = [field for field in declared.fields if isinstance(field, ConfigDecl)]
    return _Parameters(
        positional=tuple(field.argument for field in fields if not field.kw_only),
        unnamed=frozenset(),
        keyword_only=(*(field.argument for field in fields if field.kw_only), *sorted(_FROM_THE_OWNER)),
        required=frozenset(field.argument for field in fields if field.default is None),
        many=False,
        any_keyword=False,
    )


def _written(name: str, classes: Mapping[str, ClassSource], seen: frozenset[str]) -> str | None:
    """The parameters of the `__init__` that a class of the run has or inherits, as text; None if that is not known."""
    source = classes.get(name)
    if source is None or name in seen or source.decorators or source.unpacked:
        return None
    if any(keyword == "metaclass" for keyword, _ in source.keywords) or "__init__" in source.attributes:
        return None
    if "__new__" in {method.name for method in source.methods}:
        return None
    own = next((method for method in source.methods if method.name == "__init__"), None)
    if own is not None:
        return None if own.decorators else own.signature.parameters
    return _written(source.bases[0].name, classes, seen | {name}) if len(source.bases) == 1 else None


def _parsed(text: str) -> _Parameters | None:
    """Read parameters from their text: `dim, *, heads=...`."""
    try:
        function = ast.parse(f"def f({text}): ...").body[0]
    except SyntaxError:
        return None
    if not isinstance(function, ast.FunctionDef):
        return None
    given = function.args
    positional = [argument.arg for argument in (*given.posonlyargs, *given.args)]
    keyword_only = [argument.arg for argument in given.kwonlyargs]
    required = positional[: len(positional) - len(given.defaults)]
    required += [name for name, default in zip(keyword_only, given.kw_defaults, strict=True) if default is None]
    return _Parameters(
        tuple(positional),
        frozenset(argument.arg for argument in given.posonlyargs),
        tuple(keyword_only),
        frozenset(required),
        given.vararg is not None,
        given.kwarg is not None,
    )
