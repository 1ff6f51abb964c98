"""Runs a model forward and backward on fake tensors, and counts floating point operations.

They are counted by torch's counter, with what it has no formula for on fake tensors of a CPU: the attention of a CPU, the
products of groups that mixtures of experts make, products with a vector, and a fused LSTM. Without them, a model would silently
seem cheaper than it is.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from itertools import chain
from math import prod

import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode, flop_registry

from ...large_models.fake.context import fake_mode
from ...runtime.tensorclass.core.stored import Stored
from .annotated_inputs import FACTORS, written_inputs
from .inputs import make_inputs
from .recorded_calls import Failure, Recorder, Run, callee
from .shapes_of_values import tensors_in
from .targets import refuse_unfit
from .user_code import aside, describe, trace_of


def run(model: nn.Module, texts: tuple[str, ...], device: torch.device) -> Run:
    """Run a model whose tensors are fake; its mode, training or not, stays as it is.

    Without texts, the inputs are made from the annotations of forward. If it raises then, other sizes are tried.

    Raises:
        InspectionError: the inputs cannot be made, or forward takes others.
    """
    class_of = classes_beside(model)
    if texts:
        return _run(model, texts, device, class_of)
    made = (written_inputs(model, class_of, factor) for factor in FACTORS)
    attempts = (replace(_run(model, each, device, class_of), made_inputs=each) for each in made)
    first = next(attempts)
    if first.failure is None or not first.made_inputs:
        return first
    return next((found for found in attempts if found.failure is None), first)


def _run(model: nn.Module, texts: tuple[str, ...], device: torch.device, class_of: Callable[[str], type | None]) -> Run:
    """Run a model with the inputs that texts describe."""
    with aside(), fake_mode(fake_cuda=True):
        inputs = make_inputs(texts, model, device, class_of)
        refuse_unfit(callee(model, inputs.args), (model, *inputs.args), inputs.keywords)
        operations = counter()
        recorder = Recorder(operations)
        recorder.leave_out(chain(model.parameters(), model.buffers()))
        recorder.hold((inputs.args, dict(inputs.keywords)))
        failure, by_operation, forward = None, {}, 0
        with operations:
            output: object = None
            try:
                with recorder.watching(model):
                    output = model(*inputs.args, **inputs.keywords)
            except (Exception, SystemExit) as error:  # whatever code of the user raises
                failure = Failure("forward", recorder.failed_in, describe(error), trace_of(error))
            forward = recorder.flops()
            by_operation = _by_operation(operations)
            backward = None
            if failure is None:
                try:
                    backward = forward if _backward(output) else None
                except (Exception, SystemExit) as error:  # an autograd function of the user's
                    failure = Failure("backward", "", describe(error), trace_of(error))
        if backward is not None:
            backward = recorder.flops() - forward
    return Run(
        calls=tuple(recorder.calls),
        findings=tuple(recorder.findings),
        compared=recorder.tally.compared,
        failure=failure,
        forward_flops=forward,
        backward_flops=backward,
        flops_by_operation=by_operation,
        activation_bytes=recorder.saved_bytes,
        training=model.training,
    )


def _backward(output: object) -> bool:
    """Run backward from all that the model returned; False if nothing in it has a gradient."""
    outputs = [tensor for tensor in tensors_in(output) if tensor.requires_grad]
    if outputs:
        torch.autograd.backward(outputs, [torch.ones_like(tensor) for tensor in outputs])
    return bool(outputs)


def _by_operation(operations: FlopCounterMode) -> dict[str, int]:
    counts = operations.get_flop_counts().get("Global", {})
    return {str(operation).removeprefix("aten."): count for operation, count in counts.items()}


def classes_beside(model: nn.Module) -> Callable[[str], type | None]:
    """Finds a TensorClass by its name in the files of the model's classes, or by its dotted name."""

    def find(name: str) -> type | None:
        """The TensorClass of a name, with its module, or among the modules that the model comes from."""
        home, _, last = name.rpartition(".")
        homes = [home] if home else list(dict.fromkeys(type(module).__module__ for module in model.modules()))
        for home in homes:
            try:
                found = getattr(sys.modules.get(home) or import_module(home), last, None)
            except ImportError:
                continue
            if isinstance(found, type) and issubclass(found, Stored):
                return found
        return None

    return find


Shape = tuple[int, ...]


def counter() -> FlopCounterMode:
    """A mode that counts the operations in its block."""
    known = {getattr(torch.ops.aten, name, None): formula for name, formula in _FORMULAS.items()}
    known.pop(None, None)  # this version of torch has no such operation
    missing = {operation: formula for operation, formula in known.items() if operation not in flop_registry}
    return FlopCounterMode(display=False, custom_mapping=missing)


def _vector(first: Shape, second: Shape, *args: object, **keywords: object) -> int:
    """A matrix times a vector."""
    return 2 * prod(first)


def _groups(first: Shape, second: Shape, *args: object, **keywords: object) -> int:
    """Products of groups of rows or columns, which together are all of them; or one product for each pair of matrices."""
    matrices = first if len(second) > 2 else first[-2:]
    return 2 * prod(matrices) * prod(second[-1:])


def _attention(query: Shape, key: Shape, value: Shape, *args: object, **keywords: object) -> int:
    """Two products for each head of the queries. A mask, also `is_causal`, saves nothing, as in torch's formulas."""
    return 2 * prod(query[:-1]) * key[-2] * (query[-1] + value[-1])


def _attention_backward(
    gradient: Shape, query: Shape, key: Shape, value: Shape, *args: object, **keywords: object
) -> int:
    """The scores anew, then the gradients of value, weights, query and key."""
    return 2 * prod(query[:-1]) * key[-2] * (3 * query[-1] + 2 * value[-1])


def _recurrent(inputs: Shape, weight: Shape, hidden_weight: Shape, *args: object, **keywords: object) -> int:
    """All steps of a layer: input and state times their weights."""
    return 2 * prod(inputs[:-1]) * (prod(weight) + prod(hidden_weight))


def _recurrent_backward(inputs: Shape, weight: Shape, hidden_weight: Shape, *args: object, **keywords: object) -> int:
    """The gradients of inputs and weights."""
    return 2 * _recurrent(inputs, weight, hidden_weight)


_FORMULAS: dict[str, Callable[..., int]] = {
    "mv": _vector,
    "_grouped_mm": _groups,
    "_scaled_dot_product_flash_attention_for_cpu": _attention,
    "_scaled_dot_product_flash_attention_for_cpu_backward": _attention_backward,
    "mkldnn_rnn_layer": _recurrent,
    "mkldnn_rnn_layer_backward": _recurrent_backward,
}
