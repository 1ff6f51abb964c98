"""A class flag that does not exist.

Flags are given as keywords (`class Batch(TensorClass, frozen=True)`) or in brackets (`TensorClass["frozen"]`); each is on or off.
The keyword `checks` takes a word, `"on"` or `"off"`. A Module has none but `init=False`, which keeps the `__init__` that a parent
writes by hand; where no parent writes one, it would leave the class without a constructor.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..common.suggestions import did_you_mean
from ..model import FLAGS, INIT, STRING_OPTIONS, ModuleDecl, NodePath, TensorClassDecl, language
from ..model.diagnostics import Diagnostic, Kind
from .context import RuleContext

KIND = Kind("QG104", "unknown-flag")

GOOD = """
from qten_gen import TensorClass
from torch import Tensor


class Batch(TensorClass, frozen=True):
    tokens: Tensor
"""

BAD = """
from qten_gen import TensorClass
from torch import Tensor


class Batch(TensorClass, frozn=True):
                         ^^^^^
    tokens: Tensor
"""


def check(context: RuleContext) -> Iterator[Diagnostic]:
    for place in context.source.unpacked if context.source is not None else ():
        yield Diagnostic(
            KIND,
            "bases and flags cannot be unpacked here, the text does not say what they are",
            place,
            "write them out",
        )
    for flag, value, place in _given(context):
        if isinstance(context.declaration, ModuleDecl):
            yield from _of_module(context.declaration, flag, value, place)
        elif flag in STRING_OPTIONS:
            words = [repr(word) for word in STRING_OPTIONS[flag]]
            if value not in words:
                yield Diagnostic(
                    KIND, f"{flag!r} is neither {' nor '.join(words)}", place, f"write {flag}={' or '.join(words)}"
                )
        elif flag not in FLAGS:
            known = (*FLAGS, *STRING_OPTIONS)
            help = did_you_mean(flag, known, f"the flags are {', '.join(known)}")
            yield Diagnostic(KIND, f"TensorClass has no flag {flag!r}", place, help)
        elif value not in ("True", "False"):
            yield Diagnostic(
                KIND, f"the flag {flag!r} is neither True nor False", place, f"write {flag}=True, or leave it out"
            )


def _of_module(declaration: ModuleDecl, flag: str, value: str | None, place: NodePath) -> Iterator[Diagnostic]:
    if flag != INIT:
        yield Diagnostic(KIND, f"a Module has no flags, {flag!r} is none", place, "remove it")
    elif value != "False":
        yield Diagnostic(KIND, "init can only be False", place, "write init=False, or leave it out")
    elif not declaration.custom_init:
        message = (
            f"no parent of {declaration.name} writes __init__ by hand, so there is none that init=False could keep"
        )
        yield Diagnostic(KIND, message, place, "remove it; the constructor is generated")


def _given(context: RuleContext) -> Iterator[tuple[str, str | None, NodePath]]:
    """The flags as given: name, value, place."""
    if context.source is None:
        if isinstance(context.declaration, TensorClassDecl):
            yield from ((flag, "True", context.name_place) for flag in sorted(context.declaration.flags))
            yield "checks", repr(context.declaration.checks), context.name_place
        elif context.declaration.keeps_init:
            yield INIT, "False", context.name_place
        return
    for name, value in context.source.keywords:
        if name != "metaclass":
            yield name, value.literal, value.place.beside("keyword")
    for base in context.source.bases:
        if base.name == language.TENSORCLASS:
            yield from ((argument, "True", base.place) for argument in base.args if isinstance(argument, str))
