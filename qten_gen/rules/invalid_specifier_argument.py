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
from ..model.field_kinds import child_class
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

_SPECIFIERS_OF_MODULES = ("param", "buffer", "submodule")


def check(context: RuleContext) -> Iterator[Diagnostic]:
    is_text = context.source is not None
    for field in context.field_sources:
        if field.specifier is not None:
            child = "" if field.annotation is None else child_class(field.annotation).text
            yield from _findings(field.specifier, is_text, child)
            yield from _of_lists(field.specifier)
            yield from _of_nested(field.specifier, is_text)
    for call in context.check_calls:
        yield from _findings(call, is_text)
    for method in context.source.methods if context.source is not None else ():
        if method.specifier is not None:
            yield from _findings(method.specifier, is_text)


def _findings(call: SpecifierCall, is_text: bool, child: str = "") -> Iterator[Diagnostic]:
    """The problem with the arguments of one call, each on its own and together.

    Args:
        call: The call of a specifier.
        is_text: Whether it was read from text, where the value of an expression may be unknown.
        child: The class of the children in the field's annotation, as written: `nn.LayerNorm`.
    """
    called = call.name.rpartition(".")[2]
    for argument in call.arguments:
        problem = None if is_text and _is_unknown(called, argument) else _problem(call, called, argument)
        if problem is not None:
            message, help = problem
            known = argument.keyword is None or argument.keyword in language.SPECIFIER_KEYWORDS.get(call.name, ())
            yield Diagnostic(KIND, message, argument.place if known else argument.place.beside("arg"), help)
    if called == "submodule":
        yield from _of_class(call, child)
    if called in ("derived", "check") and len(call.positional) != 1 and not _is_unpacked(call):
        example = 'derived("dim // heads")' if called == "derived" else 'check("dim % heads == 0")'
        message = f"{called}(...) takes one expression, but {len(call.positional)} are given"
        yield Diagnostic(KIND, message, call.place, f"write {example}")
    yield from _of_several(call, called)
    if is_sequence(call):
        own = language.SPECIFIER_KEYWORDS[language.SEQUENTIAL]
        named = [argument for argument in call.arguments if argument.keyword not in (None, *own)]
        if named and len(call.positional) > 1:
            message = "some members of the sequence have names and others have none"
            yield Diagnostic(KIND, message, named[0].place, "give all of them names, or none")
    if call.get("default") is not None and call.get("default_factory") is not None:
        yield Diagnostic(
            KIND, "a field cannot have both a default and a default_factory", call.place, "remove one of them"
        )


def _of_class(call: SpecifierCall, child: str) -> Iterator[Diagnostic]:
    """The problem with the first argument of a submodule, which is what makes the child."""
    message = "submodule(...) needs a class as its first argument"
    names_class = child.replace(".", "").isidentifier() and not child.endswith(("ModuleList", "ModuleDict"))
    help = f"write submodule({child}, ...)" if names_class else 'write submodule(nn.Linear, "dim", "dim")'
    if not call.positional:
        yield Diagnostic(KIND, message, call.place, help)
        return
    first = call.positional[0]
    made = first.value
    if isinstance(made, Value) and (made.literal is not None or not (made.is_callable or made.contains)):
        yield Diagnostic(KIND, f"{message}, got {made.text}", first.place, help)


def _is_unpacked(call: SpecifierCall) -> bool:
    return any(isinstance(one.value, Value) and one.value.text.startswith("*") for one in call.arguments)


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
    ("tie", "repeat", "tie single parameters"),
    ("tie", "keys", "tie single parameters"),
    ("tie", "group", "a tied parameter is in the group of the other: remove group"),
    ("tie", "keep_dtype", "a tied parameter has the dtype of the other: remove keep_dtype"),
)


def _of_nested(call: SpecifierCall, is_text: bool) -> Iterator[Diagnostic]:
    """The problem with the submodules among the arguments of another, such as keywords that they cannot have."""
    for position, argument in enumerate(call.arguments):
        if not isinstance(argument.value, SpecifierCall):
            yield from _of_field(call, argument)
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


def _of_field(call: SpecifierCall, argument: Argument) -> Iterator[Diagnostic]:
    """The problem with the specifier of a field among the arguments of a child."""
    value = argument.value
    is_own = argument.keyword in language.SPECIFIER_KEYWORDS[language.SUBMODULE]
    if call.name != language.SUBMODULE or argument is call.arguments[0] or is_own or not isinstance(value, Value):
        return
    called = next((name for name in value.contains if name in _OF_FIELDS), None)
    if called is not None and not value.is_container:
        message = f"{called.rpartition('.')[2]}(...) declares a field, so it cannot be an argument of submodule(...)"
        yield Diagnostic(KIND, message, argument.place, "declare it as a field of the child's own class")


_OF_FIELDS = language.SPECIFIERS - {language.SUBMODULE}


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
    unreadable = _unreadable(called, keyword, value)
    if unreadable is not None:
        return unreadable
    known = language.SPECIFIER_KEYWORDS.get(call.name)
    if known is None or (call.name == language.SUBMODULE and keyword != language.KEEP_DTYPE):
        return None
    if keyword is None:
        return (
            _positional_problem(called, value) if isinstance(value, Value) or called in ("field", "virtual") else None
        )
    if keyword not in known:
        if keyword in ("shape", "size") and called in ("param", "buffer"):
            return f"{called}(...) takes its sizes without a keyword", f"write {called}(3, 4, ...)"
        help = did_you_mean(keyword, known, f"it accepts {', '.join(known)}")
        return f"{called}(...) got an unexpected keyword argument {keyword!r}", help
    if keyword in language.SPECIFIER_SWITCHES and not (isinstance(value, Value) and value.literal in ("True", "False")):
        got = value.text if isinstance(value, Value) else argument.text
        message = f"{keyword} must be True or False, got {got}"
        if keyword == "init" and called in ("param", "buffer"):
            return message, "write initializer=nn.init.ones_, for example, to say what fills the tensor"
        return message, f"write {keyword}=True or {keyword}=False"
    if called == "virtual":
        return _virtual_problem(keyword, value)
    if keyword == "init" and isinstance(value, Value) and value.literal == "True":
        return f"{called}(...) is never a constructor argument", "remove init=True"
    return None


def _virtual_problem(keyword: str, value: object) -> tuple[str, str] | None:
    """The problem with `cached` or `sources`, and how to fix it."""
    literal = value.literal if isinstance(value, Value) else None
    given: object = None if literal is None else literal_eval(literal)
    text = value.text if isinstance(value, Value) else ""
    if keyword == "cached" and not (isinstance(given, bool) or given == language.MAY_BE_STALE):
        expected = f'True, False or "{language.MAY_BE_STALE}"'
        return f"cached must be {expected}, got {text}", "write cached=True"
    if keyword == "sources" and literal != "None" and not (isinstance(given, tuple) and _is_names(given)):
        return f"sources must be a tuple of strings, got {text}", 'write sources=("dim",) for a config field'
    return None


def _unreadable(called: str, keyword: str | None, value: object) -> tuple[str, str] | None:
    """The problem with an argument that must be a literal, and how to fix it."""
    if not isinstance(value, Value) or called not in _SPECIFIERS_OF_MODULES:
        return None
    given = None if value.literal is None else literal_eval(value.literal)
    if keyword == "dtype" and called in ("param", "buffer"):
        return _dtype_problem(value, given)
    is_expression = keyword == language.WHEN  # which only a string that is written there gives
    if keyword in _EXAMPLES and value.literal != "None" and (is_expression or not isinstance(given, str)):
        example = _EXAMPLES[keyword]
        return f"{keyword} must be a string, got {value.text}", f"write {example}"
    if called == "buffer":
        return None
    if keyword == "repeat":
        return (
            f"repeat must be an integer or a string, got {value.text}",
            'write repeat=2, or repeat="depth" for a config field',
        )
    if keyword == "keys" and not _is_names(given):
        return (
            f"keys must be a string or a tuple of strings, got {value.text}",
            'write keys=("first", "second"), or keys="tasks" for a config field',
        )
    return None


_EXAMPLES = {"when": 'when="use_bias"', "tie": 'tie="embed.weight"', "group": 'group="no_decay"'}


def _dtype_problem(value: Value, given: object) -> tuple[str, str] | None:
    """The problem with a dtype that is a string, a class or a number, and how to fix it."""
    name = value.torch_name or value.name
    is_class = name.startswith("builtins.") or (name.startswith("torch.") and name.endswith("Tensor"))
    if value.literal == "None" or (value.literal is None and not is_class):
        return None
    meant = _DTYPES.get(name.rpartition(".")[2], "float32")
    plain = given.removeprefix("torch.") if isinstance(given, str) else meant
    help = f"write dtype=torch.{plain}"
    if not plain.isidentifier():
        help = "write a dtype that does not depend on the arguments; the constructor's own argument dtype is for all tensors"
    return f"dtype must be a torch.dtype, got {value.text}", help


_DTYPES = {"int": "int64", "bool": "bool", "LongTensor": "int64", "BoolTensor": "bool", "HalfTensor": "float16"}
"""The dtypes that classes stand for."""


def _is_names(given: object) -> bool:
    return isinstance(given, str) or (isinstance(given, tuple) and all(isinstance(name, str) for name in given))


def _positional_problem(called: str, value: object) -> tuple[str, str]:
    if called == "field":
        return "field(...) takes keyword arguments only", "write field(default=...) or field(default_factory=...)"
    if called == "virtual":
        return "virtual(...) takes keyword arguments only", "write @virtual or @virtual(cached=True)"
    text = value.text if isinstance(value, Value) else ""
    what = "a dimension" if called in ("param", "buffer") else "an expression"
    return f"{what} must be an integer or a string, got {text}", _help_about_dimensions(called, text)


def _help_about_dimensions(called: str, text: str) -> str:
    """How dimensions are written, for somebody who gave something else, such as the tuple that `torch.zeros` takes."""
    if called in ("param", "buffer") and text[:1] in "([" and text[-1:] in ")]":
        sizes = text[1:-1].strip().rstrip(",")
        return (
            f"write {called}({sizes}, ...)" if sizes else f"leave it out: {called}(...) without dimensions is a scalar"
        )
    return 'write an integer, or an expression over config fields such as "3*dim"'
