"""Rules about sizes, other expressions over the fields of a Module, and initializers."""

from __future__ import annotations

from collections.abc import Iterator
from keyword import iskeyword

from ..common.suggestions import only_near
from ..model import (
    BufferDecl,
    ConfigDecl,
    DerivedDecl,
    DimError,
    ModuleDecl,
    ParameterDecl,
    SubmoduleDecl,
    Value,
    declares,
    expression_of,
    language,
)
from ..model.diagnostics import Fix
from ..model.dimensions import in_words, path_of
from .module_expressions import (
    BOOL,
    NONE,
    UNKNOWN,
    Expression,
    Types,
    Use,
    expressions,
    fits,
    in_words_of,
    names_in,
    of_annotation,
    types_of,
    unknown_names,
    usable_names,
)
from .rule_input import Problem, RuleContext, at
from .shared_objects import kind_of


def invalid_dimension(context: RuleContext) -> Iterator[Problem]:
    """A dimension or another expression is not valid.

    qten-gen writes the expression into the generated constructor, where it would be a SyntaxError or compute something else
    than intended. [Write expressions](declarations.md#write-expressions) says what an expression can contain. To pass a plain
    string to a submodule, write `const("...")`.

    Example:

     from qten_gen import Module, param
     from torch import nn


     class Project(Module):
         dim: int
    -    weight: nn.Parameter = param("3 dim", "dim", initializer=nn.init.xavier_uniform_)
    -                                    ^
    +    weight: nn.Parameter = param("dim // 2", "dim", initializer=nn.init.xavier_uniform_)
    """
    written = (field.specifier for field in context.source.fields)
    for call in (*(call for call in written if call is not None), *context.source.checks):
        for argument in call.nested:
            error = expression_of(argument)
            if isinstance(error, DimError):
                choice = argument.value.choice if isinstance(argument.value, Value) else None
                is_passed = choice is None and call.name == language.SUBMODULE
                is_passed = is_passed and argument.keyword not in (language.REPEAT, language.WHEN)
                help = f"for a plain string, write const({error.text!r})" if is_passed else ""
                yield Problem(
                    f"{error.text!r} is not an expression: {error.problem}",
                    argument.place if choice is None else choice.place,
                    help,
                    within=(error.offset, 1),
                )


_INTEGERS = frozenset({"builtins.int", "builtins.bool"})


def unknown_dimension(declaration: ModuleDecl, context: RuleContext) -> Iterator[Problem]:
    """An expression uses a name that is not a config field or a derived value, or one whose value does not fit.

    The constructor computes sizes and other values from its own arguments, which are the fields with a plain annotation, and
    from derived values. Any other name, such as the name of a parameter, a buffer or a global variable, would raise NameError
    there. A size that is not an integer would raise TypeError when the tensor is created.

    An argument of a submodule can be the name of a config field of any type, which passes its value: `submodule(nn.Dropout,
    "rate")` for `rate: float`. Among the arguments of a submodule with `repeat` or `keys`, and in its `when`, `index` is the
    position of each child.

    Example:

     from qten_gen import Module, param
     from torch import nn


     class Project(Module):
         dim: int
    -    weight: nn.Parameter = param("3*dmi", "dim", initializer=nn.init.xavier_uniform_)
    -                                    ^^^
    +    weight: nn.Parameter = param("3*dim", "dim", initializer=nn.init.xavier_uniform_)
    """
    declared = {field.name: field for field in declaration.fields}
    yield from _means_two_things(context, declaration)
    for expression in expressions(declaration, context):
        place = expression.argument.place
        unknown = list(unknown_names(expression, declared))
        usable = usable_names(expression, declared)
        for name, message, help in unknown:
            within = expression.span(name)
            meant = only_near(name, usable) if name not in declared and within else None
            fix = None if meant is None else Fix(meant, place, within)
            yield Problem(message, place, help, within=within, fix=fix)
        if not unknown and expression.use is not Use.VALUE:
            for message, help in _of_result(expression, text := in_words(expression.dim)):
                yield Problem(message, place, help, within=expression.span(text))


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
        if not all(fits(type, of_annotation(field.type)) for type in types):
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


def _means_two_things(context: RuleContext, declaration: ModuleDecl) -> Iterator[Problem]:
    """`index` or `key` is a config field, and also what each of several children has, in the class or a base."""
    values = {field.name for field in declaration.fields if isinstance(field, ConfigDecl | DerivedDecl)}
    for field in declaration.fields:
        if isinstance(field, SubmoduleDecl) and field.has_positions:
            usable = {language.INDEX} if field.keys is None else language.OF_CHILD.keys()
            for name in sorted(values & field.mentioned & usable):
                what = "position" if name == language.INDEX else "name"
                message = f"{name} is the {what} of each child of {field.name}, and also a config field"
                place = context.value_place(field.name) if declares(declaration, field) else context.name_place
                yield Problem(message, place, "rename the config field")


def missing_initializer(declaration: ModuleDecl, context: RuleContext) -> Iterator[Problem]:
    """A parameter or buffer is not initialised.

    The constructor allocates it with `torch.empty`, so it would contain whatever was in memory before: other values in every
    run, and sometimes NaN. Pass an `initializer`, or define `reset_parameters` or `__post_init__`, which the constructor calls.

    Example:

    -from qten_gen import Module, param
    -from torch import nn
    +import torch
    +from qten_gen import Module, buffer, param
    +from torch import Tensor, nn


     class Scale(Module):
         dim: int
    -    weight: nn.Parameter = param("dim")
    -                           ^^^^^^^^^^^^
    +    weight: nn.Parameter = param("dim", initializer=nn.init.ones_)
    +
    +
    +class Custom(Module):
    +    dim: int
    +    table: Tensor = buffer("dim")
    +
    +    def reset_parameters(self) -> None:
    +        torch.arange(self.dim, out=self.table)
    """
    if declaration.custom_reset or declaration.custom_init:
        return
    if declaration.post_init:
        return  # it may fill them, which is checked when an instance is made
    for field in context.module_fields:
        if isinstance(field, ParameterDecl) and field.tie is not None:
            continue  # its path leads to the declaration that initialises it
        if isinstance(field, ParameterDecl | BufferDecl) and field.initializer is None and field.value is None:
            kind = "parameter" if isinstance(field, ParameterDecl) else "buffer"
            help = "add an initializer, such as initializer=nn.init.zeros_, or define reset_parameters in the class"
            yield Problem(f"nothing initialises the {kind} {field.name}", context.value_place(field.name), help)


def invalid_initializer(context: RuleContext) -> Iterator[Problem]:
    """An initializer does not fill the tensor that it is given.

    The constructor allocates each parameter and buffer without values, and an initializer fills it in place, as the functions
    of `torch.nn.init` do. `torch.zeros_like` returns another tensor instead, so the field would keep whatever was in memory
    before. A module can be called, and does the same.

    A string names a method of the class. It is called with the tensor and can read the config fields.

    Example:

    -import torch
     from qten_gen import Module, param
    -from torch import nn
    +from torch import Tensor, nn


     class Scale(Module):
         dim: int
    -    weight: nn.Parameter = param("dim", initializer=torch.zeros_like)
    -                                                    ^^^^^^^^^^^^^^^^
    +    shift: nn.Parameter = param("dim", initializer=nn.init.zeros_)
    +    weight: nn.Parameter = param("dim", initializer="fill")
    +
    +    def fill(self, tensor: Tensor) -> None:
    +        tensor.fill_(self.dim**-0.5)
    """
    for field in context.module_fields:
        if isinstance(field, ParameterDecl | BufferDecl):
            for argument, given in (("value", field.value), ("initializer", field.initializer)):
                if given is not None:
                    place = context.argument_place(field.name, argument)
                    yield from at(place, _problem(field.name, argument, given, context))


def _problem(name: str, argument: str, given: Value, context: RuleContext) -> tuple[str, str] | None:
    """The problem with what computes or fills a field, and how to fix it."""
    if given.method is not None:  # which generated code calls by this name
        if given.method.isidentifier() and not iskeyword(given.method):
            return None
        help = f'write {argument}="name", with a method of this name, or pass a function'
        return f"{given.method!r} is not the name of a method", help
    if not given.is_container and kind_of(given, context) is not None:  # a partial may hold a tensor
        message = f"the {argument} of {name} is not a function, but a tensor or a module: one for all instances"
        return message, "write a function, such as lambda tensor: tensor.copy_(values)"
    if given.literal not in (None, "None") or not given.is_callable:
        return f"the {argument} of {name} is not a function: {given.text}", "write a function, or the name of a method"
    function = given.torch_name or (given.partial.function if given.partial is not None else "")
    fills = not function.startswith("torch.") or function.startswith("torch.nn.init.") or function.endswith("_")
    if argument == "initializer" and not fills:
        return (
            f"{function} does not fill the tensor that it is given, so {name} would stay uninitialised",
            "write a function that fills it in place, such as nn.init.zeros_ or lambda tensor: tensor.normal_()",
        )
    return None
