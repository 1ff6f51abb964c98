"""How a stub names what its source names."""

import ast

from qten_gen.generate.outputs import render

from .declared import linked


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
