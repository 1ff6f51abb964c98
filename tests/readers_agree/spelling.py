"""Ways of writing an expression, which compose: each takes a piece of a declaration and returns it written in another way."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

COMMON = """\
from torch import Tensor
from qten_gen import Module, TensorClass

class Point(TensorClass):
    x: Tensor

class Block(Module):
    dim: int
"""
"""A module that all spellings import."""

HEAD = """\
import enum, functools, typing
import torch
import torch as t
import torch.nn.functional as F
import qten_gen
from torch import Tensor, nn
from typing import TYPE_CHECKING, Annotated, Any, Callable, ClassVar, Final, Generic, Literal, NewType, Optional
from typing import TypeAlias, TypeVar, Union
from typing_extensions import TypeAliasType
from jaxtyping import Float
from qten_gen import Module, ModuleDict, ModuleList, PerItem, TensorClass, Unbatched
from qten_gen import buffer, check, choice, const, derived, field, param, sequential, submodule, virtual
from spelled_common import Block, Point
"""
"""What every file of a spelling starts with."""


@dataclass(frozen=True)
class Piece:
    """An expression, and what has to stand elsewhere for it to have its meaning."""

    expr: str
    before: str = ""
    """Statements above the class."""
    after: str = ""
    """Statements below the class."""
    inside: str = ""
    """Statements at the start of the class body."""
    files: Mapping[str, str] = field(default_factory=dict)
    """Other modules of the package, each below `HEAD`: `{"types_": "Tokens = Tensor"}`; `""` is the package itself."""
    future: bool = False
    """Whether the file starts with `from __future__ import annotations`."""
    count: int = 0
    """How many names were made up."""


@dataclass(frozen=True)
class Spelling:
    """A package of which the module `model` is read in both ways."""

    name: str
    files: Mapping[str, str]
    """The whole text of each module, `model` among them."""


Way = Callable[[Piece], Piece]


def spelling(name: str, piece: Piece, body: str) -> Spelling:
    """The package in which `body`, class statements with a place for the expression, stands among what the piece needs.

    `EXPR` stands for the expression, `INSIDE` on a line of its own for statements of the class body.
    """
    lines: list[str] = []
    for line in body.splitlines():
        if line.strip() == "INSIDE":
            indent = line[: len(line) - len(line.lstrip())]
            lines.extend(f"{indent}{inner}" for inner in piece.inside.splitlines())
        else:
            lines.append(line.replace("EXPR", piece.expr))
    future = "from __future__ import annotations\n" if piece.future else ""
    model = f"{future}{HEAD}{piece.before}\n" + "\n".join(lines) + f"\n{piece.after}\n"
    others = {module: f"{HEAD}{text}\n" if module else text for module, text in piece.files.items()}
    return Spelling(name, {"": "", **others, "model": model})


def made_up(piece: Piece, prefix: str = "A") -> tuple[str, Piece]:
    """A name that nothing has yet."""
    return f"{prefix}{piece.count}", replace(piece, count=piece.count + 1)


def above(piece: Piece, statements: str, expr: str) -> Piece:
    """The piece with more statements above the class."""
    return replace(piece, before=f"{piece.before}{statements}\n", expr=expr)


def named(template: str) -> Way:
    """A way that gives the expression a name by a statement: `named("NAME = EXPR")`."""

    def way(piece: Piece) -> Piece:
        name, piece = made_up(piece)
        return above(piece, template.replace("NAME", name).replace("EXPR", piece.expr), name)

    return way


def written(template: str) -> Way:
    """A way that writes the expression in another form where it stands: `written("(EXPR)")`."""
    return lambda piece: replace(piece, expr=template.replace("EXPR", piece.expr))


def elsewhere(statement: str, expr: str = "NAME", init: str = "", in_file: str = "NAME = EXPR") -> Way:
    """A way that binds the name `NAME` in another module, `OTHER`, and imports it from there.

    Args:
        statement: The import above the class.
        expr: How the expression names what is imported.
        init: The text of the package's `__init__.py`.
        in_file: The statement in the other module.
    """

    def way(piece: Piece) -> Piece:
        name, piece = made_up(piece, "E")
        module = f"other{piece.count}"
        text = piece.before + in_file.replace("NAME", name).replace("EXPR", piece.expr)
        fill = {"NAME": name, "OTHER": module}
        files = {**piece.files, module: text}
        if init:
            files[""] = files.get("", "") + _filled(init, fill) + "\n"
        return replace(
            piece,
            before=_filled(statement, fill) + "\n",
            expr=_filled(expr, fill),
            files=files,
        )

    return way


def _filled(text: str, values: Mapping[str, str]) -> str:
    for key, value in values.items():
        text = text.replace(key, value)
    return text


def evaluated_later(piece: Piece) -> Piece:
    """Annotations are put off."""
    return replace(piece, future=True)


def same(piece: Piece) -> Piece:
    """The expression as it stands."""
    return piece
