"""The imports of generated files: the names that their classes use, and how a file writes them."""

import ast
from pathlib import Path

import pytest

from qten_gen.emit.file import python_file, stub_file
from qten_gen.emit.names import IMPORTS, runtime_imports
from qten_gen.generate.outputs import text_of_python
from qten_gen.model import FileDecl
from tests.emit.declared import linked
from tests.generated_sources import generated_sources

REPOSITORY = Path(__file__).parents[2]


def file_of(text: str) -> FileDecl:
    """`shop/model.py` with this text below the usual imports, as the emitters get it."""
    return linked(shop__model=text)["shop.model"]


def test_imports_are_grouped_and_sorted() -> None:
    assert runtime_imports(["_torch.ones(_builtins.len(x))"], "_rt", "_t", "_OrderedDict", "annotations") == (
        ("from __future__ import annotations",),
        ("import builtins as _builtins", "import typing as _t", "from collections import OrderedDict as _OrderedDict"),
        ("import torch as _torch", "from qten_gen.runtime import generated as _rt"),
    )


def test_a_docstring_causes_no_import() -> None:
    """Words that a search of the text would take for names of ours."""
    plain = file_of("class Batch(TensorClass):\n    x: Tensor\n")
    words = "_nn. _builtins. _torch. _OrderedDict["
    told = file_of(f'class Batch(TensorClass):\n    """{words}"""\n\n    x: Tensor\n    """{words}"""\n')
    assert _head(text_of_python(python_file(told))) == _head(text_of_python(python_file(plain)))
    assert stub_file(told).imports == stub_file(plain).imports


def _head(text: str) -> str:
    return text.partition("_fingerprint")[0]


def test_a_stub_gives_the_declared_classes_and_nothing_else() -> None:
    file = file_of(
        "class Batch(TensorClass):\n    count: int\n"
        "class Net(Module):\n    def forward(self, x: Tensor) -> Tensor: ...\n"
        "@Net.register(str)\ndef _(net: Net, text: str) -> Batch: ...\n"
        "def make() -> Batch: ...\n"
    )
    assert stub_file(file).imports == ("from .model import Batch as Batch", "from .model import Net as Net")


def test_a_generated_file_imports_the_names_that_it_uses_and_no_others() -> None:
    roots = (REPOSITORY / "examples", generated_sources())
    wrong = [path for root in roots for path in root.glob("*/*_qten.py*") if not imports_what_it_uses(path)]
    assert wrong == []


def imports_what_it_uses(path: Path) -> bool:
    tree = ast.parse(path.read_bytes())
    statements = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    imported = {name.asname or name.name for node in statements for name in node.names}
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    ours = set(IMPORTS) - {"annotations"}
    return imported & ours == used & ours


BATCH = """
class Batch(TensorClass):
    tokens: Tensor
    mask: Tensor | None = None
"""

SCORER = """
class Scorer(Module):
    dim: int
    weight: nn.Parameter = param(8, "2*dim", initializer=nn.init.xavier_uniform_)

    def forward(self, x: Tensor) -> Tensor:
        return nn.functional.linear(x, self.weight)
"""


@pytest.mark.parametrize(("text", "lines"), [(BATCH, 55), (BATCH + SCORER, 77)], ids=["one class", "README"])
def test_a_generated_file_is_short_enough_to_be_reviewed(text: str, lines: int) -> None:
    # Two lines of header stand before it.
    assert 2 + len(text_of_python(python_file(file_of(text))).splitlines()) <= lines
