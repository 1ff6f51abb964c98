"""How a stub names what its source names."""

import ast

import pytest

from qten_gen.emit.stub_names import StubNames
from qten_gen.generate.outputs import render

from .declared import linked

FILES = {
    "shop__kinds": "class Kind: ...\n",
    "shop__base": """
        from .kinds import Kind
        class Local: ...
        class Box(TensorClass):
            kind: Kind
        """,
    "shop__model": """
        import enum
        from .base import Box
        class Mode(enum.Enum): ...
        class Batch(Box):
            mode: Mode
        """,
}


@pytest.fixture
def names() -> StubNames:
    """The names of the stub of `shop.model`."""
    return StubNames(linked(**FILES)["shop.model"])


def test_a_name_of_the_source_is_reached_through_the_source(names: StubNames) -> None:
    assert names.text("Mode | None") == "_decl.Mode | None"
    assert names.imports == []


def test_a_builtin_stays_as_it_is(names: StubNames) -> None:
    assert (names.text("dict[str, int]"), names.imports) == ("dict[str, int]", [])


def test_an_imported_name_is_imported_again(names: StubNames) -> None:
    assert names.text("list[nn.Module]") == "list[nn.Module]"
    assert names.imports == ["from torch import nn"]


def test_a_text_of_another_file_is_read_with_the_imports_of_that_file(names: StubNames) -> None:
    assert names.text("Kind | Local", "shop.base") == "Kind | _Local"
    assert names.imports == ["from .base import Local as _Local", "from .kinds import Kind"]


def test_a_generated_class_goes_by_its_name_in_its_own_stub(names: StubNames) -> None:
    assert (names.generated("shop.model.Batch"), names.imports) == ("Batch", [])


def test_a_generated_class_of_another_stub_is_imported_from_there(names: StubNames) -> None:
    assert names.generated("shop.base.Box") == "_Box"
    assert names.imports == ["from .base_qten import Box as _Box"]


def test_a_module_beside_a_file_outside_packages_is_imported_by_its_name() -> None:
    files = linked(
        base="class Base(TensorClass):\n    price: Tensor\n",
        net="class Net(Module):\n    def forward(self, x: Tensor) -> Tensor: ...\n",
        handlers="""
            from . import net, base
            @net.Net.register(base.Base)
            def run(module: net.Net, item: base.Base) -> base.Base: ...
            """,
    )
    text = render(files["net"])["pyi"]
    assert "def __call__(self, item: base.Base, /) -> base.Base: ..." in text
    assert "import base" in text.splitlines()
    ast.parse(text)
