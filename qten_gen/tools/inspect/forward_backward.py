"""Runs a model forward and backward on fake tensors."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from itertools import chain

import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from ...large_models.fake.context import fake_mode
from ...runtime.tensorclass.core.stored import Stored
from .annotated_inputs import FACTORS, written_inputs
from .inputs import make_inputs
from .operations import counter
from .recorded_calls import Recorder, callee
from .runs import Failure, Run
from .shapes_of_values import tensors_in
from .silence import aside
from .targets import refuse_unfit
from .user_errors import describe, trace_of


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
