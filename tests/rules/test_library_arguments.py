"""What the command says about the arguments of classes that are not declared: torch's layers, and those of other modules."""

from __future__ import annotations

import inspect
from textwrap import dedent

import pytest
import torch
from torch import nn

from qten_gen.generate.other_classes import OtherClasses
from qten_gen.link.program import parameters_of
from qten_gen.project.import_graph import graph_from_texts
from qten_gen.project.library_classes import RememberedClasses
from tests.command import Command
from tests.project.installed import Environment

CLASSES = sorted(name for name in dir(nn) if isinstance(getattr(nn, name), type))

UNKNOWN = {
    *("Container", "NLLLoss2d", "LinearCrossEntropyOptions"),  # `**kwargs`, decorators
    *("GRU", "LSTM", "RNN", "Sequential"),  # overloads
    *(f"Lazy{kind}Norm{size}d" for kind in ("Batch", "Instance") for size in (1, 2, 3)),  # two bases, no constructor
    *("Buffer", "Parameter", "UninitializedBuffer", "UninitializedParameter"),  # metaclasses
}
"""Classes of torch.nn whose constructors the text does not show."""

OTHERS = {"Container", "DataParallel", "Module", "NLLLoss2d"}
"""Modules of torch.nn that are no layers, or deprecated."""

CALLS = """
    AdaptiveAvgPool1d(3) AdaptiveAvgPool2d((3,None)) AdaptiveAvgPool3d(3)
    AdaptiveLogSoftmaxWithLoss(32,20,[5,10],div_value=2.0) AdaptiveMaxPool1d(3) AdaptiveMaxPool2d(3,return_indices=True)
    AdaptiveMaxPool3d(3) AlphaDropout(0.1) AvgPool1d(2) AvgPool2d(2,2) AvgPool3d(2) BCELoss(reduction="sum")
    BCEWithLogitsLoss(pos_weight=torch.ones(3)) BatchNorm1d(4,momentum=None) BatchNorm2d(4,affine=False)
    BatchNorm3d(4,eps=1e-3) Bilinear(2,3,4,bias=False) CELU(2) CTCLoss(1,"sum",True) ChannelShuffle(2) CircularPad1d(1)
    CircularPad2d((1,1,1,1)) CircularPad3d(1) ConstantPad1d(1,0.5) ConstantPad2d(1,2) ConstantPad3d(1,value=0)
    Conv1d(2,4,3) Conv2d(2,4,(3,3),padding="same",padding_mode="reflect") Conv3d(2,4,3,bias=False)
    ConvTranspose1d(2,4,3,stride=2) ConvTranspose2d(2,4,3,output_padding=0) ConvTranspose3d(2,4,3)
    CosineEmbeddingLoss(1) CosineSimilarity(dim=0) CrossEntropyLoss(ignore_index=-1,label_smoothing=0.1)
    CrossMapLRN2d(2) Dropout() Dropout1d(0.1) Dropout2d(p=0) Dropout3d(0.1,True) ELU(1) Embedding(10,4,padding_idx=2)
    EmbeddingBag(10,4,max_norm=1,mode="sum") FeatureAlphaDropout() Flatten(1,-1) Fold((4,4),2)
    FractionalMaxPool2d(2,output_ratio=(0.5,0.5)) FractionalMaxPool3d(2,output_size=3) GELU("tanh") GLU(1)
    GRU(3,4,num_layers=2) GRUCell(3,4) GaussianNLLLoss(full=True) GroupNorm(2,4) Hardshrink(1) Hardsigmoid(True)
    Hardswish() Hardtanh(-2,2) HingeEmbeddingLoss(2) HuberLoss(delta=2) Identity(1,a=2) InstanceNorm1d(3)
    InstanceNorm2d(3,affine=True) InstanceNorm3d(3) KLDivLoss(log_target=True) L1Loss() LPPool1d(2,3)
    LPPool2d(1.5,3,stride=2) LPPool3d(2,3) LSTM(3,4,batch_first=True) LSTMCell(3,4)
    LayerNorm([4,4],elementwise_affine=False) LazyBatchNorm1d() LazyBatchNorm2d(eps=1e-3) LazyBatchNorm3d()
    LazyInstanceNorm1d() LazyInstanceNorm2d() LazyInstanceNorm3d() LazyConv3d(4,3) LazyConvTranspose1d(4,3)
    LazyConvTranspose3d(4,3) LinearCrossEntropyLoss(4,3) LazyConv1d(4,3) LazyConv2d(4,kernel_size=3)
    LazyConvTranspose2d(4,3) LazyLinear(4) LeakyReLU(1) Linear(4,5,bias=False) LocalResponseNorm(2,k=2) LogSigmoid()
    LogSoftmax(1) LogSoftmax(dim=None) MSELoss(reduction="none") MarginRankingLoss(1) MaxPool1d(2)
    MaxPool2d(2,stride=None) MaxPool3d(2,ceil_mode=True) MaxUnpool1d(2) MaxUnpool2d((2,2)) MaxUnpool3d(2) Mish()
    ModuleDict({"a":nn.ReLU()}) ModuleList([nn.ReLU()]) MultiLabelMarginLoss() MultiLabelSoftMarginLoss()
    MultiMarginLoss(p=1,margin=1) MultiheadAttention(8,2,dropout=0.1,kdim=4) NLLLoss() PReLU(3,init=1)
    PairwiseDistance(2,eps=1e-5) ParameterDict() ParameterList() PixelShuffle(2) PixelUnshuffle(2)
    PoissonNLLLoss(eps=1e-6) RMSNorm(4,eps=None) RNN(3,4,nonlinearity="relu") RNNBase("LSTM",3,4)
    RNNCell(3,4,nonlinearity="relu") RNNCellBase(3,4,True,4) RReLU(0,1) ReLU(inplace=True) ReLU6() ReflectionPad1d(1)
    ReflectionPad2d(1) ReflectionPad3d(1) ReplicationPad1d(1) ReplicationPad2d(1) ReplicationPad3d(1) SELU()
    Sequential(nn.ReLU()) SiLU() Sigmoid() SmoothL1Loss(beta=1) SoftMarginLoss() Softmax(dim=-1) Softmax2d() Softmin(1)
    Softplus(2,threshold=10) Softshrink(1) Softsign() SyncBatchNorm(3) Tanh() Tanhshrink() Threshold(0,1)
    Transformer(8,2,2,2,16,batch_first=True) TransformerDecoder(nn.TransformerDecoderLayer(8,2,16),2)
    TransformerDecoderLayer(8,2,16) TransformerEncoder(nn.TransformerEncoderLayer(8,2,16,batch_first=True),2,norm=None)
    TransformerEncoderLayer(8,2,16,activation=nn.GELU()) TripletMarginLoss(1,p=1)
    TripletMarginWithDistanceLoss(margin=2) Unflatten(1,(2,2)) Unfold(2)
    Upsample(scale_factor=2,mode="bilinear",align_corners=False) UpsamplingBilinear2d(scale_factor=2)
    UpsamplingNearest2d(4) ZeroPad1d(1) ZeroPad2d((1,1,1,1)) ZeroPad3d(1)
""".split()


def parameters(name: str) -> str | None:
    """What a class of the running environment takes, by the text of its library."""
    graph = graph_from_texts({})._replace(libraries=RememberedClasses(None, "/nowhere"))
    others = OtherClasses({}, graph)
    return parameters_of(name, lambda found: others.find("", found).cls)


@pytest.mark.parametrize("name", CLASSES)
def test_the_parameters_of_a_layer_are_those_of_its_constructor(name: str) -> None:
    text = parameters(f"torch.nn.{name}")
    assert (text is None) == (name in UNKNOWN)
    if text is not None:
        namespace: dict[str, object] = {}
        exec(f"from __future__ import annotations\ndef read({text}): ...", namespace)
        read = list(inspect.signature(namespace["read"]).parameters.values())  # type: ignore[arg-type] # the function above
        _, *real = inspect.signature(getattr(nn, name).__init__).parameters.values()
        shapes = [(one.name, one.kind, one.default is one.empty, one.default is None) for one in read]
        assert shapes == [(one.name, one.kind, one.default is one.empty, one.default is None) for one in real]


def test_no_right_call_of_a_layer_is_reported(qten_gen: Command) -> None:
    modules = {name for name in CLASSES if issubclass(getattr(nn, name), nn.Module)}
    assert modules - {call.partition("(")[0] for call in CALLS} == OTHERS
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
        ('nn.Linear, "dim", "name"', "name has the type str, but nn.Linear takes out_features: int"),
        ('nn.Linear, "dim", const("dim")', 'nn.Linear takes out_features: int, got "dim"'),
        ('nn.Linear, "dim", 2.5', "nn.Linear takes out_features: int, got 2.5"),
        ('nn.Linear, "dim", None', "nn.Linear takes out_features: int, got None"),
        ('nn.Linear, "dim", "dim / 2"', "dim/2 has the type float, but nn.Linear takes out_features: int"),
        ("nn.Dropout, 0.1, False, 3", "nn.Dropout takes 2 positional arguments, but 3 are given"),
        ('nn.Linear, "dim", 4, in_features=3', "nn.Linear gets in_features twice, by position and by keyword"),
        ("nn.GELU, approximate=1", "nn.GELU takes approximate: str, got 1"),
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


HIDDEN = """
    import functools
    from typing import overload
    from torch import nn
    from absent import Unknown

    class Takes(nn.Module):
        def __init__(self, dim: int) -> None: ...

    class Any(nn.Module):
        def __init__(self, *sizes, **options): ...

    @functools.cache
    class Decorated(Takes): ...

    class Wrapped(nn.Module):
        @functools.wraps(print)
        def __init__(self, dim): ...

    class Overloaded(nn.Module):
        @overload
        def __init__(self, dim): ...
        def __init__(self, dim, more): ...

    class Meta(type): ...
    class Made(nn.Module, metaclass=Meta):
        def __init__(self, dim): ...

    class BelowMeta(Made):
        def __init__(self, dim): ...

    class New(nn.Module):
        def __new__(cls, *args): ...
        def __init__(self, dim): ...

    class Wrapping(nn.Module):
        def __init_subclass__(cls): ...
    class BelowWrapping(Wrapping):
        def __init__(self, dim): ...

    class BelowUnknown(Unknown):
        def __init__(self, dim): ...

    class Second(nn.Module):
        def __init__(self, dim, more): ...
    class Mixed(Takes, Second): ...

    if nn:
        class Either(nn.Module):
            def __init__(self, dim): ...
    else:
        Either = None

    def __getattr__(name): ...
"""


@pytest.mark.parametrize(
    "name",
    "Any Decorated Wrapped Overloaded Made BelowMeta New BelowWrapping BelowUnknown Mixed Either Absent".split(),
)
@pytest.mark.parametrize("place", ["project", "library"])
def test_a_class_whose_call_something_else_may_decide_is_not_reported(
    qten_gen: Command, tmp_path_factory: pytest.TempPathFactory, name: str, place: str
) -> None:
    installed(qten_gen, tmp_path_factory, place, HIDDEN)
    before = f"from hidden import {name}, Takes"
    assert reported(qten_gen, f"a: {name} = submodule({name}, 1, 2, 3)", before) == []
    assert reported(qten_gen, "a: Takes = submodule(Takes, 1, 2)", before) == [
        "Takes takes 1 positional argument, but 2 are given"
    ]


def test_the_constructor_of_a_base_in_another_module_counts(qten_gen: Command) -> None:
    qten_gen.write("layers/__init__.py", "from .heads import *\n")
    qten_gen.write("layers/heads.py", "from .base import Base\nclass Head(Base): ...\n")
    qten_gen.write("layers/base.py", "from torch import nn\nclass Base(nn.Linear):\n    def __init__(self, dim): ...\n")
    found = reported(qten_gen, "a: layers.Head = submodule(layers.Head, 1, 2)", "import layers")
    assert found == ["layers.Head takes 1 positional argument, but 2 are given"]


def test_an_edit_of_a_plain_class_makes_the_file_stale(qten_gen: Command) -> None:
    qten_gen.write("heads.py", "from torch import nn\nclass Head(nn.Module):\n    def __init__(self, dim): ...\n")
    field, before = "a: Head = submodule(Head, 1)", "from heads import Head"
    assert reported(qten_gen, field, before) == []
    qten_gen.write("heads.py", "from torch import nn\nclass Head(nn.Module):\n    def __init__(self, dim, more): ...\n")
    assert reported(qten_gen, field, before) == ["Head requires the argument more"]


def test_a_library_is_read_once_and_again_in_another_version(
    qten_gen: Command, tmp_path_factory: pytest.TempPathFactory
) -> None:
    environment = installed(qten_gen, tmp_path_factory, "library", HIDDEN)
    field, before = "a: Takes = submodule(Takes, 1, 2)", "from hidden import Takes"
    known = ["Takes takes 1 positional argument, but 2 are given"]
    assert reported(qten_gen, field, before) == known
    environment.write("hidden.py", HIDDEN.replace("dim: int", "dim: int, more: int"))
    assert reported(qten_gen, field, before) == known
    (environment.site / "hidden-1.0.dist-info").rename(environment.site / "hidden-1.1.dist-info")
    assert reported(qten_gen, field, before) == []
    assert qten_gen("net.py").summary == "2 files up to date"


def installed(qten_gen: Command, tmp_path_factory: pytest.TempPathFactory, place: str, text: str) -> Environment:
    """An environment for the project; the module `hidden` is in it, or in the project."""
    environment = Environment(tmp_path_factory.mktemp("environment"))
    qten_gen.write("pyproject.toml", f'[tool.qten-gen]\nenvironment = "{environment.folder}"\n')
    if place == "project":
        qten_gen.write("hidden.py", dedent(text))
    else:
        environment.write("hidden.py", text)
        environment.metadata("hidden", ["hidden.py"], requires="")
    return environment


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
