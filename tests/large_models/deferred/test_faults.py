"""Whatever fails in a constructor or when it is carried out, everything stays usable."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn

from qten_gen import deferred_init, is_deferred, materialize_module
from qten_gen.large_models.deferred.recording import Recorder
from qten_gen.large_models.deferred.tape import Tape

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


def _failing_after(run: Callable[..., object], count: int) -> Callable[..., object]:
    """A method that raises in its call number `count`."""
    calls: list[object] = []

    def failing(*arguments: Any) -> object:
        calls.append(None)
        if len(calls) == count:
            raise Fault
        return run(*arguments)

    return failing


def test_an_exception_at_any_operation_of_a_constructor_leaves_no_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    eager, count, failed = seeded(_model), 0, True
    while failed:
        count += 1
        state = torch.get_rng_state()
        with monkeypatch.context() as patched:
            patched.setattr(Recorder, "_run", _failing_after(Recorder._run, count))
            try:
                deferred_init(_model)
            except (Fault, RuntimeError):  # nn.Module.half raises an error of its own from the one of the operation
                assert torch.equal(torch.get_rng_state(), state) and type(torch.ones(1)) is torch.Tensor
            else:
                failed = False
        materialize_module(module := deferred(_model))
        assert_equal(eager, module)
    assert count > 10


def test_an_exception_at_any_operation_of_a_replay_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    eager, count, failed = seeded(_model), 0, True
    while failed:
        count += 1
        module = deferred(_model)
        before = {name: id(tensor) for name, tensor in module.named_parameters()}
        state = torch.get_default_dtype(), torch.is_grad_enabled()
        with monkeypatch.context() as patched:
            patched.setattr(Tape, "_run", _failing_after(Tape._run, count))
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
    assert count > 5


def test_threads_defer_at_once_and_share_the_default_generator_and_one_module_without_an_error() -> None:
    """Numbers of the default generator are left to chance. A thread beside a deferral is not deferred."""

    def with_generator(seed: int) -> nn.Module:
        generator = torch.Generator().manual_seed(seed)
        layers = [nn.Linear(4, 4, bias=False) for _ in range(20)]
        for layer in layers:
            nn.init.normal_(layer.weight, generator=generator)
        return nn.Sequential(*layers)

    def construct() -> nn.Module:
        _run_in_threads(lambda _: made.append(torch.ones(2)), 1)
        return nn.TransformerEncoderLayer(8, 2)

    def work(seed: int) -> None:
        found[seed] = deferred_init(with_generator, seed)
        for _ in range(10):
            materialize_module(deferred_init(construct))
        materialize_module(module)
        materialize_module(found[seed])

    eager, module = seeded(_model), deferred(_model)
    made: list[torch.Tensor] = []
    found: dict[int, nn.Module] = {}
    _run_in_threads(work, 4)
    assert_equal(eager, module)
    assert {type(tensor) for tensor in made} == {torch.Tensor}
    for seed, other in found.items():
        assert_equal(with_generator(seed), other)


def _run_in_threads(work: Callable[[int], object], count: int) -> None:
    errors: list[Exception] = []

    def guarded(argument: int) -> None:
        try:
            work(argument)
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(argument,)) for argument in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
