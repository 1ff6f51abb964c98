"""Records the calls of a model's modules while it runs, as data: shapes, mismatches, operations and what autograd keeps."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from types import CodeType
from typing import Any

from torch import Tensor, nn
from torch.autograd.graph import saved_tensors_hooks
from torch.nn.parameter import is_lazy
from torch.utils.flop_counter import FlopCounterMode

from ...runtime.module.core.handler_tables import Dispatch, HandlerTables
from ...runtime.module.core.handlers import find_handler
from .argument_types import CallCheck
from .shape_matching import Matcher, Mismatch, Tally
from .shapes_of_values import shapes, storage_of, tensors_in
from .signatures import annotations_of
from .tracing import tracing


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a module."""

    path: str
    """The module in the model, by its first name."""
    kind: str
    """The name of its class."""
    function: str
    """The function that ran: `Attention.forward`, or a handler."""
    inputs: str
    """The shapes in its arguments: `float32 [3, 128]`."""
    output: str | None
    """The tensors in the result; None if it raised."""
    flops: int
    """Floating point operations, those of the modules that it calls included."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A mismatch, and the call where it was found."""

    path: str
    """The module in the model."""
    function: str
    place: str
    """File and line of the function."""
    mismatch: Mismatch
    origin: str | None
    """Which module the tensor came out of; None for an input or what was computed in between."""


@dataclass(frozen=True, slots=True)
class Failure:
    """An error that the user's code raised during the run."""

    stage: str
    """`forward` or `backward`."""
    path: str
    """The innermost module that was running."""
    problem: str
    trace: str
    """The frames of the user's code."""


@dataclass(frozen=True, slots=True)
class Run:
    """A run of forward, and of backward where the result depends on parameters."""

    calls: tuple[Call, ...]
    """The calls in the order in which they began."""
    findings: tuple[Finding, ...]
    compared: int
    """How many tensors had annotated shapes, those of every call counted."""
    failure: Failure | None
    forward_flops: int
    backward_flops: int | None
    """None if there was no backward pass."""
    flops_by_operation: Mapping[str, int]
    """Of the forward pass: `{"mm": 1024}`."""
    activation_bytes: int
    """Memory that autograd keeps between forward and backward, without parameters and buffers; shared memory once."""
    training: bool
    """Whether the model was in training mode."""
    made_inputs: tuple[str, ...] = ()
    """The inputs, if they were made from annotations: `("tokens: Int[7, 11]",)`."""


@dataclass
class _Open:
    """A call that has begun."""

    path: str
    position: int
    check: CallCheck
    flops: int


@dataclass
class Recorder:
    """The recording so far."""

    operations: FlopCounterMode
    calls: list[Call] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    tally: Tally = field(default_factory=Tally)
    saved_bytes: int = 0
    _open: list[_Open] = field(default_factory=list)
    _origins: dict[int, str] = field(default_factory=dict)
    _held: list[object] = field(default_factory=list)
    _storages: set[int] = field(default_factory=set)
    _uninitialised: list[Tensor] = field(default_factory=list)
    failed_in: str = ""
    """The innermost module that was running when forward raised."""

    def leave_out(self, tensors: Iterator[Tensor]) -> None:
        """Count the memory of these tensors no more: parameters and buffers are listed already."""
        for tensor in tensors:
            if is_lazy(tensor):
                self._uninitialised.append(tensor)
            elif (storage := storage_of(tensor)) is not None:
                self._storages.add(storage._cdata)

    def hold(self, value: object) -> None:
        """Keep what the model is given alive, whose memory no other tensor may get."""
        self._held.append(value)

    @contextmanager
    def watching(self, model: nn.Module) -> Iterator[None]:
        """Record what happens to the model in the block."""
        with ExitStack() as stack:
            for path, module in model.named_modules():
                before = module.register_forward_pre_hook(self._before(path), prepend=True, with_kwargs=True)
                after = module.register_forward_hook(self._after(path), with_kwargs=True)
                stack.callback(before.remove)
                stack.callback(after.remove)
            stack.enter_context(saved_tensors_hooks(self._save, lambda tensor: tensor))
            stack.enter_context(tracing(model, self.tally, self._matcher_of, self._note_inside))
            yield

    def _before(self, path: str) -> Callable[..., None]:
        """A hook that runs before a module's forward: it begins the record of the call and checks the arguments."""

        def begin(module: nn.Module, args: tuple[object, ...], keywords: dict[str, object]) -> None:
            function = callee(module, args)
            self.failed_in = path
            passed = ", ".join(filter(None, map(shapes, (*args, *keywords.values()))))
            name = annotations_of(function).function
            self.calls.append(Call(path, type(module).__name__, name, passed or "()", None, 0))
            check = CallCheck(module, path, function, self.tally)
            self._open.append(_Open(path, len(self.calls) - 1, check, self.flops()))
            self._note(path, check, check.arguments((module, *args), keywords))

        return begin

    def _after(self, path: str) -> Callable[..., None]:
        """A hook that runs after a module's forward: it ends the record of the call and checks the result."""

        def end(module: nn.Module, args: object, keywords: object, output: object) -> None:
            """Close the record of a call with what it returned, computed and kept for the backward pass."""
            while self._open[-1].path != path:  # of calls that raised, and whose errors were caught
                self._open.pop()
            opened = self._open.pop()
            if self._open:
                self.failed_in = self._open[-1].path
            returned = shapes(output) or type(output).__name__
            call = replace(self.calls[opened.position], output=returned, flops=self.flops() - opened.flops)
            self.calls[opened.position] = call
            self._note(path, opened.check, opened.check.result(output))
            self._held.append(output)
            for tensor in tensors_in(output):
                self._origins[id(tensor)] = path

        return end

    def _note(self, path: str, check: CallCheck, found: list[Mismatch]) -> None:
        """Add mismatches, each with the module that its tensor came out of."""
        said = check.annotations
        for mismatch in found:
            origin = self._origins.get(mismatch.tensor_id)
            self.findings.append(Finding(path, said.function, said.place, mismatch, origin))

    def _matcher_of(self, code: CodeType) -> Matcher | None:
        """The names of the innermost call, if this is the code that it runs."""
        check = self._open[-1].check if self._open else None
        return check.matcher if check is not None and getattr(check.function, "__code__", None) is code else None

    def _note_inside(self, function: str, place: str, found: list[Mismatch]) -> None:
        """Add mismatches of variables and helper functions."""
        path = self._open[-1].path if self._open else ""
        self.findings += [Finding(path, function, place, each, self._origins.get(each.tensor_id)) for each in found]

    def flops(self) -> int:
        """The operations so far."""
        return self.operations.get_total_flops()

    def _save(self, tensor: Tensor) -> Tensor:
        """Count a tensor that autograd keeps for the backward pass, once for each memory."""
        if self._uninitialised:
            waiting, self._uninitialised = self._uninitialised, []
            self.leave_out(iter(waiting))
        storage = storage_of(tensor)
        if storage is None:
            self.saved_bytes += tensor.numel() * tensor.element_size()
        elif storage._cdata not in self._storages:
            self._storages.add(storage._cdata)
            self._held.append(tensor)
            self.saved_bytes += storage.nbytes()
        return tensor


def callee(module: nn.Module, args: tuple[object, ...]) -> Callable[..., Any]:
    """The function that a call of a module ends in: the handler for its argument, or forward."""
    kind = type(module)
    function: Callable[..., Any] = kind.forward
    if args and issubclass(kind, HandlerTables):
        handler = find_handler(kind, type(args[0]))
        if handler is not None:
            return handler
        dispatch: Dispatch | None = getattr(kind, "_dispatch", None)
        if dispatch is not None and dispatch.fallback is not None:
            function = dispatch.fallback
    inner: Callable[..., Any] = inspect.unwrap(function)
    return inner
