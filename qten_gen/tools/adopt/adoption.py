"""The records of an adoption: what was found of a class, what a level proposes for it, and what became of it."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import libcst as cst

Change = Callable[["cst.ClassDef"], "cst.ClassDef"]
"""A class statement with something changed: a function of `rewriting/`, applied to all but its first argument."""


class Level(Enum):
    """How far an adoption goes. Each level includes those before it."""

    BASE = "base"
    """The bases change, and nothing else."""
    ANNOTATE = "annotate"
    """The class body also says what `__init__` registers, and methods what they provably return."""

    @property
    def included(self) -> tuple[Level, ...]:
        """This level and those before it, in the order in which they are applied."""
        levels = tuple(Level)
        return levels[: levels.index(self) + 1]


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
    """Whether a person could adopt the class; False for what does not concern qten-gen."""


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
    """Whether it derives from qten_gen's class already, directly or through its bases."""
    is_inner: bool = False
    """Whether it stands inside a class or a function, where nothing is generated for it."""

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
    """That of the class, in its file."""
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
    """Whether it is a class of qten_gen afterwards."""
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
    """Whether dataclasses with tensor fields are adopted."""
