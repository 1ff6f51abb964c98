"""The scan of a file's bytes: what it finds, and that its time grows with the size of the file and not faster."""

import pytest

from qten_gen.project.scan import Origin, scan

ORIGIN = Origin("/project", "shop.model")
SIZE = 20_000

HOSTILE = (
    *("from ", "from a ", "from a import (\n", "from \n", "from . ", "from\t", "; from a import b"),
    *("import a, ", "import a.", "; import a", "import (", "from a import b, ", "from a import b\\\n"),
    *("class A(\n", "class A[\n", "class A[", "class A] ", "class ", "class A(B)", "class A[[[", "class A ["),
    *("x = a.", "x: ", "x:", " X = a\n", "x = ", "X\n", "a", "x = (", "X = typing."),
    *(".   register ", ". ", ".\n", "\n", " ", "\t", "type ", "type A"),
    *("(", ")", "#", "\\\n", "\r", "\\", "'", "[", "]"),
)


@pytest.mark.parametrize("text", HOSTILE, ids=ascii)
def test_no_text_makes_the_scan_slow(text: str) -> None:
    """A pattern whose time grows with the square of the size, or faster, would take minutes for one of them."""
    for start in ("", "from", "class A", "x = ", "import ", "from a import (", "x."):
        scan((start + text * (SIZE // len(text))).encode(), ORIGIN)


@pytest.mark.parametrize(
    ("text", "imports"),
    [
        ("from a import b", {"a", "a.b"}),
        ("    from a import b  # inside a function", {"a", "a.b"}),
        ("if TYPE_CHECKING: import a", {"a"}),
        ("from größe import maß", {"größe", "größe.maß"}),
        ("# import a", set()),
        ("raise ValueError from error", set()),
        ("from a import (\n    b,  # c, d\n    e as f,\n)", {"a", "a.b", "a.e"}),
        ("from a import b, \\\n    c", {"a", "a.b", "a.c"}),
        ("from \\\r\n  a \\\r\n  import b", {"a", "a.b"}),
        ("from a . b import c", {"a.b", "a.b.c"}),
        ("from . import a", {"shop", "shop.a"}),
        ("from.a import(b)", {"shop.a", "shop.a.b"}),
        ("from .. import a", {"a"}),
        ("from a import *", {"a"}),
        ("if x: from a import b; import c", {"a", "a.b", "c"}),
        ("try:\n    import a.b as c\nexcept ImportError: import d", {"a", "a.b", "d"}),
        ("x = 1\rimport a\rfrom b import c", {"a", "b", "b.c"}),
        ("import a; import b, c.d", {"a", "b", "c", "c.d"}),
        ('"""Say `from a import b` or\nfrom time to time."""', set()),
    ],
)
def test_imports_are_found_in_every_spelling(text: str, imports: set[str]) -> None:
    assert set(scan(text.encode(), ORIGIN).imports) == imports


@pytest.mark.parametrize(
    "line",
    [
        "class A(B):",
        "class A[T](B):",
        "class A[T: dict[str, list[int]]] (B):",
        "    class A(Generic[T], B):",
        "class A(\n    B,\n):",
    ],
)
def test_a_class_with_bases_is_found(line: str) -> None:
    found = scan(f"from shop.base import B\n{line}\n    pass\n".encode(), ORIGIN)
    assert found.derives
    assert found.bases == ("shop.base", "shop.base.B")


@pytest.mark.parametrize(
    "line",
    [
        *("A = Tensor", "A = Int[Tensor, 'n']", "A: TypeAlias = a.B | None", "type A = B", "    type A[T] = B"),
        "T = typing.TypeVar('T')",
        "    A = Tensor",
        *("x = 1", "SIZE: Final = -2", "NAMES = ('a', 'b')", "AREA = SIZE * 2", "    SIZE = 1", "NAME = 'a'"),
    ],
)
def test_an_alias_or_a_constant_is_found(line: str) -> None:
    assert scan(line.encode(), ORIGIN).aliases


@pytest.mark.parametrize(
    "line", ["x = f()", "    x = tensor", "    x = 1", "x = []", "type(x)", "x == y", "x += y", "print(x)"]
)
def test_other_assignments_are_not_taken_for_aliases(line: str) -> None:
    assert not scan(line.encode(), ORIGIN).aliases


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("class B(TensorClass):\n    x: Tensor\n", True),
        ("class B(Base, Module):\n    pass\n", True),
        ("from torch.nn import Module\nclass B(Module):\n    pass\n", False),
        ("from torch.nn import *\nclass B(Module):\n    pass\n", False),
        ("class Module:\n    pass\nclass B(Module):\n    pass\n", False),
        ("Module = make()\nclass B(Module):\n    pass\n", False),
        ("import torch.nn as nn\nclass B(nn.Module):\n    pass\n", False),
        ("def make(Module):\n    class B(Module):\n        pass\n", False),
    ],
)
def test_a_root_of_the_language_that_nothing_imports_is_a_forgotten_import(text: str, expected: bool) -> None:
    assert scan(text.encode(), Origin("", "shop.model")).mentions is expected
