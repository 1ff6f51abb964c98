"""Bytes to a source file: encodings, syntax errors, and what counts as the top level."""

import sys
from textwrap import dedent

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qten_gen.model import ImportedName, SourceFile, TypeExpr
from qten_gen.model.diagnostics import Diagnostic
from qten_gen.read.module import read


def source(text: str, module: str = "shop.model", is_package: bool = False) -> SourceFile:
    found, diagnostics = read(dedent(text).encode(), "shop/model.py", module, is_package)
    assert diagnostics == ()
    return found


def refusal(data: bytes) -> Diagnostic:
    found, (diagnostic,) = read(data, "shop/model.py", "shop.model")
    assert found == SourceFile("shop/model.py", "shop.model")
    return diagnostic


def test_a_byte_order_mark_and_windows_line_ends_make_no_difference() -> None:
    text = "class Batch(Base):\n    tokens: int\n"

    found, diagnostics = read(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode(), "shop/model.py", "shop.model")

    assert diagnostics == ()
    assert found == source(text)


def test_a_coding_line_is_honoured() -> None:
    data = '# -*- coding: latin-1 -*-\nclass Batch(Base):\n    """Größe."""\n'.encode("latin-1")

    found, _ = read(data, "shop/model.py", "shop.model")

    assert found.classes[0].doc == "Größe."


def test_a_byte_that_is_not_text_is_reported_at_its_line_and_column() -> None:
    found = refusal(b"x = 1\ny = '\xff'\n")

    assert (found.code, found.span.line, found.span.column) == ("QG002", 2, 6)


def test_an_unknown_encoding_is_reported() -> None:
    found = refusal(b"# -*- coding: klingon -*-\n")

    assert (found.code, found.span.line, found.message) == ("QG002", 1, "unknown encoding: klingon")


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("def f(:\n    pass\n", 1, 7),
        ("x = (\n\n", 1, 5),
        ("class A:\npass\n", 2, 1),
        ("x = 1\ny = 'a\n", 2, 5),
        ("x = 1\n\0\n", 2, 1),
    ],
)
def test_a_syntax_error_has_the_position_that_python_gives_it(text: str, line: int, column: int) -> None:
    found = refusal(text.encode())

    assert (found.code, found.span.line, found.span.column) == ("QG001", line, column)


@pytest.mark.parametrize("opening", ["(", "[", "{"])
def test_brackets_that_would_overflow_the_parser_are_a_syntax_error(opening: str) -> None:
    assert refusal(f"x = {opening * 5000}".encode()).code == "QG001"


def test_many_brackets_in_a_string_are_not_nesting() -> None:
    assert source(f"x = '{'(' * 5000}'\n").names == {"x"}


@pytest.mark.skipif(sys.version_info < (3, 12), reason="before Python 3.12 there are no type parameters")
def test_type_parameters_are_read() -> None:
    found = source("class Pair[T: int](Base):\n    first: T\n")

    assert found.classes[0].type_parameters == "[T: int]"
    assert found.type_variables["Pair.T"].bound is not None


@pytest.mark.skipif(sys.version_info < (3, 12), reason="before Python 3.12 there are no type parameters")
def test_type_parameters_of_every_kind_are_kept_as_written() -> None:
    found = source("class Pair[\n  A : (int, str), *Bs,  # all\n **P](Base):\n    first: A\n")

    assert found.classes[0].type_parameters == "[A : (int, str), *Bs, **P]"
    bounds = {name: variable.bound and variable.bound.name for name, variable in found.type_variables.items()}
    assert bounds == {"Pair.A": "|", "Pair.Bs": None, "Pair.P": None}


def test_a_class_for_type_checkers_only_is_not_a_class() -> None:
    assert source("if TYPE_CHECKING:\n    class A(Base): ...\n").classes == ()


def test_imports_are_kept_as_written() -> None:
    found = source(
        """
        import torch.nn as nn
        import torch.nn.functional
        import qten_gen as q
        from .base import Base as B
        from .. import other
        if TYPE_CHECKING:
            from .later import Later
        """
    )

    assert found.imports == {
        "nn": ImportedName("torch.nn", None),
        "torch": ImportedName("torch", None),
        "q": ImportedName("qten_gen", None),
        "B": ImportedName(".base", "Base"),
        "other": ImportedName("..", "other"),
        "Later": ImportedName(".later", "Later", type_checking=True),
    }


def test_a_star_import_of_the_language_is_known_and_any_other_is_noted() -> None:
    known = source("from qten_gen import *\n\nclass Batch(TensorClass): ...\n")
    other = source("from torch import *\n")

    assert known.classes[0].bases[0].name == "qten_gen.TensorClass"
    assert not known.has_star_import
    assert other.has_star_import


@pytest.mark.parametrize("module", ["typing", "typing_extensions"])
def test_a_star_import_of_typing_is_known(module: str) -> None:
    found = source(f"from {module} import *\nclass Batch(Base):\n    n: ClassVar[int] = 3\n    x: Optional[int]\n")

    assert not found.has_star_import
    assert [field.name for field in found.classes[0].fields] == ["x"]


def test_names_that_a_block_only_uses_are_not_bound_by_it() -> None:
    found = source("for name in list(range(3)):\n    value = str(name)\nclass Batch(Base):\n    x: str\n")

    assert found.names == {"name", "value", "Batch"}
    assert found.classes[0].fields[0].annotation == TypeExpr("builtins.str")


@pytest.mark.skipif(sys.version_info < (3, 12), reason="before Python 3.12 there is no type statement")
def test_type_statements_are_read() -> None:
    found = source("from torch import Tensor\ntype New = Tensor\n")

    assert {name: alias.name for name, alias in found.aliases.items()} == {"New": "torch.Tensor"}


def test_registrations_keep_all_parameters_of_the_handler() -> None:
    found = source(
        """
        from .net import Net

        @Net.register(str)
        def read(net: Net, text: str, *, strict: bool = True) -> int: ...
        """
    )

    (registration,) = found.registrations
    assert (registration.owner.name, registration.type.name) == ("shop.net.Net", "builtins.str")
    assert registration.handler == "read"
    assert registration.signature.parameters == "net: Net, text: str, *, strict: bool = True"
    assert registration.signature.result == "int"


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    found, diagnostics = read(data, "shop/model.py", "shop.model")

    assert found.path == "shop/model.py"
    assert all(item.span.line > 0 and item.span.column > 0 for item in diagnostics)


STRING_OPTIONS = [
    "class A(B):\n    ",
    "x: ",
    "Tensor",
    "[",
    "]",
    "(",
    ")",
    '"',
    " | ",
    "=",
    "param",
    "@",
    "def f(self): ",
    "...",
    "\n",
    "\t",
    "é",
    "*",
]


@given(st.lists(st.sampled_from(STRING_OPTIONS), max_size=30).map("".join))
def test_any_text_is_read_or_refused(text: str) -> None:
    found, diagnostics = read(text.encode(), "shop/model.py", "shop.model")

    assert not diagnostics or found == SourceFile("shop/model.py", "shop.model")


def test_names_that_methods_bind_are_not_those_of_the_class() -> None:
    found = source(
        """
        class Batch:
            SIZE = 3
            TWICE = 1
            TWICE = 2
            def method(self, default=(SHOWN := 1)):
                SIZE = 4
                for TIMES in range(SIZE):
                    pass
            TIMES = 5
            SHOWN = 6
            class Inner:
                SIZE = 7
        """
    )

    assert found.constants == {"Batch.SIZE": "3", "Batch.TIMES": "5", "Batch.Inner.SIZE": "7"}
