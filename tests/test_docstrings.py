"""The examples in docstrings do what they say."""

from __future__ import annotations

import doctest
from importlib import import_module
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "qten_gen"
# The sessions of docs/operations.md, which are run there, in order.
OF_A_PAGE = [PACKAGE / "runtime" / "tensorclass" / "operations" / name for name in ("documentation.py", "examples.py")]
WITH_EXAMPLES = [
    path
    for path in sorted(PACKAGE.rglob("*.py"))
    if path not in OF_A_PAGE and ">>> " in path.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("path", WITH_EXAMPLES, ids=[str(path.relative_to(PACKAGE)) for path in WITH_EXAMPLES])
def test_examples_in_docstrings_hold(path: Path) -> None:
    name = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")
    failed, attempted = doctest.testmod(import_module(name))
    assert attempted and not failed
