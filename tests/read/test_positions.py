"""Places in a file to lines and columns."""

import pytest

from qten_gen.model import NO_PATH, NodePath
from qten_gen.model.diagnostics import Diagnostic, Kind, Span, diagnostic_at
from qten_gen.read.module import read
from qten_gen.read.positions import locate

KIND = Kind("QG000", "test")


def located(text: str, place: NodePath, within: tuple[int, int] | None = None) -> tuple[int, int, int, int]:
    (found,) = locate([Diagnostic(KIND, "", place, within=within, path="a.py")], {"a.py": text.encode()})
    return found.span[:4]


def value_place(text: str) -> NodePath:
    source, _ = read(text.encode(), "a.py", "a")
    field = source.classes[0].fields[0]
    assert field.specifier is not None
    return field.specifier.arguments[0].place


def test_a_place_is_the_node_it_leads_to() -> None:
    text = "import os\nclass A(B,\n        Cat): ...\n"

    assert located(text, NodePath(("body", 1, "name"))) == (2, 7, 2, 8)
    assert located(text, NodePath(("body", 1, "bases", 1))) == (3, 9, 3, 12)


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("class Größe: ...", (1, 7)),
        ("@final\n@other\nclass   Größe(Base): ...", (3, 9)),
        ("class \\\n  \\\n  Größe: ...", (3, 3)),
        ("async  def Größe(self): ...", (1, 12)),
        ("ä = 1; x = 2\ndef\tGröße(): ...", (2, 5)),
    ],
)
def test_the_name_of_a_class_or_a_function_is_found_in_the_text(text: str, start: tuple[int, int]) -> None:
    place = NodePath(("body", 2 if "x = 2" in text else 0, "name"))
    assert located(text, place) == (*start, start[0], start[1] + 5)


def test_a_keyword_is_found_in_the_text() -> None:
    assert located("f(1,\n  ü=(2))\n", NodePath(("body", 0, "value", "keywords", 0, "arg"))) == (2, 3, 2, 4)
    assert located("f(1,\n  ü=(2))\n", NodePath(("body", 0, "value", "keywords", 0, "value"))) == (2, 6, 2, 7)


@pytest.mark.parametrize("quoted", ['"3*dmi"', "'3*dmi'", '"""3*dmi"""', 'r"3*dmi"'])
def test_a_part_counts_from_the_content_of_a_string(quoted: str) -> None:
    text = f"from qten_gen import param\nclass A(B):\n    w: object = param({quoted})\n"
    column = text.splitlines()[2].index("dmi") + 1

    assert located(text, value_place(text), (2, 3)) == (3, column, 3, column + 3)


def test_a_part_of_a_string_with_escapes_marks_the_whole_string() -> None:
    text = 'from qten_gen import param\nclass A(B):\n    w: object = param("3\\x2admi")\n'

    assert located(text, value_place(text), (2, 3)) == (3, 23, 3, 33)


def test_columns_count_characters() -> None:
    assert located("größe = 'ü'; x = 1\n", NodePath(("body", 1, "value"))) == (1, 18, 1, 19)


def test_a_place_that_does_not_exist_is_the_start_of_the_file() -> None:
    assert located("x = 1\n", NodePath(("body", 7, "name"))) == (1, 1, 1, 2)
    assert located("x = 1\n", NO_PATH) == (1, 1, 1, 2)


def test_what_has_a_line_keeps_it() -> None:
    item = diagnostic_at(KIND, "a.py", "", line=2, column=4)

    assert locate([item], {}) == (item,)
    (found,) = locate([item], {"a.py": b"x = (\ny = 1\n"})
    assert found.span == Span(2, 4, 2, 5, "y = 1")


@pytest.mark.parametrize(
    ("data", "line"),
    [
        ("# -*- coding: latin-1 -*-\r\nx = 'ü'\r\n".encode("latin-1"), "x = 'ü'"),
        (b"# -*- coding: klingon -*-\nx = 1", "x = 1"),
        (b"\nx = '\xff'\n", "x = '\ufffd'"),
        (b"# one line", None),
    ],
)
def test_a_span_carries_its_source_line_whatever_the_encoding(data: bytes, line: str | None) -> None:
    (found,) = locate([diagnostic_at(KIND, "a.py", "", line=2, column=1)], {"a.py": data})
    assert found.span.text == line
