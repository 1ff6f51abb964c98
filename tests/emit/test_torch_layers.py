"""The tables of torch's layers, against the installed torch."""

import inspect

import pytest
from torch import nn

from qten_gen.generate.outputs import render_class
from qten_gen.model.foreign_classes import PLACED, WITHOUT_TENSORS
from tests.emit.declared import linked

ARGUMENTS = {
    **dict.fromkeys(("AdaptiveAvgPool", "AdaptiveMaxPool", "AvgPool", "MaxPool", "ZeroPad"), (2,)),
    **dict.fromkeys(("PixelShuffle", "PixelUnshuffle"), (2,)),
    "Unflatten": (1, (2, 2)),
    **dict.fromkeys(("Conv", "Bilinear"), (2, 2, 2)),
    **dict.fromkeys(("Embedding", "GRUCell", "LSTMCell", "Linear", "RNNCell"), (2, 2)),
    **dict.fromkeys(("BatchNorm", "LayerNorm", "RMSNorm"), (2,)),
    "GroupNorm": (1, 2),
    "InstanceNorm": (2, 1e-5, 0.1, True, True),
}
"""What the constructors of some layers need, by the beginnings of their names."""


@pytest.mark.parametrize("name", sorted(PLACED))
def test_a_placed_layer_takes_device_and_dtype(name: str) -> None:
    assert {"device", "dtype"} <= inspect.signature(getattr(nn, name)).parameters.keys()


def tensors(name: str) -> tuple[list[str], list[str]]:
    """The names of the parameters and of the buffers of a layer."""
    made = getattr(nn, name)(*next((given for start, given in ARGUMENTS.items() if name.startswith(start)), ()))
    return [each for each, _ in made.named_parameters()], [each for each, _ in made.named_buffers()]


@pytest.mark.parametrize("name", sorted(WITHOUT_TENSORS))
def test_a_layer_without_tensors_has_none(name: str) -> None:
    assert tensors(name) == ([], [])


@pytest.mark.parametrize(
    ("given", "written"),
    [
        ('nn.Linear, "dim", 2, bias=False', "_nn.Linear(dim, 2, bias=False, device=device, dtype=dtype)"),
        ('nn.Linear, "dim", 2, dtype=torch.float64', "_nn.Linear(dim, 2, dtype=_torch.float64, device=device)"),
        ("nn.Dropout, 0.1", "_nn.Dropout(0.1)"),
        ('nn.LSTM, "dim", 2', "_rt.construct(_nn.LSTM, dim, 2, device=device, dtype=dtype)"),
    ],
)
def test_a_layer_is_constructed_as_a_person_writes_it(given: str, written: str) -> None:
    head = "import torch\nfrom qten_gen import submodule\n"
    text = f"{head}class Net(Module):\n    dim: int\n    x: nn.Module = submodule({given})"
    (file,) = linked(shop__model=text).values()
    assert f"        self.x = {written}\n" in render_class(file.declarations[0])
