"""What the command says about the arguments of torch's layers."""

from __future__ import annotations

import inspect

import pytest
import torch
from torch import nn

from qten_gen.model import foreign_classes
from tests.command import Command

CALLS = """
    AdaptiveAvgPool1d(3) AdaptiveAvgPool2d((3,None)) AdaptiveMaxPool2d(3,return_indices=True) AlphaDropout(0.1)
    AvgPool1d(2) AvgPool2d(2,2) BCELoss(reduction="sum") BatchNorm1d(4,momentum=None) BatchNorm2d(4,affine=False)
    Bilinear(2,3,4,bias=False) CELU(2) ConstantPad1d(1,0.5) ConstantPad3d(1,value=0) Conv1d(2,4,3)
    Conv2d(2,4,(3,3),padding="same",padding_mode="reflect") ConvTranspose1d(2,4,3,stride=2) Dropout() Dropout2d(p=0)
    CrossEntropyLoss(ignore_index=-1,label_smoothing=0.1) ELU(1) Embedding(10,4,padding_idx=2) Flatten(1,-1)
    EmbeddingBag(10,4,max_norm=1,mode="sum") GELU("tanh") GLU(1) GRU(3,4,num_layers=2) GRUCell(3,4) GroupNorm(2,4)
    Hardsigmoid(True) Hardtanh(-2,2) Identity(1,a=2) InstanceNorm2d(3,affine=True) KLDivLoss(log_target=True) L1Loss()
    LSTM(3,4,batch_first=True) LayerNorm([4,4],elementwise_affine=False) LazyLinear(4) LeakyReLU(1)
    Linear(4,5,bias=False) LogSoftmax(dim=None) MSELoss(reduction="none") MaxPool2d(2,stride=None)
    MaxPool3d(2,ceil_mode=True) ModuleList([nn.ReLU()]) MultiheadAttention(8,2,dropout=0.1,kdim=4) PReLU(3,init=1)
    PixelShuffle(2) RMSNorm(4,eps=None) RNNCell(3,4,nonlinearity="relu") ReLU(inplace=True) ReflectionPad1d(1) SELU()
    SmoothL1Loss(beta=1) Softmax(dim=-1) Softplus(2,threshold=10) SyncBatchNorm(3) Unflatten(1,(2,2))
    Transformer(8,2,2,2,16,batch_first=True) TransformerDecoder(nn.TransformerDecoderLayer(8,2,16),2)
    TransformerEncoder(nn.TransformerEncoderLayer(8,2,16,batch_first=True),2,norm=None)
    TransformerEncoderLayer(8,2,16,activation=nn.GELU()) Upsample(scale_factor=2,mode="bilinear",align_corners=False)
""".split()


LAYERS = [name for name in dir(nn) if foreign_classes.parameters_of(f"torch.nn.{name}") is not None]


@pytest.mark.parametrize("name", LAYERS)
def test_the_parameters_of_a_layer_are_those_of_its_constructor(name: str) -> None:
    text = foreign_classes.parameters_of(f"torch.nn.{name}")
    namespace: dict[str, object] = {}
    exec(f"def read({text}): ...", namespace)
    read = inspect.signature(namespace["read"]).parameters  # type: ignore[arg-type] # the function above
    _, *real = inspect.signature(getattr(nn, name).__init__).parameters.values()
    shapes = [(one.name, one.kind, one.default is one.empty, one.default is None) for one in real]
    known = [(one.name, one.kind, one.default is one.empty, one.default is None) for one in read.values()]
    assert shapes == [one for one in known if one in shapes]  # an older torch has fewer


def test_no_right_call_of_a_layer_is_reported(qten_gen: Command) -> None:
    assert len(LAYERS) > 80
    for call in CALLS:
        assert isinstance(eval(f"nn.{call}", {"nn": nn, "torch": torch}), nn.Module)
    fields = [f"    m{index}: nn.Module = submodule({_given(call)})" for index, call in enumerate(CALLS)]
    head = "import torch\nfrom qten_gen import Module, const, submodule\nfrom torch import nn\n\nclass Net(Module):\n"
    qten_gen.write("pyproject.toml", "[tool.qten-gen]\n")
    qten_gen.write("net.py", head + "\n".join(fields) + "\n")
    result = qten_gen("--output-format=concise", ".")
    codes = {line.partition("error ")[2].partition(" ")[0] for line in result.out.splitlines()[:-1]}
    assert codes == {"QG314"}, result.out  # the objects among the arguments, as in `pos_weight=torch.ones(3)`


def _given(call: str) -> str:
    """A call as arguments of a submodule: strings are marked as such."""
    name, _, rest = call.partition("(")
    quoted = rest.removesuffix(")").split('"')
    marked = "".join(f'const("{part}")' if index % 2 else part for index, part in enumerate(quoted))
    return f"nn.{name}, {rest.removesuffix(')') if name == 'ModuleDict' else marked}".rstrip(", ")


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ('nn.Linear, "dim"', "nn.Linear requires the argument out_features"),
        ('nn.Linear, "dim", 4, baias=False', "nn.Linear has no constructor argument baias"),
        ("nn.Dropout, 0.1, False, 3", "nn.Dropout takes 2 positional arguments, but 3 are given"),
        ('nn.Linear, "dim", 4, in_features=3', "nn.Linear gets in_features twice, by position and by keyword"),
        ("nn.ReLU, inplac=True", "nn.ReLU has no constructor argument inplac"),
        ('nn.Linear, 4, 4, tie="dim"', "nn.Linear has no constructor argument tie"),
        ("nn.Sequential, submodule(nn.Linear, 4)", "nn.Linear requires the argument out_features"),
        ("torch.nn.modules.linear.Linear, 4", "torch.nn.modules.linear.Linear requires the argument out_features"),
    ],
)
def test_a_wrong_argument_of_a_layer_is_reported(qten_gen: Command, call: str, expected: str) -> None:
    assert said(qten_gen, call) == [expected]


@pytest.mark.parametrize(
    "call",
    [
        'nn.Linear, "dim", 4, bias="wide"',
        'nn.Linear, "dim", 4, 1',
        "nn.BatchNorm1d, 4, momentum=None",
        "nn.LayerNorm, 4, 1",
        'nn.Linear, *SIZES, "dim"',
        'nn.Linear, "dim", LATER',
        'make, "anything", 1, 2, 3',
    ],
)
def test_what_may_be_right_is_not_reported(qten_gen: Command, call: str) -> None:
    assert said(qten_gen, call) == []


def test_the_layers_of_a_sequential_are_checked(qten_gen: Command) -> None:
    found = reported(qten_gen, 'body: nn.Sequential = sequential(submodule(nn.Linear, "dim"), nn.ReLU)')
    assert found == ["nn.Linear requires the argument out_features"]


def said(qten_gen: Command, call: str) -> list[str]:
    """What is reported about a child of these arguments."""
    return reported(qten_gen, f"a: nn.Module = submodule({call})")


def reported(qten_gen: Command, field: str, before: str = "") -> list[str]:
    """What QG320 says about a Module with this field."""
    if not (qten_gen.folder / "pyproject.toml").exists():
        qten_gen.write("pyproject.toml", "[tool.qten-gen]\n")
    head = f"import torch\nfrom qten_gen import Module, const, sequential, submodule\nfrom torch import nn\n{before}\n"
    names = "SIZES = [1]\nLATER = [4][0]\ndef make(*sizes): ...\n"
    sizes = '    dim: int\n    wide: bool\n    name: str = "a"\n'
    qten_gen.write("net.py", f"{head}{names}class Net(Module):\n{sizes}    {field}\n")
    lines = qten_gen("--output-format=concise", "net.py").out.splitlines()
    return [line.partition("[invalid-submodule-argument]: ")[2] for line in lines if "QG320" in line]
