"""Writes the pieces of a constructor as a class body."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ....common.text_edits import Edit
from ..opened import OpenFile
from .comments import Comments, comments_of
from .context import Context
from .pieces import CheckPiece, FieldPiece, MovedPiece, Piece, Stays
from .statements import Taken


def edits_of(init: ast.FunctionDef, taken: Taken, context: Context) -> list[Edit]:
    """The edits that put fields in place of a constructor.

    Raises:
        Stays: its documentation has no place.
    """
    file = context.file
    text = _Writer(init, taken, context).text()
    start = file.text.line_start(init.lineno)
    end = file.text.span(init)[1]
    end = _line_end(file, end)
    edits = [*_without_annotations(taken, context), *_documentation(init, context)]
    return [*edits, Edit(start, end, text)]


def _line_end(file: OpenFile, offset: int) -> int:
    """The end of a line, behind a comment of the last statement."""
    found = file.text.content.find("\n", offset)
    return len(file.text.content) if found < 0 else found


def _without_annotations(taken: Taken, context: Context) -> Iterator[Edit]:
    """Take out annotations without a value of what is a field now.

    Raises:
        Stays: an annotation would become an argument of the constructor.
    """
    fields = {piece.name for piece in taken.pieces if isinstance(piece, FieldPiece)}
    first = last = -1
    for statement in context.found.node.body:
        if not isinstance(statement, ast.AnnAssign) or not isinstance(statement.target, ast.Name):
            continue
        name, annotation = statement.target.id, ast.unparse(statement.annotation)
        if "ClassVar" in annotation:
            continue
        if statement.value is not None or name not in fields:
            raise Stays(
                f"the annotation of `{name}` in the class body would be an argument of the constructor", statement
            )
        start = context.file.text.line_start(statement.lineno)
        end = _line_end(context.file, context.file.text.span(statement)[1]) + 1
        first, last = (first if start == last else start), end
        before = context.file.text.content[:first].rstrip(" ")
        if before.endswith(("\n\n", ":\n")) and context.file.text.content[end : end + 1] == "\n":
            end += 1
        if "#" in context.file.text.content[start:end]:
            raise Stays(f"the annotation of `{name}` in the class body has a comment", statement)
        yield Edit(start, end, "")


def _documentation(init: ast.FunctionDef, context: Context) -> Iterator[Edit]:
    """Put the documentation of the constructor behind that of the class.

    Raises:
        Stays: the two are written in different ways.
    """
    if ast.get_docstring(init, clean=False) is None:
        return
    own = init.body[0]
    text = context.file.text
    written = text.of(own)
    if ast.get_docstring(context.found.node, clean=False) is None:
        return  # the writer puts it first
    of_class = context.found.node.body[0]
    before = text.of(of_class)
    if not all(each.startswith('"""') and each.endswith('"""') for each in (written, before)):
        raise Stays("the docstring of the constructor cannot be merged into that of the class", own)
    end = text.span(of_class)[1] - 3
    blank = text.indentation(of_class.lineno)
    lines = _dedented(written[3:-3].strip("\n"), text.indentation(own.lineno), blank).rstrip()
    joined = f"\n\n{blank}{lines}\n{blank}"
    stripped = len(before[:-3]) - len(before[:-3].rstrip())
    yield Edit(end - stripped, end, joined)


def _dedented(text: str, old: str, new: str) -> str:
    """Lines of a block with the indentation `new` in place of `old`; the first line has none."""
    first, *others = text.split("\n")
    return "\n".join([first.strip(), *(new + line[len(old) :] if line.startswith(old) else line for line in others)])


class _Writer:
    """Writes fields and `__post_init__` with their comments."""

    def __init__(self, init: ast.FunctionDef, taken: Taken, context: Context) -> None:
        """Note the indentation, the longest line that the file allows itself, and which comments belong to which piece."""
        self.init = init
        self.taken = taken
        self.file = context.file
        self.blank = context.file.text.indentation(init.lineno)
        self.inner = context.file.text.indentation(init.body[0].lineno)
        longest = max((len(line) for line in context.file.text.lines), default=0)
        self.limit = 120 if longest > 100 else 100 if longest > 88 else 88
        has_text = ast.get_docstring(init, clean=False) is not None
        self.documentation = init.body[0] if has_text else None
        self.of_class = ast.get_docstring(context.found.node, clean=False) is not None
        fields = {piece.name: piece for piece in taken.pieces if isinstance(piece, FieldPiece)}
        owners = {node: fields[name].origin for node, name in taken.owners.items() if name in fields}
        kept = [piece.origin for piece in taken.pieces if isinstance(piece, MovedPiece)]
        parts = [*(piece.origin for piece in taken.pieces), *owners]
        self.comments: dict[ast.AST, Comments] = {}
        found, self.rest = comments_of(context.file, init, parts, kept)
        for node, comments in found.items():
            own = self.comments.setdefault(owners.get(node, node), Comments())
            own.above += comments.above
            own.after += comments.after

    def text(self) -> str:
        """The lines that take the place of the constructor, without the last line end."""
        lines: list[str] = []
        if self.documentation is not None and not self.of_class:
            written = self.file.text.of(self.documentation)
            lines += [f"{self.blank}{_dedented(written, self.inner, self.blank)}", ""]
        declared = [piece for piece in self.taken.pieces if not isinstance(piece, MovedPiece)]
        moved = [piece for piece in self.taken.pieces if isinstance(piece, MovedPiece)]
        declared.sort(key=lambda piece: not _is_argument(piece))
        previous: Piece | None = None
        for piece in declared:
            if previous is not None and self._is_apart(previous, piece):
                lines.append("")
            lines += self._declared(piece)
            previous = piece
        if not moved:
            lines += [f"{self.blank}{comment}" for comment in self.rest]
        else:
            lines += ["", f"{self.blank}def __post_init__(self) -> None:"]
            seen: MovedPiece | None = None
            for step in moved:
                if seen is not None and self._is_apart(seen, step):
                    lines.append("")
                lines += self._moved(step)
                seen = step
            lines += [f"{self.inner}{comment}" for comment in self.rest]
        return "\n".join(lines)

    def _is_apart(self, one: Piece, other: Piece) -> bool:
        """Whether a blank line stands before the second of two statements in the constructor."""
        if isinstance(other.origin, ast.arg) or isinstance(one.origin, ast.arg):
            return False
        line = getattr(other.origin, "lineno", 0)
        before = self.file.text.lines[: line - 1]
        while before and before[-1].strip().startswith("#"):
            before.pop()
        return bool(before) and not before[-1].strip()

    def _declared(self, piece: FieldPiece | CheckPiece) -> Iterator[str]:
        """The lines of a field or check, with its comments."""
        comments = self.comments.pop(piece.origin, Comments())
        yield from (f"{self.blank}{comment}" for comment in comments.above)
        if isinstance(piece, CheckPiece):
            line = piece.text
        else:
            line = f"{piece.name}: {piece.annotation}" + ("" if piece.value is None else f" = {piece.value}")
        trailing = "".join(f"  {comment}" for comment in comments.after)
        lines = _wrapped(line, self.blank, self.limit)
        if len(lines[-1] + trailing) > self.limit and trailing:
            yield from (f"{self.blank}{comment}" for comment in comments.after)
            trailing = ""
        yield from lines[:-1]
        yield lines[-1] + trailing

    def _moved(self, piece: MovedPiece) -> Iterator[str]:
        comments = self.comments.pop(piece.origin, Comments())
        yield from (f"{self.inner}{comment}" for comment in comments.above)
        yield f"{self.inner}{piece.text}" + "".join(f"  {comment}" for comment in comments.after)


def _is_argument(piece: Piece) -> bool:
    return isinstance(piece.origin, ast.arg)


def _wrapped(line: str, blank: str, limit: int) -> list[str]:
    """A statement, its call broken into lines where it is too long."""
    if len(blank) + len(line) <= limit or "\n" in line:
        return [f"{blank}{line}"]
    head, equals, value = line.partition(" = ")
    call = value if equals else line
    return _broken(f"{head} = " if equals else "", call, blank, limit, "")


def _broken(prefix: str, call: str, blank: str, limit: int, suffix: str) -> list[str]:
    """A call with each argument in a line of its own where it does not fit."""
    whole = f"{blank}{prefix}{call}{suffix}"
    node = ast.parse(call, mode="eval").body
    if len(whole) <= limit or not isinstance(node, ast.Call) or not (node.args or node.keywords) or not call.isascii():
        return [whole]
    parts: list[tuple[str, str]] = []
    for each in node.args:
        parts.append(("", call[each.col_offset : each.end_col_offset]))
    for keyword in node.keywords:
        parts.append((f"{keyword.arg}=", call[keyword.value.col_offset : keyword.value.end_col_offset]))
    inside = f"{blank}    {', '.join(name + text for name, text in parts)}"
    opening = f"{blank}{prefix}{call[: node.func.end_col_offset]}("
    if len(inside) <= limit and not any("(" in text for _, text in parts):
        return [opening, inside, f"{blank}){suffix}"]
    lines = [opening]
    for name, text in parts:
        lines += _broken(name, text, f"{blank}    ", limit, ",")
    return [*lines, f"{blank}){suffix}"]
