"""What is known of the names below a Module."""

import pytest
from torch import nn

from qten_gen.emit.module_names import TORCH_LEAVES, tensor_names
from qten_gen.model import ModuleDecl

from .declared import linked

ARGUMENTS = ((), (2,), (2, 2), (2, 2, 2), (1, (1, 1)))


def made(name: str) -> nn.Module:
    """A layer of torch, with arguments that it takes."""
    for given in ARGUMENTS:
        try:
            layer: nn.Module = getattr(nn, name)(*given)
        except TypeError:
            continue
        return layer
    raise AssertionError(f"no arguments for {name}")


@pytest.mark.parametrize("name", sorted(name.removeprefix("torch.nn.") for name in TORCH_LEAVES))
def test_a_leaf_of_torch_has_neither_modules_nor_buffers(name: str) -> None:
    layer = made(name)
    assert list(layer.children()) == list(layer.buffers()) == []


def known(body: str) -> tuple[tuple[str, ...], bool]:
    """The submodules of the last class of a file, and whether these are all."""
    (file,) = linked(shop__model=f"from qten_gen import ModuleList, submodule\n{body}").values()
    declaration = file.declarations[-1]
    assert isinstance(declaration, ModuleDecl)
    found = tensor_names(declaration, file.related)
    return found.children, found.knows_children


INNER = "class Inner(Module):\n    norm: nn.LayerNorm = submodule(nn.LayerNorm, 2)\n"


def test_paths_lead_through_declared_children_and_lists() -> None:
    body = f"{INNER}class Net(Module):\n    parts: ModuleList[Inner] = submodule(Inner, repeat=2)\n"
    assert known(body) == (("parts", "parts.0", "parts.0.norm", "parts.1", "parts.1.norm"), True)


@pytest.mark.parametrize(
    "body",
    [
        "class Net(Module):\n    part: nn.Sequential = submodule(nn.Sequential)\n",
        "class Net(Module):\n    part: nn.BatchNorm1d = submodule(nn.BatchNorm1d, 2)\n",
        f"{INNER}class Net(Module):\n    depth: int\n    parts: ModuleList[Inner] = submodule(Inner, repeat='depth')\n",
        f"{INNER}    def __post_init__(self) -> None: ...\n",
    ],
)
def test_other_children_may_exist_below_what_the_text_does_not_tell(body: str) -> None:
    assert not known(body)[1]
