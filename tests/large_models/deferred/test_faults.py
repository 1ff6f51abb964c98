"""Whatever fails in a constructor or when it is carried out, everything stays usable."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import pytest
import torch
from torch import nn

from qten_gen import deferred_init, is_deferred, materialize_module
from qten_gen.large_models.deferred.recording import Recorder
from qten_gen.large_models.deferred.tape import Operation, Tape

from .comparing import assert_equal, deferred, seeded


class Fault(Exception):
    """Raised by the tests."""


def _model() -> nn.Module:
    linear = nn.Linear(2, 2)
    model = nn.Sequential(linear, nn.BatchNorm1d(2))
    nn.init.orthogonal_(linear.weight)
    model.half()
    nn.functional.dropout(torch.ones(2))
    return model


def test_an_exception_at_any_operation_of_a_constructor_leaves_no_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    run, eager = Recorder._run, seeded(_model)
    for index in range(len(next(iter(deferred(_model).parameters())).fake_mode.recorder.tape.operations)):  # type: ignore[attr-defined] # a fake

        def failing(self: Recorder, *arguments: object, index: int = index) -> object:
            if len(self.tape.operations) == index:
                raise Fault
            return run(self, *arguments)  # type: ignore[arg-type] # handed on

        state = torch.get_rng_state()
        with monkeypatch.context() as patched:
            patched.setattr(Recorder, "_run", failing)
            # nn.Module.half raises an error of its own from the one of the operation.
            with pytest.raises((Fault, RuntimeError)):
                deferred_init(_model)
        assert torch.equal(torch.get_rng_state(), state) and type(torch.ones(1)) is torch.Tensor
        materialize_module(module := deferred(_model))
        assert_equal(eager, module)


def test_an_exception_at_any_operation_of_a_replay_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    run, eager, failed = Tape._run, seeded(_model), True
    index = 0
    while failed:
        module = deferred(_model)
        before = {name: id(tensor) for name, tensor in module.named_parameters()}
        ran: list[int] = []

        def failing(
            tape: Tape, operation: Operation, values: dict[int, torch.Tensor], ran: list[int] = ran, last: int = index
        ) -> None:
            ran.append(operation.index)
            run(tape, operation, values)
            if len(ran) == last + 1:
                raise Fault

        state = torch.get_default_dtype(), torch.is_grad_enabled()
        with monkeypatch.context() as patched:
            patched.setattr(Tape, "_run", failing)
            try:
                materialize_module(module)
            except Fault as fault:
                assert "was replayed, which was recorded at" in fault.__notes__[0]
                assert {name: id(tensor) for name, tensor in module.named_parameters()} == before
                assert is_deferred(module)
            else:
                failed = False
        assert (torch.get_default_dtype(), torch.is_grad_enabled()) == state
        materialize_module(module)
        assert_equal(eager, module)
        index += 1
    assert index > 5


def test_modules_can_be_deferred_in_several_threads_at_once() -> None:
    """The default generator is one for all threads, so each has its own numbers."""

    def construct(seed: int) -> nn.Module:
        generator = torch.Generator().manual_seed(seed)
        layers = [nn.Linear(4, 4, bias=False) for _ in range(20)]
        for layer in layers:
            nn.init.normal_(layer.weight, generator=generator)
        return nn.Sequential(*layers)

    found: dict[int, nn.Module] = {}

    def work(seed: int) -> None:
        found[seed] = deferred_init(construct, seed)
        materialize_module(found[seed])

    _run_in_threads(work, range(4))
    for seed, module in found.items():
        assert_equal(construct(seed), module)


def test_threads_share_the_default_generator_and_one_module_without_an_error() -> None:
    """Which numbers each gets is left to chance. A thread beside a deferral is not deferred."""
    eager, module = seeded(_model), deferred(_model)
    made: list[torch.Tensor] = []

    def construct() -> nn.Module:
        _run_in_threads(lambda _: made.append(torch.ones(2)), [0])
        return nn.TransformerEncoderLayer(8, 2)

    def work(_: int) -> None:
        for _ in range(20):
            materialize_module(deferred_init(construct))
        materialize_module(module)

    _run_in_threads(work, range(4))
    assert_equal(eager, module)
    assert {type(tensor) for tensor in made} == {torch.Tensor}


def _run_in_threads(work: object, arguments: Sequence[int]) -> None:
    errors: list[Exception] = []

    def guarded(argument: int) -> None:
        try:
            work(argument)  # type: ignore[operator] # a function
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(argument,)) for argument in arguments]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
