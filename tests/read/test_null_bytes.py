"""A null byte in a source: one finding with one position, whatever the interpreter's patch release says of it."""

import builtins
import tokenize
from collections.abc import Callable, Sequence

import pytest

from qten_gen.model.diagnostics import Diagnostic
from qten_gen.read import syntax
from qten_gen.read.module import read

MESSAGE = "source code cannot contain null bytes"


def refusing(error: Exception) -> Callable[..., object]:
    """`compile` as it is on releases that raise this for a null byte."""

    def compile(source: str, path: str, mode: str, flags: int, dont_inherit: bool) -> object:
        if "\0" in source:
            raise error
        return builtins.compile(source, path, mode, flags, dont_inherit)

    return compile


def as_before_3_11_4(monkeypatch: pytest.MonkeyPatch) -> None:
    """`compile` raises no syntax error."""
    error = ValueError("source code string cannot contain null bytes")
    monkeypatch.setattr(syntax, "compile", refusing(error), raising=False)


def as_since_3_11_4(monkeypatch: pytest.MonkeyPatch) -> None:
    """`compile` raises a syntax error without a position."""
    error = SyntaxError("source code string cannot contain null bytes")
    monkeypatch.setattr(syntax, "compile", refusing(error), raising=False)


def as_in_late_releases(monkeypatch: pytest.MonkeyPatch) -> None:
    """The search for a coding line raises as well, where the byte is in the lines that it looks at."""
    as_since_3_11_4(monkeypatch)
    detect = tokenize.detect_encoding

    def detect_encoding(readline: Callable[[], bytes]) -> tuple[str, Sequence[bytes]]:
        encoding, lines = detect(readline)
        if any(b"\0" in line for line in lines):
            raise SyntaxError("source code cannot contain null bytes")
        return encoding, lines

    monkeypatch.setattr(tokenize, "detect_encoding", detect_encoding)


@pytest.fixture(params=[as_before_3_11_4, as_since_3_11_4, as_in_late_releases])
def release(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """An interpreter of each kind."""
    request.param(monkeypatch)


def refusal(data: bytes) -> Diagnostic:
    _, (diagnostic,) = read(data, "shop/model.py", "shop.model")
    return diagnostic


@pytest.mark.usefixtures("release")
@pytest.mark.parametrize(
    ("data", "line", "column"),
    [
        (b"\0", 1, 1),
        (b"x = 1\n\0\n", 2, 1),
        (b"x = 1\r\n\0", 2, 1),
        (b"x = 1\ry = \0", 2, 5),
        (b"\xef\xbb\xbfx = \0", 1, 5),
        ("é = 'ü\0'\n".encode(), 1, 7),
        (b"class A:\n    '''doc\0'''\n", 2, 11),
        (b"x = 1  # a\0\n", 1, 11),
        (b"def f(:\n\0", 2, 1),
        (b"<<<<<<< ours\n\0", 2, 1),
        ("class Batch".encode("utf-16-le"), 1, 2),
        (b"[" * 5000 + b"\0", 1, 5001),
    ],
)
def test_a_null_byte_is_reported_where_it_stands(data: bytes, line: int, column: int) -> None:
    found = refusal(data)
    assert (found.code, found.message, found.span.line, found.span.column) == ("QG001", MESSAGE, line, column)
