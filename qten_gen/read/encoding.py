"""Decodes files as Python does, and creates the diagnostics for files that cannot be decoded."""

from __future__ import annotations

import io
import re
import tokenize

from ..model.diagnostics import UNDECODABLE_FILE, Diagnostic, diagnostic_at


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
