"""Files that cannot be parsed: one finding at the right line, in every release of Python, and never a warning on the screen."""

import sys
import warnings

import pytest

from qten_gen.model.diagnostics import Diagnostic
from qten_gen.read.module import read


def refusal(data: bytes | str) -> Diagnostic:
    _, (diagnostic,) = read(data.encode() if isinstance(data, str) else data, "shop/model.py", "shop.model")
    assert diagnostic.code in ("QG001", "QG002")
    return diagnostic


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="Python 3.12 parses them")
@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("@final\nclass A[T](Base): ...\n", 2),
        ("async def f[T](x: T): ...\n", 1),
        ("x = 1\ntype X[T] = list[T]\n", 2),
        ("x = f'{d['a']}'\n", 1),
    ],
)
def test_for_newer_syntax_the_help_names_the_python_that_runs(text: str, line: int) -> None:
    found = refusal(text)
    running = ".".join(map(str, sys.version_info[:3]))
    assert found.help == f"if a newer Python reads it, run qten-gen with that; this is Python {running}"
    assert found.span.line == line


@pytest.mark.parametrize(
    "text",
    ["class A:\n    x = 'don't'\n", "x = f(t 'a')\n", "except ValueError, error: ...\n", "type = [1\n", "t['a' = 3\n"],
)
def test_a_mistake_is_not_taken_for_newer_syntax(text: str) -> None:
    assert refusal(text).help == ""


# The parser of Python 3.13 gets further than that of 3.12.
DEPTH = 9000 if sys.version_info < (3, 13) else 200_000


@pytest.mark.parametrize(
    "deep",
    [
        pytest.param(f"{'-' * DEPTH}1", id="signs"),
        pytest.param(f"1{'+1' * DEPTH}", id="sum"),
        pytest.param(f"x{'.a' * DEPTH}", id="attributes"),
    ],
)
def test_what_no_parser_gets_to_the_end_of_is_reported(deep: str) -> None:
    found = refusal(f"x = 1\n\ny = {deep}\n\nz = 3\n")
    assert (found.span.line, found.message) == (3, "this is nested too deeply to be read")


@pytest.mark.parametrize(
    "deep",
    [
        f"y: {'int | ' * 990}int",
        f"y: {'list[' * 120}int{']' * 120}",
        f"y: nn.Module = {'submodule(nn.Sequential, ' * 120}submodule(nn.ReLU){')' * 120}",
    ],
)
def test_what_the_reader_does_not_get_to_the_end_of_is_reported(deep: str) -> None:
    found = refusal(f"from qten_gen import submodule\nclass A(Base):\n    x: int\n    {deep}\n    z: int\n")
    assert (found.span.line, found.message) == (4, "this is nested too deeply to be read")


def test_deep_code_that_is_not_read_is_not_a_mistake() -> None:
    source, found = read(f"def f():\n    return {'1 + ' * 1500}1\nclass A(Base): ...\n".encode(), "a.py", "a")
    assert found == () and [cls.name for cls in source.classes] == ["A"]


@pytest.mark.parametrize("text", ["x = '\\d'\n", "class A(B):\n    x: '\\d' = '\\d'\n", "assert (x, 'y')\nx is 1\n"])
def test_warnings_about_a_file_are_left_to_python(text: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        _, found = read(text.encode(), "a.py", "a")
    assert found == ()


@pytest.mark.parametrize("encoding", ["rot13", "hex", "undefined", "utf-16"])
def test_an_encoding_that_no_source_can_have_is_reported(encoding: str) -> None:
    found = refusal(f"# coding: {encoding}\nx = 1\n")
    # Python 3.14 has other words for one of them.
    said = found.message.replace("invalid or missing encoding declaration", f"encoding problem: {encoding}")
    assert (found.code, said, found.span.line) == ("QG002", f"encoding problem: {encoding}", 1)


def test_a_text_that_no_encoder_takes_is_reported() -> None:
    assert "surrogates not allowed" in refusal(b"# coding: utf-7\nx = '+2AA-'\n").message


def test_an_integer_with_too_many_digits_is_kept_as_written() -> None:
    digits = f"0x{'f' * 5000}"
    source, found = read(
        f"class A(B):\n    x: int = {digits}\n    y: int = ({digits}\n     + 1)\n".encode(), "a.py", "a"
    )
    assert found == ()
    assert [field.value and (field.value.text, field.value.literal) for field in source.classes[0].fields] == [
        (digits, None),
        (f"{digits} + 1", None),
    ]
