"""Decodes and parses files, and creates the diagnostics for files that cannot be decoded or parsed."""

from __future__ import annotations

import ast
import io
import re
import tokenize
import warnings

import libcst as cst

from ..model.diagnostics import SYNTAX_ERROR, UNDECODABLE_FILE, Diagnostic, diagnostic_at

_DEEPEST = 500
"""The depth of nested brackets up to which libcst parses safely. At about 3,000, its parser crashes the process."""

_CONFLICT = re.compile(r"^<<<<<<< ", re.MULTILINE)
"""The line that starts a merge conflict."""

_LINE_END = re.compile(r"\r\n|\r|\n")

_BRACKET = re.compile(r"[()\[\]{}]")


def decode(data: bytes, path: str) -> str | Diagnostic:
    """Decode a file with its declared encoding, and remove the byte order mark."""
    # Later patch releases of Python report a null byte here already, as a fault of the coding line.
    without_null_bytes = data.replace(b"\0", b" ")
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(without_null_bytes).readline)
    except SyntaxError as error:
        return _undecodable(data, "utf-8", path) or _bad_coding_line(error, path)
    try:
        return data.decode(encoding)
    except UnicodeDecodeError:
        return _undecodable(data, encoding, path) or ""


def parse(text: str, path: str) -> cst.Module | Diagnostic:
    """The syntax tree of a file, or the diagnostic for its syntax error.

    The message and position are those of the interpreter, because those of libcst are wrong for most errors. The message of
    libcst is used only if the interpreter accepts the text, or is too old for its grammar. Null bytes are found here: libcst
    accepts them in strings and comments, and what `compile` raises for them depends on the patch release of Python.
    """
    if "\0" in text:
        return _null_byte(text[: text.index("\0")], path)
    if _depth(text) > _DEEPEST and (found := _syntax_error(text, path)):
        return found
    try:
        return cst.parse_module(text)
    except cst.ParserSyntaxError as error:
        fallback = diagnostic_at(SYNTAX_ERROR, path, error.message, line=error.raw_line, column=error.raw_column + 1)
    except (cst.CSTValidationError, ValueError, RecursionError) as error:
        fallback = diagnostic_at(SYNTAX_ERROR, path, f"the file cannot be parsed: {error}", line=1, column=1)
    return _syntax_error(text, path) or fallback


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
    return None


def _bad_coding_line(error: SyntaxError, path: str) -> Diagnostic:
    help = "name an encoding that Python knows, or save the file as UTF-8 and remove the coding line"
    return diagnostic_at(UNDECODABLE_FILE, path, error.msg, line=1, column=1, help=help)


def _syntax_error(text: str, path: str) -> Diagnostic | None:
    """The diagnostic for the interpreter's syntax error; None if it accepts the text."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(text, path, "exec", flags=ast.PyCF_ONLY_AST, dont_inherit=True)
    except SyntaxError as error:
        conflict = _CONFLICT.search(text)
        if conflict is not None:
            return _unresolved_conflict(text[: conflict.start()], path)
        return diagnostic_at(SYNTAX_ERROR, path, error.msg, line=error.lineno or 1, column=max(1, error.offset or 1))
    except ValueError as error:
        return diagnostic_at(SYNTAX_ERROR, path, str(error), line=1, column=1)
    except (RecursionError, MemoryError):
        return diagnostic_at(SYNTAX_ERROR, path, "the file is nested too deeply to be read", line=1, column=1)
    return None


def _null_byte(before: str, path: str) -> Diagnostic:
    lines = _LINE_END.split(before)
    help = "remove it, or save the file as UTF-8 if its encoding is UTF-16"
    message = "source code cannot contain null bytes"
    return diagnostic_at(SYNTAX_ERROR, path, message, line=len(lines), column=len(lines[-1]) + 1, help=help)


def _unresolved_conflict(before: str, path: str) -> Diagnostic:
    help = "resolve it and run again; the generated files follow from the source"
    line = before.count("\n") + 1
    return diagnostic_at(SYNTAX_ERROR, path, "a merge conflict is not resolved", line=line, column=1, help=help)


def _depth(text: str) -> int:
    """The maximal depth of nested brackets. It counts those in strings and comments too, so it may be too high."""
    deepest = depth = 0
    for bracket in _BRACKET.findall(text):
        depth = depth + 1 if bracket in "([{" else max(0, depth - 1)
        deepest = max(deepest, depth)
    return deepest
