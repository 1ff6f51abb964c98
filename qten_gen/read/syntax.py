"""Reads the bytes of a file: its text, its lines and its syntax tree, or why it has none."""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
import warnings
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import cast

from ..model import NodePath
from ..model.diagnostics import SYNTAX_ERROR, UNDECODABLE_FILE, Diagnostic, diagnostic_at


def decode(data: bytes, path: str) -> str | Diagnostic:
    """Decode a file with its declared encoding, and remove the byte order mark."""
    encoding = encoding_of(data)
    if isinstance(encoding, SyntaxError):
        return _undecodable(data, "utf-8", path) or _bad_coding_line(encoding.msg, path)
    try:
        return data.decode(encoding)
    except UnicodeError:
        return _undecodable(data, encoding, path) or _bad_coding_line(f"encoding problem: {encoding}", path)


def encoding_of(data: bytes) -> str | SyntaxError:
    """The encoding of a file by its byte order mark or coding line, or what is wrong with that."""
    # Whether a null byte in the first lines is an error here depends on the patch release of Python.
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data.replace(b"\0", b" ")).readline)
    except SyntaxError as error:
        return error
    except (LookupError, UnicodeError):  # from Python 3.14 on, which decodes with what the coding line names
        coding = re.search(rb"coding[:=][ \t]*([-\w.]+)", data)
        return SyntaxError(f"encoding problem: {coding[1].decode('ascii', 'replace') if coding else 'unknown'}")
    try:
        # Some codecs are not for text, such as rot13, and utf-16 cannot read its own coding line.
        readable = "coding" in b"coding".decode(encoding)
    except (LookupError, UnicodeError):
        readable = False
    return encoding if readable else SyntaxError(f"encoding problem: {encoding}")


def _undecodable(data: bytes, encoding: str, path: str) -> Diagnostic | None:
    """The diagnostic for the first byte that cannot be decoded; None if there is none."""
    try:
        data.decode(encoding)
    except UnicodeDecodeError as error:
        before = data[: error.start]
        column = len(before.rpartition(b"\n")[2].decode(encoding, "replace")) + 1
        return diagnostic_at(
            UNDECODABLE_FILE,
            path,
            f"byte 0x{data[error.start]:02x} is not valid {encoding}",
            line=before.count(b"\n") + 1,
            column=column,
            help="save the file as UTF-8, or name its encoding in the first line: # -*- coding: latin-1 -*-",
        )
    except UnicodeError:
        pass
    return None


def _bad_coding_line(message: str, path: str) -> Diagnostic:
    help = "name an encoding that Python knows, or save the file as UTF-8 and remove the coding line"
    return diagnostic_at(UNDECODABLE_FILE, path, message, line=1, column=1, help=help)


_LINE_END = re.compile(r"\r\n|\r|\n")


def lines_of(text: str) -> list[str]:
    """The lines of a text, without line ends. A line ends where it ends for Python's parser: not at a form feed.

    >>> lines_of("x = 1\\r\\ny = '\\x0c'")
    ['x = 1', "y = '\\x0c'"]
    """
    return _LINE_END.split(text) if "\r" in text else text.split("\n")


def source_lines(data: bytes) -> list[str]:
    """The lines of a file. Bytes that cannot be decoded are replaced."""
    encoding = encoding_of(data)
    return lines_of(data.decode(encoding if isinstance(encoding, str) else "utf-8", "replace"))


def characters(line: str, offset: int) -> int:
    """The number of characters before an offset in a line. The parser counts offsets in bytes of UTF-8.

    >>> characters("é = 1", 5)
    4
    """
    return offset if line.isascii() else len(line.encode()[:offset].decode(errors="replace"))


_NEWER = re.compile(r"\s*(?:(?:class|(?:async\s+)?def|type)\s+\w+\s*\[|type\s+\w+\s*=)")
"""What a line with a type parameter or a `type` statement begins with, which some version of Python does not parse."""


def _help(error: SyntaxError, lines: Sequence[str]) -> str:
    """The help for a syntax error that a later version of Python would perhaps not find; empty for others."""
    line = lines[error.lineno - 1] if error.lineno and error.lineno <= len(lines) else ""
    is_newer = _NEWER.match(line) is not None or (sys.version_info < (3, 12) and "f-string" in error.msg)
    running = "{}.{}.{}".format(*sys.version_info)
    return f"if a newer Python reads it, run qten-gen with that; this is Python {running}" if is_newer else ""


_CONFLICT = re.compile(r"^<<<<<<< ", re.MULTILINE)
"""The line that starts a merge conflict."""


def parse(text: str, path: str) -> ast.Module | Diagnostic:
    """The syntax tree of a file, or the diagnostic for its syntax error, with the interpreter's message and position.

    Null bytes are found here, because what `compile` raises for them depends on the patch release of Python.
    """
    if "\0" in text:
        return _null_byte(text[: text.index("\0")], path)
    try:
        return tree_of(text)
    except SyntaxError as error:
        conflict = _CONFLICT.search(text)  # the parser's own message about a marker would not say what it is
        if conflict is not None:
            return _unresolved_conflict(text[: conflict.start()], path)
        line, column = error.lineno or 1, max(1, error.offset or 1)
        help = _help(error, lines_of(text))
        return diagnostic_at(SYNTAX_ERROR, path, error.msg, line=line, column=column, help=help)
    except ValueError as error:
        return diagnostic_at(SYNTAX_ERROR, path, str(error), line=1, column=1)
    except (RecursionError, MemoryError):
        lines = lines_of(text)
        starts = [0, *(number for number, line in enumerate(lines) if line[:1].isidentifier())]
        after = bisect_left(starts, True, key=lambda number: _is_too_deep(lines[:number]))
        return too_deep(path, starts[after - 1] + 1)


def _is_too_deep(lines: Sequence[str]) -> bool:
    """True if the parser finds the beginning of a file too deep, whether it is valid Python or not."""
    try:
        return not tree_of("\n".join(lines))
    except (SyntaxError, ValueError):
        return False
    except (RecursionError, MemoryError):
        return True


_KEPT: ContextVar[dict[str, ast.Module] | None] = ContextVar("_KEPT", default=None)


@contextmanager
def keeping_trees() -> Iterator[None]:
    """Parse each text once within the block, for a run that reads the same texts for several reasons and changes no tree."""
    token = _KEPT.set({})
    try:
        yield
    finally:
        _KEPT.reset(token)


def tree_of(text: str) -> ast.Module:
    """The syntax tree of a text. Warnings about it, such as for invalid escapes, are left to Python's own reading of the file.

    Raises:
        SyntaxError: It is not valid Python.
        ValueError: It contains what no text of Python can.
        RecursionError, MemoryError: It is nested too deeply.
    """
    kept = _KEPT.get()
    if kept is not None and text in kept:
        return kept[text]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # `dont_inherit`: the future imports of this file do not count in the text.
        tree = cast(ast.Module, compile(text, "<source>", "exec", flags=ast.PyCF_ONLY_AST, dont_inherit=True))
    if kept is not None:
        kept[text] = tree
    return tree


def too_deep(path: str, line: int) -> Diagnostic:
    """The diagnostic for an expression that no parser or reader gets to the end of."""
    help = "give a part of it a name, and use that"
    return diagnostic_at(SYNTAX_ERROR, path, "this is nested too deeply to be read", line=line, column=1, help=help)


def refuse_depth(place: NodePath) -> None:
    """Refuse a type or a call at a depth that the passes over declarations, with several calls for each level, do not reach.

    Raises:
        RecursionError: It is that deep.
    """
    if len(place.steps) > _DEEPEST and sum(step in ("slice", "args", "keywords") for step in place.steps) > _DEEPEST:
        raise RecursionError


_DEEPEST = 75


def _null_byte(before: str, path: str) -> Diagnostic:
    lines = lines_of(before)
    help = "remove it, or save the file as UTF-8 if its encoding is UTF-16"
    message = "source code cannot contain null bytes"
    return diagnostic_at(SYNTAX_ERROR, path, message, line=len(lines), column=len(lines[-1]) + 1, help=help)


def _unresolved_conflict(before: str, path: str) -> Diagnostic:
    help = "resolve it and run qten-gen again, which also writes the generated files"
    line = before.count("\n") + 1
    return diagnostic_at(SYNTAX_ERROR, path, "a merge conflict is not resolved", line=line, column=1, help=help)
