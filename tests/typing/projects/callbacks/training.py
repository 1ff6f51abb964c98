"""The trainer: it knows a batch only by what it needs of it."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Iterable
from typing import Concatenate, Generic, ParamSpec, Protocol, Self, TypeVar, runtime_checkable

import torch
from torch import Tensor

from callbacks.model import Example, OptimizerSettings, Prediction
from qten_gen import Module

P = ParamSpec("P")
R = TypeVar("R")
S = TypeVar("S")


class Trainable(Protocol):
    def __call__(self, example: Example, /) -> Prediction: ...
    def parameters(self) -> Iterable[torch.nn.Parameter]: ...
    def train(self, mode: bool = True) -> Self: ...


M = TypeVar("M", bound=Module)
T = TypeVar("T", bound=Trainable)


@runtime_checkable
class Callback(Protocol[T]):
    def on_step(self, trainer: Trainer[T], example: Example, prediction: Prediction) -> bool | None: ...


def timed(function: Callable[P, R]) -> Callable[P, tuple[R, float]]:
    @functools.wraps(function)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> tuple[R, float]:
        start = time.perf_counter()
        return function(*args, **kwargs), time.perf_counter() - start

    return wrapper


def counted(method: Callable[Concatenate[S, P], R]) -> Callable[Concatenate[S, P], R]:
    count = 0

    @functools.wraps(method)
    def wrapper(self: S, /, *args: P.args, **kwargs: P.kwargs) -> R:
        nonlocal count
        count += 1
        return method(self, *args, **kwargs)

    return wrapper


class Trainer(Generic[T]):
    def __init__(self, model: T, settings: OptimizerSettings, callbacks: Iterable[Callback[T]] = ()) -> None:
        self.model = model
        self.callbacks = list(callbacks)
        self.optimizer: torch.optim.Optimizer
        if settings.name == "adam":
            self.optimizer = torch.optim.Adam(model.parameters(), lr=settings.lr, betas=settings.betas)
        else:
            self.optimizer = torch.optim.SGD(model.parameters(), lr=settings.lr)
        self.history: list[Prediction] = []

    @counted
    def step(self, example: Example, scale: float = 1.0) -> Prediction:
        prediction = self.model.train()(example)
        assert prediction.loss is not None
        loss: Tensor = prediction.loss.mean() * scale
        torch.autograd.backward(loss)
        self.optimizer.step()
        self.optimizer.zero_grad()
        return prediction.detach()

    def fit(self, examples: Iterable[Example]) -> T:
        for example in examples:
            prediction = self.step(example, scale=0.5)
            self.history.append(prediction)
            if any(callback.on_step(self, example, prediction) for callback in self.callbacks):
                break
        return self.model


class Frozen(Generic[M]):
    """A module whose parameters do not learn."""

    def __init__(self, module: M) -> None:
        self.module = module.requires_grad_(False).eval()

    def __enter__(self) -> M:
        return self.module

    def __exit__(self, *error: object) -> None:
        self.module.requires_grad_(True).train()


def build(cls: Callable[P, M], *args: P.args, **kwargs: P.kwargs) -> M:
    return cls(*args, **kwargs).to(torch.float32)
