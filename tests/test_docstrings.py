"""The examples in docstrings do what they say, and everything public has one."""

from __future__ import annotations

import ast
import collections
import dataclasses
import doctest
import inspect
import re
import textwrap
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import ClassVar

import numpy
import pytest
import torch
from torch import Tensor, nn

import qten_gen
from qten_gen import Module, TensorClass, param
from qten_gen.runtime.tensorclass.operations import table

PACKAGE = Path(__file__).parents[1] / "qten_gen"
# The sessions of docs/operations.md, which are run there, in order.
OF_A_PAGE = [PACKAGE / "runtime" / "tensorclass" / "operations" / name for name in ("documentation.py", "examples.py")]
WITH_EXAMPLES = [
    path
    for path in sorted(PACKAGE.rglob("*.py"))
    if path not in OF_A_PAGE and ">>> " in path.read_text(encoding="utf-8")
]


class Batch(TensorClass):
    """The class of the examples, as the docstring of TensorClass declares it."""

    tokens: Tensor
    mask: Tensor | None = None


class Linear(Module):
    """The module of the examples, as the docstring of Module declares it."""

    rows: int
    cols: int
    weight: nn.Parameter = param("rows", "cols", initializer=nn.init.ones_)

    def forward(self, x: Tensor) -> Tensor:
        return x @ self.weight.T


# What an example may take as given: the imports of any program that declares something, and the two classes above.
GIVEN: dict[str, object] = {
    "__name__": __name__,
    **{name: getattr(qten_gen, name) for name in qten_gen.__all__},
    "torch": torch,
    "nn": nn,
    "Tensor": Tensor,
    "numpy": numpy,
    "dataclasses": dataclasses,
    "collections": collections,
    "ClassVar": ClassVar,
    "Batch": Batch,
    "Linear": Linear,
}

CLASSES = (
    "TensorClass",
    "Module",
    "LabelledTensor",
    "PerItem",
    "FrozenDict",
    "Device",
    "Functional",
    "VirtualTensor",
)
# Constants and aliases have no docstring of their own.
# The example of AsTensor shows `number`, too.
WITHOUT_DOCSTRING = {
    "SizedTensorClass",
    "TENSOR_BUFFER_PREFIX",
    "TENSOR_PARAM_PREFIX",
    "ModuleType",
    "Unbatched",
    "number",
}
NEEDS_A_GPU = {"cuda", "gpu", "pin_memory", "record_stream"}
NEEDS_TWO_PROCESSES = {"send", "recv"}
# Methods of the table of operations have their examples on docs/operations.md.
ON_THE_PAGE_OF_OPERATIONS = table.methods().keys()


def _public() -> Iterator[tuple[str, object]]:
    """Whatever needs an example, by name: not exceptions, properties, operators, nor what torch or Python defines."""
    for name in qten_gen.__all__:
        value = getattr(qten_gen, name)
        if name not in WITHOUT_DOCSTRING and not (isinstance(value, type) and issubclass(value, Exception)):
            yield name, value
    for class_name in CLASSES:
        for name, method in inspect.getmembers(getattr(qten_gen, class_name), inspect.isroutine):
            if name.startswith("_") or name in NEEDS_A_GPU | NEEDS_TWO_PROCESSES or hasattr(method, "fget"):
                continue
            if class_name == "TensorClass" and name in ON_THE_PAGE_OF_OPERATIONS:
                continue
            if method.__module__.startswith("qten_gen."):
                yield f"{class_name}.{name}", method


PUBLIC = dict(_public())


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Examples save files by relative paths, and may have made a group of processes when they fail."""
    monkeypatch.chdir(tmp_path)
    yield
    if torch.distributed.is_initialized():
        torch.distributed.destroy_process_group()


@pytest.mark.parametrize("path", WITH_EXAMPLES, ids=[str(path.relative_to(PACKAGE)) for path in WITH_EXAMPLES])
def test_examples_in_docstrings_hold(path: Path) -> None:
    name = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")
    module = import_module(name)
    given = {**GIVEN, **vars(module), "__name__": __name__}
    given.pop("annotations", None)  # doctest would take `from __future__ import annotations` over into the examples
    failed, attempted = doctest.testmod(module, globs=given)
    assert attempted and not failed


@pytest.mark.parametrize("name", PUBLIC)
def test_everything_public_has_an_example_that_runs_in_a_users_program(name: str) -> None:
    examples = doctest.DocTestParser().get_doctest(inspect.getdoc(PUBLIC[name]) or "", dict(GIVEN), name, None, None)
    assert examples.examples, f"the docstring of {name} has no example that starts with >>>"
    failed, _ = doctest.DocTestRunner().run(examples)
    assert not failed


# `unexpected` makes the error of a keyword that is not in the signature, as Python does for any function.
OF_THE_SIGNATURE = "unexpected"


def _raised(function: object) -> set[str]:
    """What the body of a function raises by itself: names of exceptions, and of functions that make them."""
    (written,) = ast.parse(textwrap.dedent(inspect.getsource(inspect.unwrap(function)))).body  # type: ignore[arg-type] # a function
    raised = [node.exc for node in ast.walk(written) if isinstance(node, ast.Raise) and node.exc is not None]
    return {ast.unparse(exc.func if isinstance(exc, ast.Call) else exc) for exc in raised} - {OF_THE_SIGNATURE}


def _with_code() -> Iterator[tuple[str, object]]:
    """Everything public that is a function: also what has its example elsewhere, and properties."""
    for name, value in _public():
        if inspect.isroutine(value):
            yield name, value
    for class_name in CLASSES:
        for name, member in inspect.getmembers(getattr(qten_gen, class_name)):
            function = getattr(member, "fget", member)
            if not name.startswith("_") and (getattr(function, "__module__", None) or "").startswith("qten_gen."):
                yield f"{class_name}.{name}", function


def test_whatever_public_raises_an_error_says_which() -> None:
    silent = []
    for name, function in _with_code():
        documented = (inspect.getdoc(function) or "").partition("Raises:\n")[2]
        for error in _raised(function):
            is_exception = error[0].isupper()
            if not (re.search(rf"\b{error}\b", documented) if is_exception else documented):
                silent.append(f"{name}: {error}")
    assert silent == []
