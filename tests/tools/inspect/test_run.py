"""A run on fake tensors: shapes along the way, operations and activations as on real tensors."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from functools import partial

import pytest
import torch
from torch import Tensor, nn
from torch.autograd.graph import saved_tensors_hooks

from qten_gen.tools.inspect.construction import build, on_fakes
from qten_gen.tools.inspect.operations import counter
from qten_gen.tools.inspect.request import InspectionError
from qten_gen.tools.inspect.running import run
from qten_gen.tools.inspect.runs import Other, Run, Structure, TensorShape
from qten_gen.tools.inspect.shapes_of_values import tensors_in
from qten_gen.tools.inspect.user_errors import describe

from .samples import Batch, Net, Raises

CPU = torch.device("cpu")


def run_fake(make: Callable[[], nn.Module], *inputs: str, device: torch.device = CPU) -> Run:
    """The run of a model that a function makes."""
    return run(on_fakes(build(make, [], {}), device, None), inputs, device)


def run_real(make: Callable[[], nn.Module], *inputs: object) -> tuple[int, int, int]:
    """Operations of forward and backward, and the memory that autograd keeps, on real tensors."""
    model = make()
    seen = {tensor.untyped_storage()._cdata for tensor in [*model.parameters(), *model.buffers()]}
    held: list[Tensor] = []

    def keep(tensor: Tensor) -> Tensor:
        if tensor.untyped_storage()._cdata not in seen:
            seen.add(tensor.untyped_storage()._cdata)
            held.append(tensor)
        return tensor

    operations = counter()
    with operations:
        with saved_tensors_hooks(keep, lambda tensor: tensor):
            output = model(*inputs)
        forward = operations.get_total_flops()
        outputs = [tensor for tensor in tensors_in(output) if tensor.requires_grad]
        torch.autograd.backward(outputs, [torch.ones_like(tensor) for tensor in outputs])
    kept = sum(tensor.untyped_storage().nbytes() for tensor in held)
    return forward, operations.get_total_flops() - forward, kept


def convolutions() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(8 * 7 * 7, 10)
    )


MODELS: dict[str, tuple[Callable[[], nn.Module], str, tuple[object, ...]]] = {
    "linear": (partial(nn.Linear, 4, 5), "Float[2,4]", (torch.rand(2, 4),)),
    "convolutions": (convolutions, "Float[2,3,16,16]", (torch.rand(2, 3, 16, 16),)),
    "encoder": (partial(nn.TransformerEncoderLayer, 16, 2, 32), "Float[5,2,16]", (torch.rand(5, 2, 16),)),
    "transformer": (
        partial(nn.Transformer, 16, 2, 1, 1, 32),
        "Float[5,2,16], Float[3,2,16]",
        (torch.rand(5, 2, 16), torch.rand(3, 2, 16)),
    ),
    "gru": (partial(nn.GRU, 8, 16, 2, batch_first=True), "Float[2,5,8]", (torch.rand(2, 5, 8),)),
    "dropout": (lambda: nn.Sequential(nn.Linear(8, 8), nn.Dropout(0.5), nn.GELU()), "Float[2,8]", (torch.rand(2, 8),)),
    "declared": (
        partial(Net, 8),
        "Batch(tokens=Int[2,7], batch_size=[2])",
        (Batch(torch.zeros(2, 7, dtype=torch.long), batch_size=[2]),),
    ),
}


@pytest.mark.filterwarnings("ignore:enable_nested_tensor")
@pytest.mark.parametrize("name", MODELS)
def test_operations_and_activations_are_those_of_real_tensors(name: str) -> None:
    make, inputs, real = MODELS[name]
    found = run_fake(make, inputs)
    assert found.failure is None
    assert (found.forward_flops, found.backward_flops, found.activation_bytes) == run_real(make, *real)


def test_a_linear_layer_has_the_operations_of_a_hand_calculation() -> None:
    found = run_fake(partial(nn.Linear, 4, 5), "Float[2,4]")
    assert found.forward_flops == 2 * 2 * 4 * 5
    # The weight alone: the input needs no gradient.
    assert found.backward_flops == 2 * 2 * 4 * 5
    assert dict(found.flops_by_operation) == {"addmm": 80}
    assert (found.activation_bytes, found.input_bytes) == (2 * 4 * 4, 2 * 4 * 4)


def test_memory_that_several_operations_keep_is_counted_once() -> None:
    class Twice(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            y = x.exp()
            return y * y + y.view(-1).square().sum()

    class Model(nn.Sequential):
        def __init__(self) -> None:
            super().__init__(nn.Linear(4, 4, bias=False), Twice())

    found = run_fake(Model, "Float[3,4]")
    # The input for the weight of the layer, and the exponential: its view is the same memory.
    assert found.activation_bytes == 2 * 3 * 4 * 4


def test_each_call_has_its_inputs_and_output() -> None:
    found = run_fake(partial(Net, 8), "Batch(tokens=Int[2,7], batch_size=[2])")
    first, block, linear, *_ = found.calls
    tokens = TensorShape((2, 7), "int64", "cpu")
    assert first.inputs == (("batch", Structure("Batch", (("tokens", tokens), ("mask", Other("None"))))),)
    assert first.output == TensorShape((2, 7, 100), "float32", "cpu")
    assert (block.path, block.function) == ("blocks.0", "Attention.forward")
    assert (linear.path, linear.kind, linear.flops) == ("blocks.0.qkv", "Linear", 2 * 2 * 7 * 8 * 24)
    assert [call.path for call in found.calls if call.kind == "Attention"] == ["blocks.0", "blocks.1", "blocks.2"]


def test_a_run_on_a_device_that_does_not_exist_is_on_that_device() -> None:
    cuda = torch.device("cuda")
    found = run_fake(partial(nn.Linear, 4, 5), "Float[2,4]", device=cuda)
    assert found.calls[0].output == TensorShape((2, 5), "float32", "cuda:0")
    assert found.backward_flops == 80


def test_a_forward_that_raises_is_reported_with_what_ran_before() -> None:
    found = run_fake(Raises, "Float[2,3]")
    assert found.failure is not None
    assert (found.failure.stage, found.failure.path) == ("forward", "outer")
    assert "[2, 4] X [5, 6]" in found.failure.problem
    assert "self.outer(self.inner(x))" in found.failure.trace
    assert [call.output is None for call in found.calls] == [True, False, True]


def test_a_model_without_gradients_has_no_backward() -> None:
    found = run_fake(lambda: nn.Linear(2, 2).requires_grad_(False), "Float[1,2]")
    assert (found.backward_flops, found.activation_bytes) == (None, 0)


@pytest.mark.parametrize(
    ("text", "shape", "dtype"),
    [
        ("Int[2,3]", (2, 3), torch.int64),
        ("input: Float[2, in_features]", (2, 4), torch.float32),
        ("input: BFloat16[2, in_features // 2 + 1]", (2, 3), torch.bfloat16),
        ("torch.float16[5]", (5,), torch.float16),
        ('Bool[Tensor, "2 4"]', (2, 4), torch.bool),
        ("Float[()]", (), torch.float32),
    ],
)
def test_inputs_are_written_as_types_with_sizes(text: str, shape: tuple[int, ...], dtype: torch.dtype) -> None:
    from qten_gen.large_models.fake.context import fake_mode
    from qten_gen.tools.inspect.inputs import make_inputs

    with fake_mode():
        made = make_inputs([text], nn.Linear(4, 4), CPU, lambda name: None)
    (value,) = [*made.args, *made.keywords.values()]
    assert isinstance(value, Tensor)
    assert (tuple(value.shape), value.dtype) == (shape, dtype)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("input: Flot[2]", "--run input: Flot is not a dtype; did you mean Float?"),
        ("input: Float", "--run input: Float has no shape: write Float[4, 128], or Float[()] for no dimensions"),
        ("input: Float[n]", "--run input: n of 'n' has no size here; the config has in_features, out_features"),
        (
            "input: Float[2/3]",
            "--run input: 2/3 is not arithmetic with + - * //; the config",
        ),
        ("input: Float[-2]", "--run input: the size -2 is negative"),
        ("inpt: Float[2]", "--run inpt: Linear.forward has no such argument; did you mean input?"),
        ("", "--run: Linear.forward is missing a required argument: 'input'; it takes input"),
        (
            "Float[2], Float[3]",
            "--run: Linear.forward refuses the inputs: too many positional arguments; it takes input",
        ),
        (
            "input: Float[2,",
            "--run input: Float[2,: expected inputs such as 'tokens: Int[4, 2048], mask: Bool[4, 2048]'",
        ),
        ("input: Btch(x=Float[2])", "--run input: there is no TensorClass Btch beside the model; write pkg.model.Btch"),
    ],
)
def test_an_input_that_cannot_be_made_is_one_clear_problem(text: str, problem: str) -> None:
    with pytest.raises(InspectionError) as caught:
        run_fake(partial(nn.Linear, 4, 5), text)
    assert caught.value.is_misuse
    assert caught.value.problems[0].startswith(problem)


def test_all_inputs_that_cannot_be_made_are_listed() -> None:
    with pytest.raises(InspectionError) as caught:
        run_fake(partial(nn.Bilinear, 2, 3, 4), "input1: Flot[2], input2: Float[foo]")
    assert len(caught.value.problems) == 2


def test_lists_and_other_values_can_be_inputs() -> None:
    class Sum(nn.Module):
        def forward(self, xs: list[Tensor], scale: float, flag: bool = False) -> Tensor:
            return sum(xs, torch.zeros(2)) * scale * (2 if flag else 1)

    found = run_fake(Sum, "xs: [Float[2], Float[2]], scale: 0.5", "flag: true")
    assert found.failure is None
    assert found.calls[0].inputs[1:] == (("scale", Other("0.5")), ("flag", Other("True")))


def test_inputs_with_a_name_may_follow_those_without_and_a_number_has_no_sizes() -> None:
    class Model(nn.Module):
        def forward(self, x: Tensor, scale: Tensor, *, times: int, parts: dict[str, Tensor]) -> Tensor:
            return x * scale * times + parts["a"]

    found = run_fake(Model, "Float[2,3], Float[], times: 3, parts: {'a': Float[3]}")
    assert found.failure is None
    assert dict(found.calls[0].inputs)["scale"] == TensorShape((), "float32", "cpu")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x: Float[2,3], 5", "an input without a name stands after one with a name"),
        ("x: Float[2,3]: 4", "expected inputs such as"),
        ("3: 4", "expected inputs such as"),
        ("Float[2], b], _[c", "expected inputs such as"),
    ],
)
def test_inputs_that_cannot_be_told_apart_are_refused(text: str, message: str) -> None:
    with pytest.raises(InspectionError, match=re.escape(message)):
        run_fake(partial(nn.Linear, 3, 3), text)


def test_a_constructor_or_forward_that_exits_is_an_error() -> None:
    class Exits(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            sys.exit(3)

    def make() -> nn.Module:
        sys.exit("no model today")

    failure = run_fake(Exits, "Float[2]").failure
    assert failure is not None and failure.problem == "SystemExit: 3"
    with pytest.raises(InspectionError, match="SystemExit: no model today"):
        build(make, [], {})


def test_an_error_of_torch_is_told_without_frames_of_cpp() -> None:
    error = TypeError("Overflow\nException raised from here.h:79:\nframe #0: <unknown>")
    assert describe(error) == "TypeError: Overflow"
