"""An argument of a specifier is unknown, or is not written as a literal.

qten-gen reads declarations without running them, so it can only use what the text says: dimensions are integers or strings,
switches are `True` or `False`, and arguments are not unpacked. It would have to guess the value of anything else. An unknown
argument, such as a misspelt `persistent`, would raise TypeError when the class statement runs.
"""

from __future__ import annotations

from ast import literal_eval
from collections.abc import Iterator

from ..common.suggestions import did_you_mean
from ..model import Argument, SpecifierCall, Value, is_sequence, is_several, language, nested_keywords
from ..model.diagnostics import Diagnostic, Kind
from .dynamic_declaration import KEYWORDS as _DECIDING
from .dynamic_declaration import is_dynamic, is_tuple
from .rule_input import RuleContext

KIND = Kind("QG305", "invalid-specifier-argument")

EXAMPLE = """
 from qten_gen import Module, buffer
 from torch import Tensor, nn


 class Scale(Module):
     dim: int
-    weight: Tensor = buffer("dim", persistant=False, initializer=nn.init.ones_)
-                                   ^^^^^^^^^^
+    weight: Tensor = buffer("dim", persistent=False, initializer=nn.init.ones_)
"""


def check(context: RuleContext) -> Iterator[Diagnostic]:
    is_text = context.source is not None
    for field in context.field_sources:
        if field.specifier is not None:
            yield from _findings(field.specifier, is_text)
            yield from _of_lists(field.specifier)
            yield from _of_nested(field.specifier, is_text)
    for call in context.check_calls:
        yield from _findings(call, is_text)
    for method in context.source.methods if context.source is not None else ():
        if method.specifier is not None:
            yield from _findings(method.specifier, is_text)


def _findings(call: SpecifierCall, is_text: bool) -> Iterator[Diagnostic]:
    """The mistakes in the arguments of one call, each on its own and together.

    `is_text` says whether it was read from text, where the value of an expression may be unknown.
    """
    called = call.name.rpartition(".")[2]
    for argument in call.arguments:
        problem = None if is_text and _is_unknown(called, argument) else _problem(call, called, argument)
        if problem is not None:
            message, help = problem
            known = argument.keyword is None or argument.keyword in language.SPECIFIER_KEYWORDS.get(call.name, ())
            yield Diagnostic(KIND, message, argument.place if known else argument.place.beside("arg"), help)
    yield from _of_several(call, called)
    if is_sequence(call):
        own = language.SPECIFIER_KEYWORDS[language.SEQUENTIAL]
        named = [argument for argument in call.arguments if argument.keyword not in (None, *own)]
        if named and len(call.positional) > 1:
            message = "some members of the sequence have names and others have none"
            yield Diagnostic(KIND, message, named[0].place, "give all of them names, or none")


def _of_several(call: SpecifierCall, called: str) -> Iterator[Diagnostic]:
    """Arguments of a parameter or buffer that exclude each other."""
    if called not in ("param", "buffer"):
        return
    for first, second, help in _EXCLUDE:
        argument = call.get(second)
        if call.get(first) is not None and argument is not None:
            yield Diagnostic(KIND, f"{called}(...) has both {first} and {second}", argument.place, help)


_EXCLUDE = (
    ("value", "initializer", "keep value, which computes the tensor, or initializer, which fills it"),
    ("value", "tie", "a tied parameter has the value of the other: remove value"),
    ("value", "repeat", "remove value, and fill the parameters by an initializer"),
    ("value", "keys", "remove value, and fill the parameters by an initializer"),
    ("tie", "initializer", "a tied parameter is filled where the other is declared: remove initializer"),
    ("tie", "dtype", "a tied parameter has the dtype of the other: remove dtype"),
    ("tie", "repeat", "tie single parameters"),
    ("tie", "keys", "tie single parameters"),
    ("tie", "group", "a tied parameter is in the group of the other: remove group"),
    ("tie", "keep_dtype", "a tied parameter has the dtype of the other: remove keep_dtype"),
)


def _of_nested(call: SpecifierCall, is_text: bool) -> Iterator[Diagnostic]:
    """The problem with the submodules among the arguments of another, such as keywords that they cannot have."""
    for position, argument in enumerate(call.arguments):
        if not isinstance(argument.value, SpecifierCall):
            continue
        yield from _findings(argument.value, is_text)
        yield from _of_nested(argument.value, is_text)
        allowed = nested_keywords(language.SEQUENTIAL if is_sequence(call) else call.name, position, argument.keyword)
        member, remedy = ("a member of a sequence", "give it to the sequence") if is_sequence(call) else _OF_ANOTHER
        for given in argument.value.arguments:
            if given.keyword in language.SPECIFIER_KEYWORDS[language.SUBMODULE] and given.keyword not in allowed:
                message = f"{given.keyword} is for a submodule that is a field, not for {member}"
                help = f"{remedy}, or declare a Module with this field and use that"
                yield Diagnostic(KIND, message, given.place, help)
            elif given.keyword == "when" and argument.value.get(language.REPEAT) is not None:
                message = "a member of a sequence has both when and repeat"
                yield Diagnostic(KIND, message, given.place, "remove when; with repeat=0 there is none")


_OF_ANOTHER = ("an argument of another", "remove it")


def _of_lists(call: SpecifierCall) -> Iterator[Diagnostic]:
    """The problem with children that are lists or dicts themselves, `submodule(submodule(Block, repeat=2), repeat=3)`."""
    inner = call.arguments[0].value if call.name == language.SUBMODULE and call.arguments else None
    if not isinstance(inner, SpecifierCall):
        return
    place = call.arguments[0].place
    help = "write submodule(submodule(Block, repeat=2), repeat=3) for a list of lists"
    if not is_several(inner):
        message = "the first argument of submodule(...) is a submodule(...) that is not repeated"
        yield Diagnostic(KIND, message, place, help)
    elif not is_several(call):
        message = (
            "the first argument of submodule(...) is a list of children, but the outer submodule(...) is not repeated"
        )
        yield Diagnostic(KIND, message, place, help)
    elif any(
        argument.keyword not in language.SPECIFIER_KEYWORDS[language.SUBMODULE] for argument in call.arguments[1:]
    ):
        message = "the outer submodule of a list of lists has arguments"
        yield Diagnostic(KIND, message, place, "give them to the inner one, which names the class")
    yield from _of_lists(inner)


def _is_unknown(called: str, argument: Argument) -> bool:
    """Whether the value of an argument is known only at run time; the rule `dynamic-declaration` reports that."""
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
        return None  # any other keyword is for the child; `init` may be too, as that of nn.PReLU
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
    """Whether a value is one that a keyword takes, as far as the text shows."""
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
            return isinstance(given, str) or _is_names(given)
    name = value.torch_name or value.name
    is_class = name.startswith("builtins.") or (name.startswith("torch.") and name.endswith("Tensor"))
    return value.literal is None and not is_class


def _is_names(given: object) -> bool:
    return isinstance(given, tuple) and all(isinstance(name, str) for name in given)
