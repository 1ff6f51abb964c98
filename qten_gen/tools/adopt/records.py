"""The records of an adoption: a class that was found, what a level proposes for it, what became of it; and the report of them."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

from ...model.diagnostics import Diagnostic

if TYPE_CHECKING:
    import libcst as cst

Change = Callable[["cst.ClassDef"], "cst.ClassDef"]
"""A class statement with something changed: a function of `rewriting.py`, applied to all but its first argument."""


class Level(Enum):
    """How far an adoption goes. Each level includes those before it."""

    BASE = "base"
    """The bases change, and nothing else."""
    ANNOTATE = "annotate"
    """The class body also says what `__init__` registers, and methods what they provably return."""


class Kind(Enum):
    """The kind of a class before its adoption, or in the past."""

    MODULE = "module"
    """It derives from `torch.nn.Module`."""
    TENSORCLASS = "tensorclass"
    """It is one of tensordict's: decorated, or derived from `tensordict.TensorClass`."""
    DATACLASS = "dataclass"
    """A dataclass of the standard library with a field that holds tensors."""


@dataclass(frozen=True, slots=True)
class Need:
    """A name that a change uses, and that the file has to import: `from qten_gen import Module`, or `import qten_gen`."""

    module: str
    name: str | None = None
    """None if the module itself is imported."""
    alias: str | None = None
    """The alias of the imported module, in a file that has other plans for its name."""

    @property
    def bound(self) -> str:
        """The name that the import binds."""
        return self.name or self.alias or self.module


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a class stays as it is, or why a level cannot do more with it."""

    text: str
    """The obstacle: `its base timm.layers.BatchNormAct2d is a class of another library`."""
    help: str = ""
    """The text to write instead, if there is one."""
    code: str = ""
    """The code of the finding that adopting the class would cause, such as QG218."""
    is_open: bool = True
    """True if a person could adopt the class; False for what does not concern qten-gen."""


Key = tuple[str, str]
"""The path of a file and the name of a class in it."""


@dataclass(frozen=True, slots=True)
class FoundClass:
    """A class statement that an adoption is about."""

    path: str
    module: str
    name: str
    kind: Kind
    line: int
    ancestors: tuple[str, ...] = field(repr=False)
    """The resolved names of its ancestors, in method resolution order, without itself."""
    node: ast.ClassDef = field(compare=False, repr=False)
    is_adopted: bool = False
    """True if it derives from qten_gen's class already, directly or through its bases."""
    is_inner: bool = False
    """True if it stands inside a class or a function, where nothing is generated for it."""
    holds_tensors: bool = True
    """True if a dataclass, or one that it derives from, has a field for tensors."""

    @property
    def qualified(self) -> str:
        """`shop.model.Encoder`. Files of two programs may have classes of one qualified name."""
        return f"{self.module}.{self.name}"

    @property
    def key(self) -> Key:
        """Its identity among all classes of a run."""
        return self.path, self.name


@dataclass(frozen=True, slots=True)
class Proposal:
    """The changes that a level proposes for a class. Its changes are made together or not at all."""

    name: str
    """The name of the class in its file."""
    does: tuple[str, ...] = ()
    """The effects of the changes, one line each, in the imperative: `derive from Module`."""
    changes: tuple[Change, ...] = ()
    needs: tuple[Need, ...] = ()
    stays: Reason | None = None
    """Why there is nothing that the level can do; only without changes."""
    notes: tuple[str, ...] = ()
    """The facts that the author should know, and the work left to do by hand."""


@dataclass(frozen=True, slots=True)
class Adoption:
    """The changes of a class, done or proposed."""

    found: FoundClass
    is_adopted: bool
    """True if it is a class of qten_gen afterwards."""
    done: tuple[tuple[Level, str], ...] = ()
    """The effect of each level, in order."""
    stays: tuple[tuple[Level, Reason], ...] = ()
    """Why it stays, or why a higher level could do nothing."""
    notes: tuple[str, ...] = ()

    @property
    def why_it_stays(self) -> Reason | None:
        """Why it is not a class of qten_gen afterwards; None for one that is."""
        return None if self.is_adopted else next((reason for _, reason in self.stays), None)


@dataclass(frozen=True, slots=True)
class Options:
    """The options of a user."""

    level: Level = Level.ANNOTATE
    dataclasses: bool = False
    """True if dataclasses with tensor fields are adopted."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The results of a run, or of a run that writes nothing."""

    adoptions: tuple[Adoption, ...]
    """Every class, by path and line."""
    texts: Mapping[str, bytes]
    """The new texts of the files that change, by path."""
    problems: tuple[Diagnostic, ...] = ()
    """Why files cannot be read."""

    @property
    def files(self) -> int:
        """How many files have classes to adopt, or adopted ones."""
        return len({each.found.path for each in self.adoptions})


_BOLD, _YELLOW = "1", "33"

_STAYING = {Level.BASE: "stays", Level.ANNOTATE: "is not annotated"}
"""The verb for a class for which a level can do nothing."""


def lines_of(outcome: Outcome, verbose: bool, color: bool) -> Iterator[str]:
    """A line for each class that changes or stays; with `verbose`, for every class."""
    for each in outcome.adoptions:
        where = f"{each.found.path}:{each.found.line}:"
        name = _painted(each.found.name, _BOLD, color)
        if each.done:
            yield f"{where} {name}: {'; '.join(line for _, line in each.done)}"
        elif each.is_adopted and not each.stays and verbose:
            yield f"{where} {name} is adopted already"
        for level, reason in each.stays:
            code = f" [{reason.code}]" if reason.code else ""
            yield f"{where} {name} {_painted(_STAYING[level], _YELLOW, color)}: {reason.text}{code}"
            if reason.help:
                yield f"    help: {reason.help}"
        yield from (f"    note: {note}" for note in each.notes)


def _painted(text: str, style: str, color: bool) -> str:
    return f"\x1b[{style}m{text}\x1b[0m" if color else text


def summary(outcome: Outcome, written: bool, seconds: float) -> Iterator[str]:
    """How many classes there are, what became of them, and how often each reason to stay occurs."""
    reasons = Counter(reason.text for each in outcome.adoptions if (reason := each.why_it_stays) is not None)
    for text, number in reasons.most_common():
        yield f"{number:5} {'stays' if number == 1 else 'stay'}: {text}"
    counts = Counter(_state(each) for each in outcome.adoptions)
    words = {
        "changed": "adopted" if written else "to adopt",
        "further": "taken further" if written else "to take further",
    }
    words |= {"already": "adopted already", "stays": "stay" if counts["stays"] != 1 else "stays", "other": "left out"}
    shown = [f"{counts[state]} {word}" for state, word in words.items() if counts[state]]
    files = f"{outcome.files} file{'' if outcome.files == 1 else 's'}"
    number = len(outcome.adoptions)
    classes = f"{number} class{'' if number == 1 else 'es'}"
    yield f"{classes} in {files}: {', '.join(shown) or 'nothing to do'} in {seconds:.2f}s"


def _state(each: Adoption) -> str:
    """The state of a class, for the counts."""
    if each.is_adopted and not each.found.is_adopted:
        return "changed"
    if each.is_adopted:
        return "further" if each.done else "already"
    reason = each.why_it_stays
    return "stays" if reason is None or reason.is_open else "other"
