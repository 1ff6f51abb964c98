"""What stubs say of shapes where the setting asks for it, in the words of pyrefly."""

from __future__ import annotations

import ast

import pytest

from qten_gen.common.stub_settings import StubSettings
from qten_gen.generate.outputs import render
from tests.emit.declared import linked

HEAD = """
from typing import Generic, TypeVar
from jaxtyping import Float, Int
from qten_gen import ModuleList, buffer, param, submodule
T = TypeVar("T")
"""
BLOCK = """
class Block(Module):
    width: int
    heads: int = 4
    rate: float = 0.0
    weight: nn.Parameter = param("width", "3*width")
    bias: nn.Parameter | None = param("width", when="heads > 1")
    scale: Tensor = buffer("width // heads")
    def forward(self, {parameters}) -> {result}: ...
"""


def stub(text: str) -> str:
    """The stub of `shop/model.py` with shapes."""
    found = render(linked(shop__model=HEAD + text)["shop.model"], StubSettings(shapes=True))["pyi"]
    ast.parse(found)
    return found


def call(parameters: str, result: str = "Tensor") -> str:
    """The call of a module with two sizes, on one line; empty if it says no shape."""
    lines = stub(BLOCK.format(parameters=parameters, result=result)).partition("def __call__(")
    before = lines[0].rstrip().rpartition("\n")[2].strip()
    return f"{before} {' '.join(lines[2].split())}" if lines[1] else ""


def test_a_module_has_its_sizes_its_tensors_and_its_constructor() -> None:
    text = stub(BLOCK.format(parameters="x: Tensor", result="Tensor"))
    statement = text[text.index("@_shape_vars") :]
    assert (
        statement
        == '''@_shape_vars("width, heads")
class Block(_decl.Block, init=False):
    """`Block` with exact types."""
    weight: _Shaped[nn.Parameter, "[width, 3 * width]"] = ...
    scale: _Shaped[Tensor, "[width // heads]"] = ...
    def __init__(
        self,
        width: _Shaped[int, "width"],
        heads: _Shaped[int, "heads"] = 4,
        rate: float = ...,
        *,
        device: _torch.device | str | int | None = ...,
        dtype: _torch.dtype | None = ...,
    ) -> None: ...
'''
    )


@pytest.mark.parametrize(
    ("parameters", "result", "said"),
    [
        ('x: Float[Tensor, "b t width"]', "Tensor", '@_shape_vars("b, t") self, x: _Shaped[Tensor, "[b, t, width]"]'),
        ('x: Float[Tensor, "*batch 3"]', "Tensor", '@_shape_vars("*batch") self, x: _Shaped[Tensor, "[*_Elements[batch], 3]"]'),
        ('x: Float[Tensor, "... {self.width//self.heads}"]', "Tensor", '"[*_Elements[any_0], width // heads]"'),
        ('x: Float[Tensor, "#b _ rgb=3"]', "Tensor", '@_shape_vars("any_0, any_1") self, x: _Shaped[Tensor, "[any_0, any_1, '),
        ('x: Int[Tensor, "b"], y: Float[Tensor, "b"] | None = None', "Tensor", 'y: _Shaped[Tensor, "[b]"] | None = None'),
        ('x: Float[Tensor, "b t"]', 'Float[Tensor, "b 2*t+1 heads"]', '-> _Shaped[Tensor, "[b, 2 * t + 1, heads]"]: ...'),
        ('x: Float[Tensor, "b"]', 'tuple[Float[Tensor, "b width"], int]', '-> tuple[_Shaped[Tensor, "[b, width]"], int]: ...'),
    ],
)  # fmt: skip
def test_the_names_of_forward_are_dimensions(parameters: str, result: str, said: str) -> None:
    assert said in call(parameters, result)


@pytest.mark.parametrize("result", ["b t", "b {self.rate}", "b ...", "#b", "b b*t", "*b"])
def test_a_result_whose_sizes_nobody_binds_is_a_plain_tensor(result: str) -> None:
    assert call('x: Float[Tensor, "b"]', f'Float[Tensor, "{result}"]').endswith(f'-> Float[Tensor, "{result}"]: ...')


def test_a_batch_has_its_sizes_in_the_constructor() -> None:
    text = stub(
        'class Batch(TensorClass):\n    x: Int[Tensor, "*batch t"]\n    y: Int[Tensor, "*batch t"] | None = None\n'
    )
    assert '@_shape_vars("*batch, t")\n    def __init__(' in text
    assert 'y: _Shaped[Tensor, "[*_Elements[batch], t]"] | None = ...,\n        *,\n        batch_size: ' in text
    assert "jaxtyping" not in text


@pytest.mark.parametrize(
    "text",
    [
        'class Net(Module):\n    rate: float\n    def forward(self, x: Float[Tensor, "b"]) -> Tensor: ...\n',
        "class Net(Module):\n    width: int\n    def __init__(self, width: int) -> None: ...\n",
        "class Net(Module, Generic[T]):\n    width: int\n",
        "class Batch(TensorClass):\n    x: Tensor\n",
    ],
)
def test_a_class_without_sizes_or_with_another_constructor_is_passed_on(text: str) -> None:
    assert "shape_extensions" not in stub(text)


def test_a_class_that_derives_from_one_with_sizes_says_none_of_its_own() -> None:
    text = stub(BLOCK.format(parameters="x: Tensor", result="Tensor") + "class Wide(Block):\n    more: int = 1\n")
    assert "\nclass Wide(_decl.Wide, Block, init=False):" in text
