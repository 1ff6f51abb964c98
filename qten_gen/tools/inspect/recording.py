"""Records the calls of a model's modules while it runs: shapes, mismatches, operations and what autograd keeps."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from types import CodeType
from typing import Any

from torch import Tensor, nn
from torch.autograd.graph import saved_tensors_hooks
from torch.nn.parameter import is_lazy
from torch.utils.flop_counter import FlopCounterMode

from ...runtime.module.core.handler_tables import Dispatch, HandlerTables
from ...runtime.module.core.handlers import find_handler
from .checking import CallCheck
from .matching import Matcher, Mismatch, Tally
from .runs import Call, Finding, Shape
from .shapes_of_values import shape_of, tensors_in
from .signatures import annotations_of
from .tensor_memory import bytes_of, storage_key, storage_of
from .tracing import tracing


@dataclass
class _Open:
    """A call that has begun."""

    path: str
    position: int
    check: CallCheck
    flops: int
    saved: int


@dataclass
class Recorder:
    """What was recorded so far."""

    operations: FlopCounterMode
    calls: list[Call] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    tally: Tally = field(default_factory=Tally)
    saved_bytes: int = 0
    saved_input_bytes: int = 0
    _open: list[_Open] = field(default_factory=list)
    _origins: dict[int, str] = field(default_factory=dict)
    _held: list[object] = field(default_factory=list)
    _storages: set[int] = field(default_factory=set)
    _inputs: set[int] = field(default_factory=set)
    _uninitialised: list[Tensor] = field(default_factory=list)
    failed_in: str = ""
    """The innermost module that was running when forward raised."""

    def leave_out(self, tensors: Iterator[Tensor]) -> None:
        """Count the memory of these tensors no more: parameters and buffers are listed already."""
        for tensor in tensors:
            key = None if is_lazy(tensor) else storage_key(tensor)
            if key is not None:
                self._storages.add(key)
            elif is_lazy(tensor):
                self._uninitialised.append(tensor)

    def take_inputs(self, value: object) -> None:
        """Note the tensors that the model is given."""
        self._held.append(value)
        self._inputs |= {key for tensor in tensors_in(value) if (key := storage_key(tensor)) is not None}

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
        def begin(module: nn.Module, args: tuple[object, ...], keywords: dict[str, object]) -> None:
            function = callee(module, args)
            self.failed_in = path
            self.calls.append(_begun(module, path, function, args, keywords))
            check = CallCheck(module, path, function, self.tally)
            self._open.append(_Open(path, len(self.calls) - 1, check, self.flops(), self.saved_bytes))
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
            call = self.calls[opened.position]
            self.calls[opened.position] = _ended(
                call, shape_of(output), self.flops() - opened.flops, self.saved_bytes - opened.saved
            )
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
        storage, key = storage_of(tensor), storage_key(tensor)
        if storage is None or key is None:
            self.saved_bytes += bytes_of(tensor)
        elif key not in self._storages:
            self._storages.add(key)
            self._held.append(tensor)
            size = storage.nbytes()
            self.saved_bytes += size
            if key in self._inputs:
                self.saved_input_bytes += size
        return tensor


def callee(module: nn.Module, args: tuple[object, ...]) -> Callable[..., Any]:
    """The function that a call of a module ends in: the handler for its argument, or forward."""
    kind = type(module)
    if args and issubclass(kind, HandlerTables):
        handler = find_handler(kind, type(args[0]))
        if handler is not None:
            return handler
        dispatch: Dispatch | None = getattr(kind, "_dispatch", None)
        if dispatch is not None and dispatch.fallback is not None:
            return _unwrapped(dispatch.fallback)
    return _unwrapped(kind.forward)


def _unwrapped(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function that decorators were put around, if they say so."""
    found: Callable[..., Any] = inspect.unwrap(function)
    return found


def _begun(
    module: nn.Module, path: str, function: Callable[..., Any], args: tuple[object, ...], keywords: dict[str, object]
) -> Call:
    """The record of a call that has begun."""
    said = annotations_of(function)
    return Call(path, type(module).__name__, said.function, _inputs(function, (module, *args), keywords), None, 0, 0)


def _inputs(
    function: Callable[..., Any], args: tuple[object, ...], keywords: dict[str, object]
) -> tuple[tuple[str, Shape], ...]:
    """The arguments by the names of the parameters, the module left out."""
    try:
        bound = inspect.signature(function).bind(*args, **keywords)
    except (TypeError, ValueError):  # the call itself raises then
        named = [*enumerate(args), *keywords.items()]
        return tuple((str(name), shape_of(value)) for name, value in named[1:])
    return tuple((name, shape_of(value)) for name, value in list(bound.arguments.items())[1:])


def _ended(call: Call, output: Shape, flops: int, saved: int) -> Call:
    return Call(call.path, call.kind, call.function, call.inputs, output, flops, saved)
