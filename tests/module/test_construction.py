"""The generated constructor: arguments, registration, initialisation, device and dtype."""

from __future__ import annotations

import copy
import inspect
import pickle
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from qten_gen import DeclarationError, Module, buffer, const, field, param, rules, submodule
from qten_gen.link import link
from qten_gen.read.module import read

from .declared import Block, PlainBlock, batch, ramp_


def test_a_declared_module_computes_what_a_hand_written_one_does() -> None:
    declared, plain = Block(4), PlainBlock(4)
    x = batch()
    assert torch.equal(declared(x), plain(x))


def test_gradients_are_those_of_a_hand_written_module() -> None:
    declared, plain = Block(4), PlainBlock(4)
    x = batch()
    found = torch.autograd.grad(declared(x).sum(), list(declared.parameters()))
    expected = torch.autograd.grad(plain(x).sum(), list(plain.parameters()))
    assert all(torch.equal(*pair) for pair in zip(found, expected, strict=True))


def test_everything_is_registered_under_its_name_and_in_order() -> None:
    declared, plain = Block(4), PlainBlock(4)
    assert [name for name, _ in declared.named_parameters()] == [name for name, _ in plain.named_parameters()]
    assert [name for name, _ in declared.named_buffers()] == [name for name, _ in plain.named_buffers()]
    assert [name for name, _ in declared.named_modules()] == [name for name, _ in plain.named_modules()]


def test_config_fields_are_ordinary_attributes() -> None:
    block = Block(4, heads=3)
    assert (block.dim, block.heads) == (4, 3)
    assert Block(4).heads == 2


def test_the_signature_is_the_declared_one() -> None:
    assert [(p.name, p.kind, p.default) for p in inspect.signature(Block).parameters.values()] == [
        ("dim", inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.empty),
        ("heads", inspect.Parameter.POSITIONAL_OR_KEYWORD, 2),
        ("device", inspect.Parameter.KEYWORD_ONLY, None),
        ("dtype", inspect.Parameter.KEYWORD_ONLY, None),
    ]


def test_dimensions_are_computed_from_the_arguments() -> None:
    class Sizes(Module):
        n: int
        k: int
        table: Tensor = buffer("(n+1)*k - n//k", 2, initializer=nn.init.zeros_)
        scalar: nn.Parameter = param(initializer=nn.init.zeros_)

    sizes = Sizes(7, 3)
    assert sizes.table.shape == (22, 2)
    assert sizes.scalar.shape == ()


def test_a_config_value_that_is_not_an_integer_is_refused_as_a_dimension() -> None:
    with pytest.raises(TypeError):
        Block((2, 2))  # type: ignore[arg-type] # what the test is about


def test_dtype_reaches_parameters_buffers_and_submodules() -> None:
    block = Block(4, dtype=torch.float64)
    assert {t.dtype for t in (*block.parameters(), *block.buffers())} == {torch.float64}


def test_the_meta_device_allocates_nothing() -> None:
    block = Block(4, device="meta")
    assert {t.device.type for t in (*block.parameters(), *block.buffers())} == {"meta"}
    assert block(torch.empty(3, 4, device="meta")).shape == (3, 12)


def test_a_device_context_is_honoured() -> None:
    with torch.device("meta"):
        assert Block(4).weight.device.type == "meta"


def test_a_dtype_of_its_own_wins_over_the_constructors() -> None:
    class Counter(Module):
        steps: Tensor = buffer(dtype=torch.int64, initializer=nn.init.zeros_)
        rate: Tensor = buffer(initializer=nn.init.ones_)

    counter = Counter(dtype=torch.float16)
    assert (counter.steps.dtype, counter.rate.dtype) == (torch.int64, torch.float16)


def test_a_parameter_can_be_declared_without_gradient() -> None:
    class Frozen(Module):
        weight: nn.Parameter = param(2, requires_grad=False, initializer=nn.init.ones_)

    assert not Frozen().weight.requires_grad


class Plain(nn.Module):
    """Takes neither device nor dtype."""

    def __init__(self, rows: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(rows))


def test_a_submodule_that_takes_no_device_or_dtype_is_moved() -> None:
    class Holder(Module):
        rows: int
        inner: Plain = submodule(Plain, "rows")

    assert Holder(3, dtype=torch.float64).inner.weight.dtype is torch.float64
    assert Holder(3, device="meta").inner.weight.device.type == "meta"


def test_a_submodule_can_be_a_declared_module() -> None:
    class Outer(Module):
        width: int
        block: Block = submodule(Block, "2*width", heads="width")

    outer = Outer(2, dtype=torch.float64)
    assert outer.block.weight.shape == (12, 4)
    assert outer.block.heads == 2
    assert outer.block.weight.dtype is torch.float64


def test_const_passes_a_string_to_a_submodule() -> None:
    class Padded(Module):
        channels: int
        conv: nn.Conv1d = submodule(nn.Conv1d, "channels", 1, 3, padding_mode=const("circular"))

    assert Padded(2).conv.padding_mode == "circular"


def test_a_submodule_among_the_arguments_is_constructed_for_each_instance() -> None:
    class Wrapped(Module):
        layers: nn.Sequential = submodule(nn.Sequential, submodule(nn.Linear, 2, 2))

    one, two = Wrapped(), Wrapped()
    assert not torch.equal(one.state_dict()["layers.0.weight"], two.state_dict()["layers.0.weight"])
    assert repr(one.layers) == repr(two.layers)


def test_defaults_that_are_not_literals_are_made_for_each_instance() -> None:
    class Tagged(Module):
        tags: list[str] = field(default_factory=list)
        start: Tensor = torch.zeros(2)

    one, two = Tagged(), Tagged()
    assert one.tags == [] and one.tags is not two.tags
    assert torch.equal(one.start, two.start) and one.start is not two.start


def test_a_module_given_as_argument_is_registered() -> None:
    class Wrapper(Module):
        inner: nn.Module

    linear = nn.Linear(2, 3)
    wrapper = Wrapper(linear)
    assert wrapper.inner is linear
    assert [name for name, _ in wrapper.named_parameters()] == ["inner.weight", "inner.bias"]


def test_a_module_without_tensors_has_nothing_to_initialise() -> None:
    class Scale(Module):
        factor: float = 2.0

        def forward(self, x: Tensor) -> Tensor:
            return x * self.factor

    scale = Scale()
    scale.reset_parameters()
    assert torch.equal(scale(torch.ones(2)), torch.full((2,), 2.0))
    assert not scale.state_dict()


def test_reset_parameters_initialises_what_the_class_owns_and_nothing_else() -> None:
    block = Block(4)
    with torch.no_grad():
        for tensor in (*block.parameters(), *block.buffers()):
            tensor.fill_(9)
    block.reset_parameters()
    expected = PlainBlock(4)
    assert torch.equal(block.weight, expected.weight)
    assert torch.equal(block.shift, expected.shift)
    assert torch.equal(block.scale, expected.scale)
    assert torch.equal(block.noise, expected.noise)
    assert block.norm.weight.eq(9).all()


def test_the_constructor_calls_a_reset_parameters_of_the_class() -> None:
    class Own(Module):
        n: int
        weight: nn.Parameter = param("n")
        bias: nn.Parameter = param("n", initializer=nn.init.ones_)

        def reset_parameters(self) -> None:
            super().reset_parameters()
            nn.init.constant_(self.weight, 5)

    own = Own(3)
    assert own.weight.tolist() == [5, 5, 5]
    assert own.bias.tolist() == [1, 1, 1]


def test_an_own_constructor_registers_by_assignment() -> None:
    class Classic(Module):
        weight: nn.Parameter
        layer: nn.Linear

        def __init__(self, n: int) -> None:
            super().__init__()
            self.weight = nn.Parameter(torch.ones(n))
            self.layer = nn.Linear(n, n)

        def forward(self, x: Tensor) -> Tensor:
            out: Tensor = self.layer(x) * self.weight
            return out

    classic = Classic(3)
    assert [name for name, _ in classic.named_parameters()] == ["weight", "layer.weight", "layer.bias"]
    assert classic(torch.ones(2, 3)).shape == (2, 3)


def test_repr_shows_the_constructor_arguments() -> None:
    assert repr(Block(4)).splitlines()[1] == "  dim=4, heads=2"


def test_unknown_attributes_are_reported() -> None:
    with pytest.raises(AttributeError, match="'Block' object has no attribute 'wieght'"):
        Block(4).wieght  # type: ignore[attr-defined] # noqa: B018 # what the test is about


def test_a_wrong_argument_is_reported_with_the_class() -> None:
    with pytest.raises(TypeError, match=r"Block.__init__\(\) missing 1 required positional argument: 'dim'"):
        Block()  # type: ignore[call-arg] # what the test is about


def test_initialisers_run_without_recording_gradients() -> None:
    class Doubled(Module):
        weight: nn.Parameter = param(2, initializer=lambda t: ramp_(t))

    assert Doubled().weight.is_leaf


class Counted(Module):
    dim: int
    weight: nn.Parameter = param("dim", initializer=nn.init.ones_)
    lin: nn.Linear = submodule(nn.Linear, "dim", "dim")

    def __post_init__(self) -> None:
        if self.dim > 8:
            raise ValueError("dim is too large")
        self.calls = vars(self).get("calls", 0) + 1
        self.total = self.weight.sum().item() + self.lin.in_features


class CountedMore(Counted):
    bias: nn.Parameter = param("dim", initializer=nn.init.zeros_)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.total += self.bias.sum().item()


@pytest.mark.parametrize("cls", [Counted, CountedMore])
def test_post_init_runs_once_after_everything_is_initialised(cls: type[Counted]) -> None:
    counted = cls(2)

    assert counted.calls == 1 and counted.total == 4
    for twin in (copy.deepcopy(counted), pickle.loads(pickle.dumps(counted)), counted.to(torch.float64)):
        assert twin.calls == 1
    with pytest.raises(ValueError, match="dim is too large"):
        cls(9)


def test_post_init_of_a_mixin_runs_too() -> None:
    class Mixin:
        def __post_init__(self) -> None:
            self.ready = True

    class Mixed(Mixin, Module):
        dim: int

    assert Mixed(1).ready


@pytest.mark.parametrize(
    ("line", "help"),
    [
        ("x = param(2, initializer=nn.init.ones_)", "write x: nn.Parameter = param(...)"),
        ("x = buffer(2, initializer=nn.init.ones_)", "write x: Tensor = buffer(...)"),
        ("x = submodule(nn.Linear, 2, 2)", "write x: the class of the module = submodule(...)"),
        ("x = field(default=2)", "write x: its type = field(...)"),
        ("x: ClassVar[Tensor] = buffer(2, initializer=nn.init.ones_)", "write x: Tensor = buffer(...)"),
    ],
)
@pytest.mark.parametrize("base", ["Module", "Counted"])
def test_a_specifier_without_annotation_is_refused_by_command_and_class_statement(
    line: str, help: str, base: str
) -> None:
    head = "from typing import ClassVar\nfrom torch import Tensor, nn\n" + (
        "from qten_gen import Module, buffer, field, param, submodule\nclass Counted(Module):\n    dim: int = 1\n"
    )
    text = f"{head}class Net({base}):\n    {line}\n"
    source, _ = read(text.encode(), "model.py", "model")
    (file,), _ = link([source])

    said = [(item.code, item.help) for item in rules.check(file)]
    with pytest.raises(DeclarationError) as caught:
        exec(compile(text, "<model>", "exec"), {"__name__": "unannotated_model"})
    assert said == [(item.code, item.help) for item in caught.value.findings] == [("QG201", help)]


def test_a_fresh_generated_class_does_not_hide_it(project: Any) -> None:
    text = "from torch import nn\nfrom qten_gen import Module, param\nclass Net(Module):\n    dim: int\n"
    project.write(model=text)
    project.generate()
    project.write(model=f"{text}    weight = param('dim', initializer=nn.init.ones_)\n")

    with pytest.raises(DeclarationError, match="the field weight has no annotation"):
        project.load("model")
