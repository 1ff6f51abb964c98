"""Names in a type as text: each is written anew, and strings are left alone unless they are types themselves."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator
from enum import Enum
from functools import lru_cache
from typing import NamedTuple, Protocol

_WORD = re.compile(r"(?<![\w.])[^\W\d]\w*")

Edit = tuple[int, int, str]
"""Where a text changes, in bytes, and what stands there then."""


class Way(Enum):
    """Which of the two types of a declared class a type means: that of the declaration, or the generated one."""

    DECLARED = "declared"
    """The declared one, everywhere."""
    TAKEN = "taken"
    """What a function takes: the declared one, because the generated one derives from it, and containers of either."""
    TAKEN_DECLARED = "taken, declared"
    """The same, with containers of the declared ones: `list[_decl.Batch]`."""
    TAKEN_GIVEN = "taken, given"
    """The same, with containers of the generated ones: `list[Batch]`."""
    GIVEN = "given"
    """What a function gives: the generated one."""

    @property
    def opposite(self) -> Way:
        """The way of what a function takes that goes this way itself."""
        return {Way.DECLARED: Way.DECLARED, Way.GIVEN: Way.TAKEN}.get(self, Way.GIVEN)


_INSIDE = {
    Way.TAKEN: (Way.DECLARED, Way.GIVEN),
    Way.TAKEN_DECLARED: (Way.DECLARED,),
    Way.TAKEN_GIVEN: (Way.GIVEN,),
}
"""What stands in the brackets of an invariant container that is taken."""


class Passing(Enum):
    """Which way the arguments in brackets go."""

    SAME = "same"
    """The way of the whole, as in `Sequence[Batch]`."""
    CALLED = "called"
    """The opposite way for all but the last, or the list before the last: `Callable[[Batch], Batch]`."""
    SENT = "sent"
    """The opposite way for the second: `Generator[Batch, Batch, Batch]`."""
    EITHER = "either"
    """Both ways, as in `list[Batch]`: what is taken has either type throughout."""
    STRINGS = "strings"
    """As they are, where they are strings: `Literal["Batch"]`."""


class Words(Protocol):
    """What the names in a type mean, and how they are written."""

    def whole(self, name: str, way: Way) -> str | None:
        """What stands for a plain or dotted name; None where its first part is written anew, and the rest stays."""
        ...

    def head(self, name: str) -> str:
        """A plain name, or the first part of a dotted one, as it is written."""
        ...

    def passing(self, name: str) -> Passing:
        """Which way the arguments in brackets after a name go."""
        ...


def renamed(text: str, written: Callable[[str], str], keeps_strings: Callable[[str], bool]) -> str:
    """A type with its names as `written` has them.

    A string in it is a type too and loses its quotes, except below a name for which `keeps_strings` is true: `Literal["Point"]`.

    >>> renamed('dict[str, "Point"] | Literal["Point"]', {"Point": "_decl.Point"}.get, "Literal".__eq__)
    'dict[str, _decl.Point] | Literal["Point"]'
    """
    return rewritten(text, _Renaming(written, keeps_strings), Way.DECLARED)


class _Renaming(NamedTuple):
    """The words of a text in which each name is written in one way."""

    written: Callable[[str], str | None]
    keeps_strings: Callable[[str], bool]

    def whole(self, name: str, way: Way) -> str | None:
        return None

    def head(self, name: str) -> str:
        return self.written(name) or name

    def passing(self, name: str) -> Passing:
        return Passing.STRINGS if self.keeps_strings(name) else Passing.SAME


def rewritten(text: str, words: Words, way: Way) -> str:
    """A type with its names as the words have them."""
    tree = _expression(text)
    if tree is None:  # type parameters, whose brackets stand alone
        return _WORD.sub(lambda word: words.head(word[0]), text)
    return _Text(text, words).rewritten(tree, way)


@lru_cache(1024)
def _expression(text: str) -> ast.expr | None:
    """The tree of an expression, which nobody changes; None for a text that is none. Most types stand in many places."""
    try:
        return ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError):
        return None


class _Text:
    """The text of an expression, and of its parts as they are written anew."""

    def __init__(self, text: str, words: Words) -> None:
        self._data = text.encode()
        self._words = words
        self._starts = [0]
        for line in self._data.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))

    def rewritten(self, tree: ast.expr, way: Way) -> str:
        """The whole text, whose tree this is."""
        return self._changed((0, len(self._data)), self._edits(tree, way))

    def _changed(self, span: tuple[int, int], edits: Iterable[Edit]) -> str:
        """A part of the text with the changes inside it."""
        (start, end), data = span, self._data
        for first, last, new in sorted(edits, reverse=True):
            data = data[:first] + new.encode() + data[last:]
            end += len(new.encode()) - (last - first)
        return data[start:end].decode()

    def _edits(self, node: ast.AST, way: Way) -> Iterator[Edit]:
        """The changes to a part of the text that goes one way."""
        name = _dotted(node)
        match node:
            case _ if name is not None and (new := self._words.whole(name, way)) is not None:
                yield (*self._span(node), new)
            case ast.Name(id=plain):
                yield (*self._span(node), self._words.head(plain))
            case ast.Constant(value=str(text)):
                inner = text.strip()
                if _expression(inner) is not None:
                    yield (*self._span(node), rewritten(inner, self._words, way))
            case ast.Subscript(value=outer, slice=inside):
                yield from self._subscript(node, outer, inside, way)
            case _:
                for child in ast.iter_child_nodes(node):
                    yield from self._edits(child, way)

    def _subscript(self, node: ast.AST, outer: ast.expr, inside: ast.expr, way: Way) -> Iterator[Edit]:
        """The changes to `outer[inside]`."""
        several = isinstance(inside, ast.Tuple)
        arguments = inside.elts if isinstance(inside, ast.Tuple) else [inside]
        passing = self._words.passing(ast.unparse(outer))
        if passing is Passing.EITHER and way in _INSIDE:
            texts = dict.fromkeys(self._either(node, outer, arguments, inner) for inner in _INSIDE[way])
            yield (*self._span(node), " | ".join(texts))
            return
        yield from self._edits(outer, way)
        for index, argument in enumerate(arguments):
            if passing is Passing.STRINGS and isinstance(argument, ast.Constant):
                continue
            turns = (passing is Passing.CALLED and several and index < len(arguments) - 1) or (
                passing is Passing.SENT and index == 1
            )
            yield from self._edits(argument, way.opposite if turns else way)

    def _either(self, node: ast.AST, outer: ast.expr, arguments: list[ast.expr], way: Way) -> str:
        """A container as it is taken, with one of the two types in its brackets."""
        edits = [edit for argument in arguments for edit in self._edits(argument, way)]
        return self._changed(self._span(node), [*edits, *self._edits(outer, Way.DECLARED)])

    def _span(self, node: ast.AST) -> tuple[int, int]:
        assert isinstance(node, ast.expr) and node.end_lineno is not None and node.end_col_offset is not None
        start, end = self._starts[node.lineno - 1] + node.col_offset, self._starts[node.end_lineno - 1]
        return start, end + node.end_col_offset


def _dotted(node: ast.AST) -> str | None:
    """The plain or dotted name that an expression is."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=value, attr=attribute):
            before = _dotted(value)
            return None if before is None else f"{before}.{attribute}"
    return None
