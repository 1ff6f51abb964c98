"""A class flag or its value is unknown.

A misspelt flag would have no effect: with `frozn=True`, the class would stay mutable, and neither the type checker nor the
program would notice.

All other keywords are for the `__init_subclass__` of a base. The rule reports keywords that no base takes. A base that the run
does not contain may take any keyword; the class statement finds out.

A TensorClass takes flags as keywords (`class Batch(TensorClass, frozen=True)`) or in brackets (`TensorClass["frozen"]`). Each
is True or False, except `checks`, which is `"on"` or `"off"`. A Module takes only `init=False`, which inherits a hand-written
`__init__`, or that of nn.Module directly below Module, where annotations with a value are attributes. If there are arguments to
construct and no base has a constructor for them, type checkers would reject every argument of the generated one.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..common.suggestions import did_you_mean, only_near
from ..model import FLAGS, INIT, STRING_OPTIONS, ModuleDecl, NodePath, TensorClassDecl, VirtualDecl, language
from ..model.diagnostics import Diagnostic, Fix, Kind
from ..model.written_init import is_root
from .dynamic_declaration import is_dynamic
from .rule_input import RuleContext

KIND = Kind("QG104", "unknown-flag")

EXAMPLE = """
 from qten_gen import TensorClass
 from torch import Tensor


-class Batch(TensorClass, frozn=True):
-                         ^^^^^
+class Batch(TensorClass, frozen=True):
     tokens: Tensor
"""


_WITHOUT_HOOK = ("abc", "builtins", "qten_gen", "torch", "typing", "typing_extensions")
"""Packages with no class whose `__init_subclass__` takes keywords."""
_OF_TENSORDICT = {
    "cast_filter": "pass it to .to, .float() and the like, or override those",
    "kw_only": "write field(kw_only=True) for each field",
    "skip_post_init_on_rebuild": "leave it out; __post_init__ runs in the constructor only",
}
"""Flags of tensordict's TensorClass that are not here, and what to do instead."""


def check(context: RuleContext) -> Iterator[Diagnostic]:
    for flag, value, place in _given(context):
        if isinstance(context.declaration, ModuleDecl):
            yield from _of_module(context.declaration, flag, value, place, context)
        elif flag in STRING_OPTIONS:
            words = [repr(word) for word in STRING_OPTIONS[flag]]
            if value not in words:
                yield Diagnostic(
                    KIND, f"the flag {flag!r} must be {' or '.join(words)}", place, f"write {flag}={' or '.join(words)}"
                )
        elif flag not in FLAGS:
            if _is_passed_on(context):
                continue
            known = (*FLAGS, *STRING_OPTIONS)
            help = _OF_TENSORDICT.get(flag) or did_you_mean(flag, known, f"the flags are {', '.join(known)}")
            meant = None if flag in _OF_TENSORDICT or not _is_keyword(place) else only_near(flag, known)
            fix = None if meant is None else Fix(meant, place)
            yield Diagnostic(KIND, f"TensorClass has no flag {flag!r}", place, help, fix=fix)
        elif value not in ("True", "False"):
            yield Diagnostic(
                KIND, f"the flag {flag!r} must be True or False", place, f"write {flag}=True, or leave it out"
            )


def _of_module(
    declaration: ModuleDecl, flag: str, value: str | None, place: NodePath, context: RuleContext
) -> Iterator[Diagnostic]:
    """The problem with a class keyword of a Module, which takes `init=False` only."""
    if flag != INIT:
        if not _is_passed_on(context):
            yield Diagnostic(KIND, f"Module has no flag {flag!r}", place, "remove it")
    elif value != "False":
        yield Diagnostic(KIND, "the flag 'init' must be False", place, "write init=False, or leave it out")
    elif not declaration.custom_init or _keeps_none(declaration):
        message = f"no base of {declaration.name} has a hand-written __init__ that init=False could inherit"
        yield Diagnostic(KIND, message, place, "remove it; qten-gen generates the constructor")


def _keeps_none(declaration: ModuleDecl) -> bool:
    """Whether a class directly below Module declares arguments, and nobody wrote a constructor that takes them."""
    declares = any(field.name in declaration.own and not isinstance(field, VirtualDecl) for field in declaration.fields)
    writes = any(method.name == "__init__" for method in declaration.methods)
    others = any(not is_root(base) for base in declaration.bases)
    return declares and not writes and not others


def _is_keyword(place: NodePath) -> bool:
    """Whether a flag is written as a keyword, rather than in brackets."""
    return place.steps[-1:] == ("arg",)


def _is_passed_on(context: RuleContext) -> bool:
    """Whether an `__init_subclass__` of a base may take a class keyword. Python refuses one that nobody takes."""
    classes = (context.declaration, *context.project.ancestors(context.declaration))
    others = (base.name for cls in classes for base in cls.bases if not base.declared)
    hooks = (method.name == "__init_subclass__" for cls in classes[1:] for method in cls.methods)
    return any(name.partition(".")[0] not in _WITHOUT_HOOK for name in others) or any(hooks)


def _given(context: RuleContext) -> Iterator[tuple[str, str | None, NodePath]]:
    """The flags of the class statement: name, value as a literal, place."""
    if context.source is None:
        if isinstance(context.declaration, TensorClassDecl):
            yield from ((flag, "True", context.name_place) for flag in sorted(context.declaration.flags))
        yield from ((keyword, value, context.name_place) for keyword, value in context.statement.keywords)
        return
    for name, value in context.source.keywords:
        if name != "metaclass" and not is_dynamic(value):
            yield name, value.literal, value.place.beside("arg")
    for base in context.source.bases:
        if base.name == language.TENSORCLASS:
            yield from ((argument, "True", base.place) for argument in base.args if isinstance(argument, str))
