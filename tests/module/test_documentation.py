"""What `help()` and editors say of a Module: its constructor, and the shapes of its fields."""

import inspect
from importlib import import_module

import pytest

from qten_gen.emit.module import init_doc
from qten_gen.model import ModuleDecl
from tests.emit.declared import linked
from tests.generated_sources import generated_sources
from tests.sources.kinds.modules import Nested, Sizes


def test_the_constructor_says_its_arguments() -> None:
    said = inspect.getdoc(Sizes.__init__) or ""
    assert said.startswith("Construct the module on a device, its floating point tensors with a dtype;")


def test_an_argument_has_the_docstring_of_its_field() -> None:
    text = 'class Net(Module):\n    dim: int\n    """How wide.\n\n    Of all rows."""\n    depth: int\n'
    (file,) = linked(shop__model=text).values()
    (declaration,) = file.declarations
    assert isinstance(declaration, ModuleDecl)
    assert init_doc(declaration).endswith("\n\nArgs:\n    dim: How wide.\n\n        Of all rows.")


def test_a_field_says_its_shape() -> None:
    assert inspect.getdoc(Sizes.steps) == "Buffer of shape `(rows,)`."
    assert inspect.getdoc(Sizes.scalar) == "Parameter of shape `()`."
    assert inspect.getdoc(Nested.norm) == "`nn.LayerNorm`."


def test_a_field_of_a_generated_class_says_what_its_docstring_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(generated_sources())
    generated = import_module("kinds.modules")
    assert inspect.getdoc(generated.Sizes.steps) == "How often each row was seen.\n\nBuffer of shape `(rows,)`."
