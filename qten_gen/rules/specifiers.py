"""Rules about calls of specifiers: where they stand, and their arguments."""

from __future__ import annotations

from ast import literal_eval
from collections.abc import Iterator

from ..common.suggestions import did_you_mean
from ..model import (
    Argument,
    BufferDecl,
    ClassSource,
    ConfigDecl,
    DerivedDecl,
    Dim,
    FieldDecl,
    FileDecl,
    ModuleDecl,
    ParameterDecl,
    SpecifierCall,
    SubmoduleDecl,
    TensorClassDecl,
    Value,
    declares,
    language,
)
from ..model.build_field import is_sequence, is_several, nested_keywords
from .dynamic_declarations import KEYWORDS as _DECIDING
from .dynamic_declarations import is_dynamic, is_tuple
from .rule_input import Facts, Problem, RuleContext, name_of

_KNOWN = frozenset({"abc", "builtins", "dataclasses", "torch", "typing"})
"""Packages in which no declaration is, and no enum, whose members may be specifiers."""


def misplaced_specifier(context: RuleContext) -> Iterator[Problem]:
    """A specifier declares nothing where it is: in a plain `nn.Module` or a dataclass, in a method, or of a Module in a
    TensorClass.

    Only the constructor that qten-gen generates for a Module or TensorClass knows what `param(...)` or `field(...)` means. In
    any other class it stays an ordinary attribute of the class: `module.weight` would be a record of the arguments,
    `parameters()` would not contain it, and the optimizer would not train it. Nothing would fail before that.

    In a method it means nothing either: `self.weight = param(8)` assigns that record. In a list, a dict or a tuple it is an
    element and not the specifier of the field. A comma at the end makes a tuple, too: `param(8),`.

    Parameters, buffers, submodules and virtual tensors exist in modules only. A TensorClass would ignore the specifier and make
    the field a required argument of its constructor, which type checkers reject, because the specifier tells them that there is
    none.

    The rule reports classes whose bases it knows. A base outside the run may be a declaration; there, the class statement finds
    out. In an enum a specifier is the value of a member, for declarations to use.

    Example:

    -from qten_gen import param
    +from qten_gen import Module, param
     from torch import nn


    -class Scale(nn.Module):
    -    weight: nn.Parameter = param(8, initializer=nn.init.ones_)
    -    ^^^^^^
    +class Scale(Module):
    +    dim: int
    +    weight: nn.Parameter = param("dim", initializer=nn.init.ones_)
    """
    for field in context.fields:
        if not isinstance(field, FieldDecl | ConfigDecl) or field.default is None or field.default.factory:
            continue
        value = field.default.value
        if value.held_specifier is not None and value.is_container:
            called = value.held_specifier.rpartition(".")[2]
            message = f"{called}(...) declares nothing inside another value, so {field.name} would hold a record of its arguments"
            several = "; repeat= and keys= declare several" if called in ("param", "submodule", "sequential") else ""
            yield Problem(message, value.place, f"write {field.name}: ... = {called}(...) alone{several}")
    if isinstance(context.declaration, TensorClassDecl):
        yield from _of_modules(context.declaration.name, context)


def _of_modules(name: str, context: RuleContext) -> Iterator[Problem]:
    """Specifiers of a Module in a TensorClass of this name."""
    message = f"{{}} belongs to a Module, but {name} is a TensorClass".format
    for field in context.source.fields:
        if field.specifier is not None and field.specifier.name == language.VIRTUAL:
            yield Problem(message("@virtual"), field.place, "use @property")
        elif field.specifier is not None and field.specifier.name != language.FIELD:
            called = field.specifier.name.rpartition(".")[2]
            help = f"use field(default=...) or field(default_factory=...), or derive {name} from Module"
            yield Problem(message(f"{called}(...)"), field.specifier.place, help)
    for call in context.source.checks:
        yield Problem(message("check(...)"), call.place, "raise an error in __post_init__")
    for method in context.source.methods if not context.is_running else ():
        if language.VIRTUAL in method.decorators:
            place = method.place / "decorator_list" / method.decorators.index(language.VIRTUAL)
            yield Problem(message("@virtual"), place, "use @property")


def misplaced_specifier_in_file(file: FileDecl, facts: Facts) -> Iterator[Problem]:
    """The specifiers in classes that are no declarations."""
    for cls in file.source.classes:
        yield from _in_methods(cls)
        qualified = f"{file.source.module}.{cls.qualname}"
        if qualified in facts.declarations or not _is_plain(qualified, facts):
            continue
        for field in cls.fields:
            if field.specifier is not None and not field.specifier.of_dataclasses:
                message, help = problem(cls.name, field.name, field.specifier.name)
                yield Problem(message, name_of(field), help)
        for call in cls.checks:
            message, help = problem(cls.name, "", language.CHECK)
            yield Problem(message, call.place, help)
        for method in cls.methods:
            if language.VIRTUAL in method.decorators:
                message, help = problem(cls.name, method.name, language.VIRTUAL)
                yield Problem(message, method.place / "name", help)


def _is_plain(qualified: str, facts: Facts) -> bool:
    """True if the text says that a class is no declaration: all its ancestors are known, and none of them is one or an enum."""
    return all(
        name.partition(".")[0] in _KNOWN if source is None else not source.unpacked
        for name, source in facts.lineage(qualified).items()
    )


def _in_methods(cls: ClassSource) -> Iterator[Problem]:
    """Specifiers that a method assigns, whatever the class is: `self.weight = param(8)` in an `__init__`."""
    for method in cls.methods:
        for change in method.changes:
            specifier = next((name for name in change.makes if name in language.SPECIFIERS), None)
            if specifier is not None and change.action == "assign":
                called = specifier.rpartition(".")[2]
                message = f"{called}(...) declares nothing in a method: self.{change.name} would hold its arguments"
                help = f"write {change.name}: ... = {called}(...) in the class body, or assign what it declares"
                yield Problem(message, change.place, help)


def problem(cls: str, field: str, specifier: str) -> tuple[str, str]:
    """The problem with a specifier in a class that declares nothing, and how to fix it. The class statement says it too."""
    called = "@virtual" if specifier == language.VIRTUAL else f"{specifier.rpartition('.')[2]}(...)"
    if specifier == language.CHECK:
        return f"check(...) has no effect: {cls} does not derive from Module of qten_gen", f"write class {cls}(Module)"
    root = "TensorClass or Module" if specifier == language.FIELD else "Module"
    message = f"{called} declares nothing here: {cls} derives from no {root} of qten_gen, so {field} is not a field"
    bases = "TensorClass" if specifier == language.FIELD else "Module"
    instead = "; in a dataclass, write dataclasses.field" if specifier == language.FIELD else ""
    return message, f"write class {cls}({bases}){instead}"


def ignored_specifier(declaration: ModuleDecl, context: RuleContext) -> Iterator[Problem]:
    """A Module with a hand-written `__init__` uses specifiers.

    If the class or a base defines `__init__`, no constructor is generated, so the specifier has no effect: `module.weight`
    would raise AttributeError, and `parameters()` would not contain it.

    Example:

    -from qten_gen import Module, param
    +import torch
    +from qten_gen import Module
     from torch import nn


     class Scale(Module):
    -    weight: nn.Parameter = param(8, initializer=nn.init.ones_)
    -                           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
    +    weight: nn.Parameter

    -    def __init__(self) -> None:
    +    def __init__(self, dim: int) -> None:
             super().__init__()
    +        self.weight = nn.Parameter(torch.ones(dim))
    """
    if not declaration.custom_init:
        return
    reason, way_out = _why(declaration, context)
    for field in context.module_fields:
        source = context.field_source(field.name)  # `field(...)` would stay the value of the class attribute
        is_ignored = isinstance(field, ParameterDecl | BufferDecl | SubmoduleDecl | DerivedDecl)
        if is_ignored or (isinstance(field, ConfigDecl) and source is not None and source.specifier is not None):
            message = f"{reason}, so the specifier of {field.name} has no effect"
            help = f"assign self.{field.name} in __init__ and keep only the annotation, or {way_out}"
            yield Problem(message, context.value_place(field.name), help)
    for check in declaration.checks:
        if declares(declaration, check):
            message = f"{reason}, so a check of its arguments has no effect"
            help = f"raise an error in __init__, or {way_out}"
            yield Problem(message, check.place if check.place.steps else context.name_place, help)


def _why(declaration: ModuleDecl, context: RuleContext) -> tuple[str, str]:
    """Why no constructor is generated for a class, and what to change so that one is."""
    if declaration.writes_init:
        return f"{declaration.name} has a hand-written __init__", "remove __init__"
    parents = [parent for parent in context.facts.ancestors(declaration) if isinstance(parent, ModuleDecl)]
    writer = next((parent for parent in parents if parent.writes_init), None)
    if writer is not None:
        reason = f"{declaration.name} has the hand-written __init__ of {writer.name}"
        return reason, f"declare the fields of {writer.name} too"
    keeper = next((each for each in (declaration, *parents) if each.keeps_init), None)
    if keeper is None:
        return f"{declaration.name} has the __init__ of a base from another library", "remove that base"
    if keeper is declaration:
        return f"{declaration.name} has init=False", "remove init=False"
    way_out = f"remove init=False from {keeper.name}, and move its attributes to a base that is not a Module"
    return f"the base {keeper.name} of {declaration.name} has init=False", way_out


def invalid_specifier_argument(context: RuleContext) -> Iterator[Problem]:
    """An argument of a specifier is unknown, or is not written as a literal.

    qten-gen reads declarations without running them, so it can only use what the text says: dimensions are integers or strings,
    switches are `True` or `False`, and arguments are not unpacked. It would have to guess the value of anything else. An
    unknown argument, such as a misspelt `persistent`, would raise TypeError when the class statement runs. `keep_dtype=True`
    requires `dtype=`: a trainer may construct in bfloat16, which would be kept otherwise.

    Example:

     from qten_gen import Module, buffer
     from torch import Tensor, nn


     class Scale(Module):
         dim: int
    -    weight: Tensor = buffer("dim", persistant=False, initializer=nn.init.ones_)
    -                                   ^^^^^^^^^^
    +    weight: Tensor = buffer("dim", persistent=False, initializer=nn.init.ones_)
    """
    is_text = not context.is_running
    for call in context.calls:
        yield from _findings(call, is_text)
        yield from _of_classes(call)
        yield from _of_lists(call)
        yield from _of_nested(call)
        yield from _of_kept(call)


def _findings(call: SpecifierCall, is_text: bool) -> Iterator[Problem]:
    """The mistakes in the arguments of one call, each on its own and together.

    `is_text` says whether it was read from text, where the value of an expression may be unknown.
    """
    called = call.name.rpartition(".")[2]
    for argument in call.arguments:
        problem = None if is_text and _is_unknown(called, argument) else _problem(call, called, argument)
        if problem is not None:
            message, help = problem
            known = argument.keyword is None or argument.keyword in language.SPECIFIER_KEYWORDS.get(call.name, ())
            yield Problem(message, argument.place if known else argument.place.beside("arg"), help)
    for first, others, help in _EXCLUDE if called in ("param", "buffer") else ():
        for excluded in call.arguments if call.get(first) is not None else ():
            if excluded.keyword in others:
                yield Problem(f"{called}(...) has both {first} and {excluded.keyword}", excluded.place, help)
    if is_sequence(call):
        own = language.SPECIFIER_KEYWORDS[language.SEQUENTIAL]
        named = [argument for argument in call.arguments if argument.keyword not in (None, *own)]
        if named and len(call.positional) > 1:
            message = "some members of the sequence have names and others have none"
            yield Problem(message, named[0].place, "give all of them names, or none")


_EXCLUDE = (
    ("value", ("initializer",), "keep value, which computes the tensor, or initializer, which fills it"),
    ("value", ("repeat", "keys"), "remove value, and fill the parameters by an initializer"),
    (
        "tie",
        ("value", "initializer", "dtype", "repeat", "keys", "group", language.KEEP_DTYPE),
        "a tied parameter is the other one, which says this: remove it here",
    ),
)
"""Keywords of a tensor that exclude others, and what to do."""


def _of_nested(call: SpecifierCall) -> Iterator[Problem]:
    """The problem with the submodules among the arguments of another, such as keywords that they cannot have."""
    for position, argument in enumerate(call.arguments):
        if not isinstance(argument.value, SpecifierCall):
            continue
        allowed = nested_keywords(language.SEQUENTIAL if is_sequence(call) else call.name, position, argument.keyword)
        member, remedy = ("a member of a sequence", "give it to the sequence") if is_sequence(call) else _OF_ANOTHER
        for given in argument.value.arguments:
            if given.keyword in language.SPECIFIER_KEYWORDS[language.SUBMODULE] and given.keyword not in allowed:
                message = f"{given.keyword} is for a submodule that is a field, not for {member}"
                help = f"{remedy}, or declare a Module with this field and use that"
                yield Problem(message, given.place, help)
            elif given.keyword == "when" and argument.value.get(language.REPEAT) is not None:
                message = "a member of a sequence has both when and repeat"
                yield Problem(message, given.place, "remove when; with repeat=0 there is none")


_OF_ANOTHER = ("an argument of another", "remove it")


def _of_kept(call: SpecifierCall) -> Iterator[Problem]:
    """The problem with `keep_dtype=True` where no dtype is declared: a trainer constructs in bfloat16, and that would be kept."""
    kept = call.get(language.KEEP_DTYPE)
    if kept is None or not isinstance(kept.value, Value) or kept.value.literal != "True" or call.get("tie") is not None:
        return
    made = (call, *(argument.value for argument in call.nested if isinstance(argument.value, SpecifierCall)))
    for each in [each for each in made if not _has_dtype(each)][:1]:
        message = "keep_dtype=True requires dtype=; without it, the dtype is the one that a trainer constructs in"
        help = "write dtype=torch.float32 beside it, and in each submodule(...) among the arguments"
        if is_sequence(each):
            help = "a sequence takes no dtype: declare a Module that has it, and keep the dtype of that"
        yield Problem(message, kept.place, help)


def _has_dtype(call: SpecifierCall) -> bool:
    """True if a call declares a dtype, or is a list of lists, whose inner call does."""
    given, made = call.get("dtype"), call.arguments[0].value if call.arguments else None
    is_none = given is None or (isinstance(given.value, Value) and given.value.literal == "None")
    return not is_none or (call.name == language.SUBMODULE and isinstance(made, SpecifierCall))


def _of_classes(call: SpecifierCall) -> Iterator[Problem]:
    """The problem with values in the place of a child's class, or of a member of a sequence, that nothing can call."""
    own = language.SPECIFIER_KEYWORDS[language.SEQUENTIAL]
    members = [each for each in call.arguments if each.keyword not in own] if is_sequence(call) else call.arguments[:1]
    for argument in members if is_sequence(call) or call.name == language.SUBMODULE else ():
        value = argument.value if isinstance(argument.value, Value) else None
        is_called = value is not None and (value.choice is not None or (value.literal is None and value.is_callable))
        if not is_called and isinstance(argument.value, Value | Dim):
            message = f"{value.text if value else argument.text} makes no child: it is neither a class nor a function"
            yield Problem(message, argument.place, "write the class, such as nn.Linear, and then its arguments")


def _of_lists(call: SpecifierCall) -> Iterator[Problem]:
    """The problem with children that are lists or dicts themselves, `submodule(submodule(Block, repeat=2), repeat=3)`."""
    inner = call.arguments[0].value if call.name == language.SUBMODULE and call.arguments else None
    if not isinstance(inner, SpecifierCall):
        return
    place = call.arguments[0].place
    help = "write submodule(submodule(Block, repeat=2), repeat=3) for a list of lists"
    if not is_several(inner):
        message = "the first argument of submodule(...) is a submodule(...) that is not repeated"
        yield Problem(message, place, help)
    elif not is_several(call):
        message = "the first argument of submodule(...) is a list of children, but the outer one is not repeated"
        yield Problem(message, place, help)
    elif any(
        argument.keyword not in language.SPECIFIER_KEYWORDS[language.SUBMODULE] for argument in call.arguments[1:]
    ):
        message = "the outer submodule of a list of lists has arguments"
        yield Problem(message, place, "give them to the inner one, which names the class")


def _is_unknown(called: str, argument: Argument) -> bool:
    """True if the value of an argument is known only at run time; the rule `dynamic-declaration` reports that."""
    value, keyword = argument.value, argument.keyword
    if isinstance(value, Value) and value.text.startswith("*"):
        return True
    if keyword is None:
        return called in ("param", "buffer", "derived", "check") and is_dynamic(value)
    return keyword in _DECIDING and (is_dynamic(value) or is_tuple(value))


def _problem(call: SpecifierCall, called: str, argument: Argument) -> tuple[str, str] | None:
    """The problem with one argument, and how to fix it; `called` is the specifier without its module."""
    value, keyword = argument.value, argument.keyword
    known = language.SPECIFIER_KEYWORDS.get(call.name)
    if known is None or (call.name == language.SUBMODULE and (keyword not in known or keyword == "init")):
        return None  # any other keyword is for the child; `init` may be too, as an argument of nn.PReLU
    if keyword is None:
        if called not in ("param", "buffer", "derived", "check") or not isinstance(value, Value):
            return None
        what = "a dimension" if called in ("param", "buffer") else "an expression"
        help = 'write an integer, or an expression over config fields such as "3*dim"'
        return f"{what} must be an integer or a string, got {value.text}", help
    if keyword not in known:
        help = did_you_mean(keyword, known, f"it accepts {', '.join(known)}")
        return f"{called}(...) got an unexpected keyword argument {keyword!r}", help
    if keyword not in _EXPECTED or _fits(keyword, value):
        return None
    expected, example = _EXPECTED[keyword]
    got = value.text if isinstance(value, Value) else argument.text
    return f"{keyword} must be {expected}, got {got}", f"write {example}"


_EXPECTED = {
    "when": ("a string", 'when="use_bias"'),
    "tie": ("a string", 'tie="embed.weight"'),
    "group": ("a string", 'group="no_decay"'),
    "repeat": ("an integer or a string", 'repeat=2, or repeat="depth" for a config field'),
    "keys": ("a string or a tuple of strings", 'keys=("first", "second"), or keys="tasks" for a config field'),
    "dtype": ("a torch.dtype", "one, such as torch.float32; the constructor's own argument dtype is for all tensors"),
    **{name: ("True or False", f"{name}=True or {name}=False") for name in language.SPECIFIER_SWITCHES},
}
"""What a keyword takes, and an example."""


def _fits(keyword: str, value: object) -> bool:
    """True if a value is one that a keyword takes, as far as the text shows."""
    if keyword in language.SPECIFIER_SWITCHES:
        return isinstance(value, Value) and value.literal in ("True", "False")
    if not isinstance(value, Value) or value.literal == "None":
        return True
    given: object = None if value.literal is None else literal_eval(value.literal)
    match keyword:
        case "when" | "repeat":
            return False  # where an expression is written, it has been read as one
        case "tie" | "group":
            return isinstance(given, str)
        case "keys":
            names = given if isinstance(given, tuple) else (given,)
            return all(isinstance(name, str) for name in names)
    name = value.torch_name or value.name
    is_class = name.startswith("builtins.") or (name.startswith("torch.") and name.endswith("Tensor"))
    return value.literal is None and not is_class
