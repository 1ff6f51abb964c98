"""The comments of a constructor, and which of its parts each belongs to."""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from ..opened import OpenFile


@dataclass(slots=True)
class Comments:
    """The comments of one part."""

    above: list[str] = field(default_factory=list)
    after: list[str] = field(default_factory=list)
    """Those at the end of its last line."""


def comments_of(
    file: OpenFile, init: ast.FunctionDef, origins: Iterable[ast.AST], kept: Iterable[ast.AST]
) -> tuple[Mapping[ast.AST, Comments], list[str]]:
    """The comments of each part, and those behind the last one.

    Args:
        file: The file of the constructor.
        init: The constructor.
        origins: Its arguments and statements, in their order.
        kept: Those among them whose text stays as it is, comments inside it included.
    """
    parts = sorted(dict.fromkeys(origins), key=lambda node: (_first(node), _last(node)))
    texts = set(kept)
    found: dict[ast.AST, Comments] = {part: Comments() for part in parts}
    rest: list[str] = []
    for line, text, is_alone in _tokens(file, init):
        inside = [part for part in parts if _first(part) <= line <= _last(part)]
        if inside:
            part = inside[-1]
            if line == _last(part) and not is_alone:
                found[part].after.append(text)
            elif part not in texts:
                found[part].above.append(text)
            continue
        following = next((part for part in parts if _first(part) > line), None)
        (rest if following is None else found[following].above).append(text)
    return found, rest


def _first(node: ast.AST) -> int:
    return int(getattr(node, "lineno", 0))


def _last(node: ast.AST) -> int:
    return int(getattr(node, "end_lineno", 0))


def _tokens(file: OpenFile, init: ast.FunctionDef) -> Iterable[tuple[int, str, bool]]:
    """Each comment in the constructor, with its line and whether it stands alone there."""
    lines = file.text.lines[init.lineno - 1 : init.end_lineno]
    if not any("#" in line for line in lines):
        return
    source = "\n".join(["if True:", *lines] if lines[0][:1] in " \t" else lines) + "\n"
    offset = init.lineno - (2 if source.startswith("if True:") else 1)
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0] + offset, token.string, not token.line[: token.start[1]].strip()
