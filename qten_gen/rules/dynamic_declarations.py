"""Rules about what only running the program would tell."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ..common.field_kinds import members_of
from ..model import (
    DYNAMIC,
    Argument,
    ConfigDecl,
    FieldSource,
    FileDecl,
    ModuleDecl,
    SpecifierCall,
    TypeExpr,
    Value,
    language,
)
from .rule_input import Facts, Problem, RuleContext, name_of

_ONLY_THEN = "known only at run time"

_A_CONSTANT = "a constant that is assigned once, without a call or condition"

KEYWORDS = ("when", "tie", "keys", "repeat", "group", "cached", "sources", language.ALIAS, *language.SPECIFIER_SWITCHES)
"""Keywords whose value decides what is declared."""

_OF_EXPRESSIONS = (language.PARAM, language.BUFFER, language.DERIVED, language.CHECK)
"""Specifiers that take nothing but expressions by position."""


def dynamic_declaration(context: RuleContext) -> Iterator[Problem]:
    """A class statement depends on values that are known only when the program runs.

    qten-gen reads declarations without running them, so it cannot know what is declared if a name is bound in `try` and in
    `except`, if an annotation is a conditional expression, or if a function returns the specifier of a field. That may differ
    from one machine to the next. qten-gen does not guess: it generates nothing for the file. The class statement still works.
    It builds the class in memory, and does not warn that generated files are stale.

    Constants are resolved: `param(SIZE)` is `param(3)` if the file assigns `SIZE = 3` once, and nothing else to it, or imports
    it from one that does. That one must declare something itself or have type aliases, because qten-gen reads no other files.
    Literals, tuples of them and arithmetic such as `2 * SIZE` are constants; calls, f-strings, comparisons and conditions are
    not.

    Example:

    +from typing import TYPE_CHECKING
    +
     from qten_gen import TensorClass
     from torch import Tensor

    -try:
    -    from fast_tokens import Tokens
    -except ImportError:
    -    Tokens = Tensor
    +if TYPE_CHECKING:
    +    from numpy.typing import NDArray


     class Batch(TensorClass):
    -    tokens: Tokens
    -            ^^^^^^
    +    tokens: Tensor
    +    raw: "NDArray | None" = None
    """
    source = context.source
    if context.is_running:
        return
    yield from _types(context)
    for place in source.unpacked:
        message = f"the bases and flags of {source.name} are {_ONLY_THEN}, because they are unpacked"
        yield Problem(message, place, "write them out")
    for name, place in source.changed:
        if name == "__annotations__":
            message = f"the fields of {source.name} are {_ONLY_THEN}, because the class body changes its annotations"
        elif any(field.name == name and field.place == place for field in source.fields):
            message = f"{name} is declared twice, and the class statement forgets the first"
        else:
            message = f"the value of {name} is {_ONLY_THEN}, because the class body changes it"
        yield Problem(message, place, "write each field once: name: type = value")
    for name, value in source.keywords:
        if is_dynamic(value) and (name in language.FLAGS or name in language.STRING_OPTIONS or name == language.INIT):
            yield Problem(f"the flag {name} is {_ONLY_THEN}, got {value.text}", value.place, "write its value")
    for base in source.bases:
        for argument in base.args if base.name == language.TENSORCLASS else ():
            if isinstance(argument, TypeExpr):
                message = f"the flag {argument.text} is {_ONLY_THEN}"
                yield Problem(message, argument.place, "write the flag as a string or keyword")
    for field in source.fields:
        if field.specifier is None and field.value is not None and field.value.held_specifier is not None:
            yield from _around_specifier(field.name, field.value)
        elif isinstance(context.declaration, ModuleDecl) and field.annotation is not None:
            yield from _value(field, context)
    for call in context.calls:
        yield from _arguments(call)


def dynamic_declaration_in_file(file: FileDecl, facts: Facts) -> Iterator[Problem]:
    """The handlers in a file that are registered for a type which is known only at run time."""
    for handler in file.registrations:
        if DYNAMIC in handler.type.mentioned:
            owner = handler.owner.rpartition(".")[2]
            message = f"the type that {handler.handler} of {owner} is registered for is {_ONLY_THEN}"
            help = "register it for a class that is imported or assigned once, without try or if"
            yield Problem(message, handler.place, help)


def is_dynamic(value: object) -> bool:
    """True if a value is given by a name, a call or another expression whose result is known only at run time."""
    if not isinstance(value, Value) or value.literal is not None or value.torch_name is not None:
        return False
    if value.partial is not None or value.choice is not None or value.is_container:
        return False
    if not value.is_callable or value.text.startswith("lambda") or language.CONST in value.contains:
        return False
    return not any(name.startswith("torch.") for name in value.contains)


def is_dynamic_text(text: str) -> bool:
    """True if the text of an argument that has to be a literal is another expression."""
    try:
        ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError):
        return True
    return False


def is_tuple(value: object) -> bool:
    """True if a value is a tuple with an element that is known only at run time, such as `(NAME, "dim")`."""
    return isinstance(value, Value) and value.literal is None and value.text.startswith("(")


def _types(context: RuleContext) -> Iterator[Problem]:
    """The fields whose type is known only at run time."""
    for field in context.fields:
        if DYNAMIC in field.type.mentioned and not (isinstance(field, ConfigDecl) and context.constructs_itself):
            message = f"the annotation of {field.name} is {_ONLY_THEN}: {field.type.text}"
            help = "write a type whose names are imported or assigned once, without try, if or a call"
            yield Problem(message, field.type.place, help)


def _arguments(call: SpecifierCall) -> Iterator[Problem]:
    """The arguments of a specifier that decide what is declared, and are not literals."""
    called = call.name.rpartition(".")[2]
    for position, argument in enumerate(call.arguments):
        given = argument.value
        if not isinstance(given, Value):
            continue
        if given.choice is not None and given.choice.selector is None and is_dynamic_text(given.choice.text or "0"):
            message = f"the config field of the choice is {_ONLY_THEN}, got {given.choice.text}"
            yield Problem(message, given.choice.place, "write the string")
        elif given.text.startswith("*"):
            message = f"the arguments of {called}(...) are {_ONLY_THEN}, because they are unpacked"
            yield Problem(message, argument.place, "write them out")
        elif argument.keyword in KEYWORDS and (is_dynamic(given) or is_tuple(given)):
            message = f"the argument {argument.keyword} is {_ONLY_THEN}, got {given.text}"
            yield Problem(message, argument.place, f"write its value, or {_A_CONSTANT}")
        elif call.name in _OF_EXPRESSIONS and language.takes_dimension(call.name, position, argument.keyword):
            if is_dynamic(given):
                what = "size" if call.name in (language.PARAM, language.BUFFER) else "expression"
                message = f"the {what} {given.text} is {_ONLY_THEN}"
                help = f"write an integer, an expression over config fields, or {_A_CONSTANT}"
                yield Problem(message, argument.place, help)
        elif call.name == language.SUBMODULE and position and is_dynamic(given) and _is_string(given.text):
            message = f"the config fields in {given.text} are {_ONLY_THEN}"
            help = f"write the string; for a plain string, write const({given.text})"
            yield Problem(message, argument.place, help)


def _around_specifier(name: str, value: Value) -> Iterator[Problem]:
    """An expression that may give a specifier or something else. In a container it is none: see `misplaced_specifier`."""
    if value.is_container or value.held_specifier is None:
        return
    called = value.held_specifier.rpartition(".")[2]
    help = f"write {called}(...) alone"
    if f"{called}(" not in value.text:  # a name or a function, which may give any specifier
        help = "write param(...), buffer(...) or submodule(...) here"
    elif value.held_specifier not in (language.FIELD, language.DERIVED) and re.search(r"\b(if|and)\b", value.text):
        help = f'{help}; {called}(..., when="use_it") makes it None unless the constructor argument use_it is true'
    yield Problem(f"the specifier of {name} is {_ONLY_THEN}, got {value.text}", value.place, help)


def _is_string(text: str) -> bool:
    """True if an expression makes a string, as far as its text shows."""
    return text.lstrip("rRuU").startswith(("f'", 'f"', "F'", 'F"', "'", '"')) or ".join(" in text or ".format(" in text


def _value(field: FieldSource, context: RuleContext) -> Iterator[Problem]:
    """The value of a field that may be a specifier which something else made."""
    value, annotation = field.value, field.annotation
    if value is None or annotation is None or not is_dynamic(value) or context.file is None:
        return
    if any(isinstance(context.facts.declarations.get(made), ModuleDecl) for made in value.contains):
        return  # the rule `shared-object` reports it
    declared = next((found for found in context.fields if found.name == field.name), None)
    for member in () if declared is None else members_of(declared.type):
        is_layer = member.name.startswith("torch.nn.") and not member.name.startswith(_FUNCTIONS)
        if is_layer or isinstance(context.facts.declarations.get(member.name), ModuleDecl):
            message = f"the specifier of {field.name} is {_ONLY_THEN}, got {value.text}"
            yield Problem(message, value.place, "write param(...), buffer(...) or submodule(...) here")
            return


_FUNCTIONS = ("torch.nn.functional.", "torch.nn.init.")


def early_value(declaration: ModuleDecl, context: RuleContext) -> Iterator[Problem]:
    """An argument of a specifier is computed when the class statement runs, though it is meant for each instance.

    Only strings are expressions over the arguments of the constructor. `2 * depth` without quotes is computed once, with the
    default of `depth`, and `nn.RMSNorm if rms else nn.LayerNorm` chooses by the default of `rms`. A string in place of a
    condition, as in `nn.RMSNorm if "rms" else nn.LayerNorm`, is always true. Either way every instance gets the same, whatever
    its arguments are. The name of a field without a default is a NameError.

    `choice("rms", {True: nn.RMSNorm, False: nn.LayerNorm})` chooses for each instance.

    Example:

    -from qten_gen import Module, submodule
    +from qten_gen import Module, choice, submodule
     from torch import nn


     class Net(Module):
         dim: int
         depth: int = 2
    -    up: nn.Linear = submodule(nn.Linear, "dim", 2 * depth)
    -                                                ^^^^^^^^^
    +    rms: bool = False
    +    up: nn.Linear = submodule(nn.Linear, "dim", "2*depth")
    +    norm: nn.Module = submodule(choice("rms", {True: nn.RMSNorm, False: nn.LayerNorm}), "dim")
    """
    if context.file is None:
        return
    above: dict[str, bool] = {}
    for field in context.source.fields:
        if field.specifier is not None and field.specifier.name != language.FIELD:
            for argument in field.specifier.nested:
                yield from _problem(argument, above)
        if field.annotation is None or field.is_class_variable:
            continue
        if field.value is not None or (field.specifier is not None and field.specifier.name == language.FIELD):
            above[field.name] = True
        elif field.specifier is None and field.name not in context.file.names and not context.file.has_star_import:
            above[field.name] = False


def _problem(argument: Argument, above: dict[str, bool]) -> Iterator[Problem]:
    """The problem with one argument; `above` has the constructor arguments, True for one with a default, which its name gives."""
    value = argument.value
    words = (" if ", " and ", " or ", *above)
    if not isinstance(value, Value) or value.torch_name is not None or not any(word in value.text for word in words):
        return
    try:
        tree = ast.parse(value.text.lstrip("*"), mode="eval")
    except SyntaxError:
        return
    for node in _evaluated(tree.body):
        if isinstance(node, ast.Name) and node.id in above:
            message = f"{value.text} is computed once, when the class statement runs, with the default of {node.id}"
            if not above[node.id]:
                message = f"{node.id} has no value when the class statement runs, which raises a NameError"
            yield Problem(message, argument.place, _instead(argument, node.id, tree.body))
            return
        condition = (
            node.test if isinstance(node, ast.IfExp) else node.values[0] if isinstance(node, ast.BoolOp) else None
        )
        condition = condition.operand if isinstance(condition, ast.UnaryOp) else condition
        if isinstance(condition, ast.Constant) and isinstance(condition.value, str):
            message = f"{value.text} is computed once, when the class statement runs, where a string is always true"
            yield Problem(message, argument.place, _instead(argument, condition.value, tree.body))
            return


def _evaluated(node: ast.expr) -> Iterator[ast.expr]:
    """The parts of an expression that the class statement evaluates in its own scope."""
    if isinstance(node, ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
        return
    yield node
    for part in ast.iter_child_nodes(node):
        inside = part.value if isinstance(part, ast.keyword) else part
        if isinstance(inside, ast.expr):
            yield from _evaluated(inside)


def _instead(argument: Argument, name: str, node: ast.expr) -> str:
    """How to say what is meant."""
    if argument.keyword == "initializer":
        return f'write initializer="fill", and a method fill(self, tensor) that reads self.{name}'
    if isinstance(node, ast.IfExp | ast.BoolOp | ast.Subscript):
        return f'write choice("{name}", {{...}}), with a value for each that {name} may have'
    return f'write an expression in quotes, such as "{name}"'


_PARTS = ("__init__", "__post_init__", "forward", "reset_parameters")
"""Functions that decide what is generated."""


def conditional_field(context: RuleContext) -> Iterator[Problem]:
    """A field is declared under a condition.

    Generated code is the same on every machine and for every interpreter, so it cannot contain a field only sometimes. Where
    the condition has another value, the class statement would not match the generated class: it would warn that the file is
    stale, and build the class in memory. Under `if TYPE_CHECKING:`, a field would be a constructor argument for type checkers
    that does not exist at run time.

    The same applies to the functions that decide what is generated: `__init__`, `__post_init__`, `forward`, `reset_parameters`
    and virtual tensors. Other methods can be conditional, and imports for annotations can be under `TYPE_CHECKING`.

    Example:

    -import sys
    +from typing import TYPE_CHECKING

     from qten_gen import TensorClass
     from torch import Tensor

    +if TYPE_CHECKING:
    +    from datetime import datetime
    +

     class Batch(TensorClass):
         tokens: Tensor
    -    if sys.platform == "linux":
    -        mask: Tensor
    -        ^^^^
    +    taken: "datetime | None" = None
    """
    absent = 'add when="flag"' if isinstance(context.declaration, ModuleDecl) else "add | None to its type"
    for field in context.source.conditional.fields:
        help = f"declare it without a condition and {absent}, or write a class for each case"
        yield Problem(f"the field {field.name} is declared under a condition", name_of(field), help)
    for call in (*context.source.conditional.checks, *context.source.for_checkers.checks):
        help = "write the condition in the check: not wide or dim > 1"
        yield Problem("a check is declared under a condition", call.place, help)
    for method in context.source.conditional.methods:
        if method.name in _PARTS or language.VIRTUAL in method.decorators:
            help = "define it without a condition, and move the condition into its body"
            yield Problem(f"{method.name} is defined under a condition", method.place / "name", help)
    if not context.constructs_itself:  # with a hand-written __init__, the annotation only declares an attribute
        for field in context.source.for_checkers.fields:
            help = "move it out of the block; only imports belong there, and annotations can be quoted"
            message = f"type checkers see the field {field.name}, but it does not exist at run time"
            yield Problem(message, name_of(field), help)
