"""What is known of the names below a Module."""

import pytest
from torch import nn

from qten_gen.emit.held_modules import may_be_module
from qten_gen.emit.module_names import COMPUTED, PARAMETERS, of_torch, tensor_names
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


MADE_WITH = {"InstanceNorm": {"affine": True, "track_running_stats": True}}
"""Keywords that give layers all tensors that they can have, by what their names start with."""


def full(name: str) -> nn.Module:
    """A layer of torch with all tensors that it can have."""
    keywords = next((found for start, found in MADE_WITH.items() if name.startswith(start)), None)
    if keywords is None:
        return made(name)
    layer: nn.Module = getattr(nn, name)(2, **keywords)
    return layer


@pytest.mark.parametrize("name", sorted(PARAMETERS))
def test_the_tensors_of_a_layer_of_torch_are_those_of_the_table(name: str) -> None:
    layer, known = full(name), of_torch(f"torch.nn.{name}")
    assert list(layer.children()) == []
    assert tuple(dict(layer.named_parameters())) == known.parameters
    assert tuple(dict(layer.named_buffers())) == known.buffers
    assert tuple(layer.state_dict()) == known.state


@pytest.mark.parametrize("name", sorted(name.removeprefix("torch.nn.") for name in COMPUTED))
def test_a_layer_with_computed_names_has_neither_modules_nor_buffers(name: str) -> None:
    layer = made(name)
    assert list(layer.children()) == list(layer.buffers()) == []


def known(body: str) -> tuple[tuple[str, ...], bool]:
    """The submodules of the last class of a file, and whether these are all."""
    (file,) = linked(shop__model=f"from qten_gen import ModuleList, submodule\n{body}").values()
    declaration = file.declarations[-1]
    assert isinstance(declaration, ModuleDecl)
    found = tensor_names(declaration, file.related, file.classes)
    return found.children, found.knows_children


INNER = "class Inner(Module):\n    norm: nn.LayerNorm = submodule(nn.LayerNorm, 2)\n"


def test_paths_lead_through_declared_children_and_lists() -> None:
    body = f"{INNER}class Net(Module):\n    parts: ModuleList[Inner] = submodule(Inner, repeat=2)\n"
    assert known(body) == (("parts", "parts.0", "parts.0.norm", "parts.1", "parts.1.norm"), True)


@pytest.mark.parametrize(
    "body",
    [
        "class Net(Module):\n    part: nn.Sequential = submodule(nn.Sequential)\n",
        "class Net(Module):\n    part: nn.MultiheadAttention = submodule(nn.MultiheadAttention, 2, 1)\n",
        f"{INNER}class Net(Module):\n    depth: int\n    parts: ModuleList[Inner] = submodule(Inner, repeat='depth')\n",
        f"{INNER}    def __post_init__(self) -> None: ...\n",
    ],
)
def test_other_children_may_exist_below_what_the_text_does_not_tell(body: str) -> None:
    assert not known(body)[1]


CLASSES = """
import dataclasses, enum, pathlib, typing
from collections.abc import Callable
from typing import Annotated, Any, Protocol
class Sizes:
    dim: int
@dataclasses.dataclass
class Deeper(Sizes):
    depth: int
class Kind(enum.Enum): ...
class Act(Protocol):
    def __call__(self, x: Tensor, /) -> Tensor: ...
class Plain(nn.Module): ...
class Below(Plain): ...
class Inner(Module): ...
class Point(TensorClass):
    x: Tensor
"""


@pytest.mark.parametrize(
    "type",
    [
        "int",
        "str | None",
        "list[nn.Module]",
        "type[nn.Module]",
        "torch.dtype",
        "pathlib.Path",
        "Deeper",
        "Kind",
        "Point",
        "elsewhere.Settings",
    ],
)
def test_an_argument_that_is_no_module_adds_no_names(type: str) -> None:
    assert known(f"{CLASSES}class Net(Module):\n    given: {type}\n") == ((), True)


@pytest.mark.parametrize(
    "type",
    [
        "object",
        "Any",
        "Callable[[Tensor], Tensor]",
        "Act",
        "Plain",
        "Below | None",
        "Inner",
        "nn.Linear",
        "Annotated[Act, 1]",
    ],
)
def test_an_argument_that_may_be_a_module_may_bring_any_names(type: str) -> None:
    assert not known(f"{CLASSES}class Net(Module):\n    given: {type}\n")[1]


@pytest.mark.parametrize(
    ("type", "may_be"), [("elsewhere.Body", True), ("int", False), ("torch.dtype", False), ("Act", True)]
)
def test_a_module_without_names_refuses_them_only_where_no_argument_may_be_a_module(type: str, may_be: bool) -> None:
    (file,) = linked(shop__model=f"import torch\n{CLASSES}class Net(Module):\n    given: {type}\n").values()
    (field,) = file.declarations[-1].fields
    assert may_be_module(field.type, file.related, file.classes, unknown=True) is may_be
