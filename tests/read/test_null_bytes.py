"""A null byte in a source: one finding with one position, whatever the interpreter's patch release says of it."""

import builtins
import tokenize
from collections.abc import Callable, Sequence

import pytest

from qten_gen.model.diagnostics import Diagnostic
from qten_gen.read import syntax
from qten_gen.read.module import read
from qten_gen.read.source_lines import source_lines

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


@pytest.mark.usefixtures("release")
def test_a_byte_that_is_not_text_is_reported_before_a_null_byte() -> None:
    found = refusal("class Batch".encode("utf-16"))
    assert (found.code, found.span.line, found.span.column) == ("QG002", 1, 1)


@pytest.mark.usefixtures("release")
def test_the_lines_of_a_file_with_a_null_byte_are_shown_in_its_own_encoding() -> None:
    text = "# coding: latin-1 \0\nx = 'ü'\n"
    assert source_lines(text.encode("latin-1")) == [*text.splitlines(), ""]


def test_an_escape_for_a_null_byte_is_a_string_like_any_other() -> None:
    data = b"class Batch(Base):\n    '''A \\x00'''\n"
    found, diagnostics = read(data, "shop/model.py", "shop.model")
    assert (diagnostics, found.classes[0].doc) == ((), "A \0")


def test_a_null_byte_in_a_forward_reference_makes_it_unreadable() -> None:
    found, diagnostics = read(b"class Batch(Base):\n    kind: \"Literal['\\x00']\"\n", "shop/model.py", "shop.model")
    annotation = found.classes[0].fields[0].annotation
    assert diagnostics == () and annotation is not None and annotation.name == ""
