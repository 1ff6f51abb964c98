"""A run on fake tensors: shapes along the way, operations and activations as on real tensors."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial

import pytest
import torch
from torch import Tensor, nn
from torch.autograd.graph import saved_tensors_hooks

from qten_gen.tools.inspect.forward_backward import counter, run
from qten_gen.tools.inspect.model_building import build, on_fakes
from qten_gen.tools.inspect.recorded_calls import Run
from qten_gen.tools.inspect.request import InspectionError
from qten_gen.tools.inspect.shapes_of_values import tensors_in
from qten_gen.tools.inspect.user_code import describe

from .samples import Batch, Net, Raises

CPU = torch.device("cpu")


def run_fake(make: Callable[[], nn.Module], *inputs: str, device: torch.device = CPU) -> Run:
    """The run of a model that a function makes."""
    return run(on_fakes(build(make, {}), device, None), inputs, device)


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
    assert found.activation_bytes == 2 * 4 * 4


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
    first, block, linear, *_ = calls = run_fake(partial(Net, 8), "Batch(tokens=Int[2,7], batch_size=[2])").calls
    assert (first.inputs, first.output) == ("Batch(tokens: int64 [2, 7])", "float32 [2, 7, 100]")
    assert (block.path, block.function) == ("blocks.0", "Attention.forward")
    assert block.output == "(float32 [2, 4, 7, 2], float32 [2, 7, 24])"
    assert (linear.path, linear.kind, linear.flops) == ("blocks.0.qkv", "Linear", 2 * 2 * 7 * 8 * 24)
    assert [call.path for call in calls if call.kind == "Attention"] == ["blocks.0", "blocks.1", "blocks.2"]


def test_a_run_on_a_device_that_does_not_exist_is_on_that_device() -> None:
    devices: list[torch.device] = []

    class Linear(nn.Linear):
        def forward(self, input: Tensor) -> Tensor:
            devices.extend([input.device, self.weight.device])
            return super().forward(input)

    assert run_fake(partial(Linear, 4, 5), "Float[2,4]", device=torch.device("cuda")).backward_flops == 80
    assert {*devices} == {torch.device("cuda:0")}


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
        ("float16[5]", (5,), torch.float16),
        ("[Float[in_features] for _ in range(max(1, 0))][0]", (4,), torch.float32),
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
        ("input: Flot[2]", "--run input: Flot is not known; did you mean Float?"),
        ("input: Float", "--run input: it has no shape: write Float[4, 128]"),
        ("input: Float[2/3]", "--run input: TypeError: "),
        ("inpt: Float[2]", "Linear.forward(self, input): got an unexpected keyword argument 'inpt'"),
        ("", "Linear.forward(self, input): missing a required argument: 'input'"),
        ("input: Float[2], input: Float[3]", "--run input: given twice"),
        (
            "input: Float[2,",
            "--run input: Float[2,: expected inputs such as 'tokens: Int[4, 2048], mask: Bool[4, 2048]'",
        ),
        ("Float[2], b], _[c", "--run Float[2], b], _[c: expected inputs such as"),
        ("3: 4", "--run 3: 4: expected inputs such as"),
        ("x: Float[2,3], 5", "--run x: Float[2,3], 5: an input without a name stands after one with a name"),
    ],
)
def test_an_input_that_cannot_be_made_is_one_clear_problem(text: str, problem: str) -> None:
    with pytest.raises(InspectionError) as caught:
        run_fake(partial(nn.Linear, 4, 5), text)
    assert caught.value.is_misuse
    assert caught.value.problems[0].startswith(problem)


def test_lists_and_other_values_can_be_inputs_and_a_number_has_no_sizes() -> None:
    given: list[object] = []

    class Model(nn.Module):
        def forward(self, x: Tensor, scale: Tensor, *, parts: dict[str, Tensor], flag: bool) -> None:
            given.extend([x.shape, scale.shape, [*parts], flag])

    found = run_fake(Model, "Float[2,3], Float[], parts: {'a': Float[3]}", "flag: true")
    assert (found.failure, given) == (None, [(2, 3), (), ["a"], True])
    assert found.calls[0].inputs == "float32 [2, 3], float32 [], dict(a: float32 [3])"


def test_a_constructor_or_forward_that_exits_is_an_error() -> None:
    class Exits(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            sys.exit(3)

    def make() -> nn.Module:
        sys.exit("no model today")

    failure = run_fake(Exits, "Float[2]").failure
    assert failure is not None and failure.problem == "SystemExit: 3"
    with pytest.raises(InspectionError, match="SystemExit: no model today"):
        build(make, {})


def test_an_error_of_torch_is_told_without_frames_of_cpp() -> None:
    error = TypeError("Overflow\nException raised from here.h:79:\nframe #0: <unknown>")
    assert describe(error) == "TypeError: Overflow"
