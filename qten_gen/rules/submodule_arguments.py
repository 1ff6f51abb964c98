"""The rule about the arguments of a child."""

from __future__ import annotations

import ast
from ast import literal_eval
from collections.abc import Iterator, Mapping

from ..common.records import field, record
from ..common.suggestions import did_you_mean
from ..model import (
    Argument,
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
from ..model.dimensions import in_words
from ..model.foreign_classes import parameters_of
from .module_expressions import NONE, Names, fits, in_words_of, names_in, of_annotation, types_of
from .rule_input import Problem, RuleContext

_TIED = 'declare the weight in place of the child: head: nn.Parameter = param(tie="embed.weight"), used by F.linear(x, self.head)'

_FROM_THE_OWNER = frozenset({"device", "dtype"})


@record(frozen=True, slots=True)
class _Parameters:
    """The parameters of a constructor."""

    positional: tuple[str, ...]
    """The parameters that can be given by position, in order."""
    keyword_only: tuple[str, ...]
    required: frozenset[str]
    types: Mapping[str, TypeExpr] = field(default_factory=dict)
    """The types that are written."""

    @property
    def names(self) -> tuple[str, ...]:
        """All parameters."""
        return (*self.positional, *self.keyword_only)


def invalid_submodule_argument(declaration: ModuleDecl, context: RuleContext) -> Iterator[Problem]:
    """The arguments of a submodule do not fit its class.

    The constructor would raise TypeError when the first instance is made: an argument that the class does not take, one that is
    missing, one too many, or a string where a declared Module takes a number. Type checkers do not see it, because
    `submodule(cls, ...)` takes any arguments. `device` and `dtype` come from the owner.

    The rule knows declared Modules with a generated constructor and the layers of `torch.nn`. The constructors of other classes
    are left to Python.

    Example:

     from qten_gen import Module, submodule


     class Block(Module):
         dim: int
         heads: int = 4


     class Net(Module):
         dim: int
    -    block: Block = submodule(Block, "dim", head=2)
    -                                           ^^^^
    +    block: Block = submodule(Block, "dim", heads=2)
    """
    for child in context.module_fields:
        if isinstance(child, SubmoduleDecl):
            source = context.field_source(child.name)
            call = source.specifier if source is not None else None
            arguments = call.arguments if call is not None else (Argument(None, child.cls), *child.arguments)
            yield from _of_call(SpecifierCall("", arguments), context)


def _of_call(call: SpecifierCall, context: RuleContext, is_certain: bool = True) -> Iterator[Problem]:
    """The problem with the arguments of a child that is certainly made, or perhaps, and of those among its arguments."""
    is_certain = is_certain and call.get("when") is None
    for argument in call.arguments[1:]:
        if isinstance(argument.value, SpecifierCall):
            yield from _of_call(argument.value, context, is_certain)
    cls = call.arguments[0].value if call.arguments else None
    if isinstance(cls, SpecifierCall):
        yield from _of_call(cls, context, is_certain)
    for made in cls.alternatives if isinstance(cls, Value) else ():
        yield from _of_class(made, call, context, is_certain)


def _of_class(made: Value, call: SpecifierCall, context: RuleContext, is_certain: bool) -> Iterator[Problem]:
    """The problem with the arguments of a child for one class that it may have."""
    taken = _parameters(made, context)
    if taken is None:
        return
    given = [argument for argument in call.arguments[1:] if argument.keyword not in _OF_SUBMODULE]
    if any(isinstance(one.value, Value) and one.value.text.startswith("*") for one in given):
        return
    positional = [argument for argument in given if argument.keyword is None]
    keywords = [argument for argument in given if argument.keyword is not None]
    if len(positional) > len(taken.positional):
        extra = positional[len(taken.positional)]
        takes = f"{len(taken.positional)} positional argument{'s' * (len(taken.positional) != 1)}"
        help = f"it takes {', '.join(taken.names)}" if taken.names else "remove it"
        yield Problem(f"{made.text} takes {takes}, but {len(positional)} are given", extra.place, help)
        return
    by_position = set(taken.positional[: len(positional)])
    for argument in keywords:
        name = argument.keyword or ""
        if name in by_position:
            message = f"{made.text} gets {name} twice, by position and by keyword"
            yield Problem(message, _name(argument), "remove one of them")
        elif name not in taken.names:
            takes = f"it takes {', '.join(taken.names)}" if taken.names else "remove it"
            help = _TIED if name == "tie" else did_you_mean(name, taken.names, takes)
            yield Problem(f"{made.text} has no constructor argument {name}", _name(argument), help)
    if isinstance(context.declaration, ModuleDecl):
        fields = {field.name: field for field in context.declaration.fields}
        scope = Names(fields, frozenset(language.OF_CHILD) - fields.keys())
        arguments = [*zip(taken.positional, positional, strict=False), *((one.keyword or "", one) for one in keywords)]
        for name, argument in arguments:
            if name in taken.types:
                takes = f"{made.text} takes {name}: {taken.types[name].text}"
                yield from _of_type(argument, taken.types[name], takes, scope, is_certain)
    missing = taken.required - by_position - {argument.keyword or "" for argument in keywords} - _FROM_THE_OWNER
    if missing:
        names = " and ".join(name for name in (*taken.positional, *taken.keyword_only) if name in missing)
        plural = "arguments" if len(missing) > 1 else "argument"
        example = "".join(f", {name}=..." for name in sorted(missing))
        message = f"{made.text} requires the {plural} {names}"
        yield Problem(message, made.place, f"write submodule({made.text}, ...{example})")


_OF_SUBMODULE = language.SPECIFIER_KEYWORDS[language.SUBMODULE]


def _of_type(argument: Argument, type: TypeExpr, takes: str, scope: Names, is_certain: bool) -> Iterator[Problem]:
    """An argument that a parameter cannot take by its type: a string or None for an integer."""
    value, annotated = argument.value, of_annotation(type)
    if isinstance(value, Dim):
        types = types_of(value.node, scope)
        text = in_words(value)
        if is_certain and not all(fits(found, annotated) for found in types & NONE):
            help = f'write {text}: {type.text}, or when="..."'
            yield Problem(f"{text} may be None, but {takes}", argument.place, help)
        elif not any(fits(found, annotated) for found in types):
            message = f"{text} has the type {in_words_of(types)}, but {takes}"
            yield Problem(message, argument.place, "pass a value of the annotated type")
    elif isinstance(value, Value) and value.literal is not None:
        got = literal_eval(value.literal)
        name = "None" if got is None else f"builtins.{got.__class__.__name__}"
        # A number or a flag for another serves where the constructor only computes with it, but a fraction is no size.
        suspect = not isinstance(got, int | complex) or "builtins.str" in names_in(annotated)
        if suspect and not fits(TypeExpr(name), annotated):
            yield Problem(f"{takes}, got {value.text}", argument.place, "write a value of the annotated type")


def _name(argument: Argument) -> NodePath:
    return argument.place.beside("arg")


def _parameters(made: Value, context: RuleContext) -> _Parameters | None:
    """The parameters of a class's constructor; None for one that is not known."""
    declared = context.facts.declarations.get(made.name)
    if isinstance(declared, ModuleDecl) and not declared.custom_init:
        if any(not base.declared and not base.name.startswith("qten_gen.") for base in declared.bases):
            return None  # a base of another kind may have a constructor
        return _of_fields(declared)
    text = parameters_of(made.name)
    return None if text is None else _of_layer(text)


def _of_fields(declared: ModuleDecl) -> _Parameters:
    """The parameters of a declared Module's generated constructor."""
    fields = [field for field in declared.fields if isinstance(field, ConfigDecl)]
    return _Parameters(
        positional=tuple(field.argument for field in fields if not field.kw_only),
        keyword_only=(*(field.argument for field in fields if field.kw_only), *sorted(_FROM_THE_OWNER)),
        required=frozenset(field.argument for field in fields if field.default is None),
        types={field.argument: field.type for field in fields},
    )


def _of_layer(text: str) -> _Parameters:
    """The parameters of a layer of torch, from their text: `dim, *, heads=...`."""
    given = next(node.args for node in ast.walk(ast.parse(f"def f({text}): ...")) if isinstance(node, ast.FunctionDef))
    positional = tuple(parameter.arg for parameter in given.args)
    keyword_only = [(each.arg, default) for each, default in zip(given.kwonlyargs, given.kw_defaults, strict=True)]
    required = [name for name, default in keyword_only if default is None]
    return _Parameters(
        positional,
        tuple(name for name, _ in keyword_only),
        frozenset((*positional[: len(positional) - len(given.defaults)], *required)),
    )
