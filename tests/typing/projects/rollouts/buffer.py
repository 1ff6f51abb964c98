"""A replay buffer for batches of any class."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Generic, Protocol, TypeVar

import torch
from torch import Tensor

from qten_gen import LazyStack, TensorClass
from rollouts.model_qten import Action, Observation, Transition

B = TypeVar("B", bound=TensorClass)
C = TypeVar("C", bound=TensorClass)


class Replay(Generic[B]):
    def __init__(self, capacity: int, cls: type[B]) -> None:
        self.items: deque[B] = deque(maxlen=capacity)
        self.cls = cls

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[B]:
        yield from self.items

    def extend(self, batch: B) -> None:
        self.items.extend(batch.unbind(0))

    def sample(self, count: int) -> B:
        chosen = torch.randperm(len(self.items))[:count].tolist()
        return self.cls.stack([self.items[at] for at in chosen])

    def map(self, function: Callable[[B], C], cls: type[C]) -> Replay[C]:
        made = Replay(self.items.maxlen or 1, cls)
        made.items.extend(function(one) for one in self.items)
        return made


class Agent(Protocol):
    def __call__(self, observation: Observation, /) -> Action: ...


class Environment:
    def __init__(self, count: int, size: int = 2) -> None:
        self.state = Observation(torch.zeros(count, size), torch.ones(count, size), batch_size=count)

    def step(self, action: Action) -> tuple[Observation, Tensor, Tensor]:
        push = (action.index - 1)[:, None] * 0.1
        self.state = self.state.replace(position=self.state.position + self.state.velocity * push)
        reward = -self.state.position.norm(dim=-1)
        return self.state, reward, reward < -1


def rollout(environment: Environment, agent: Agent, steps: int) -> Transition:
    found: list[Transition] = []
    observation = environment.state
    with torch.no_grad():
        for _ in range(steps):
            action = agent(observation)
            after, reward, done = environment.step(action)
            found.append(
                Transition(observation, action, reward, done, batch_size=observation.batch_size).with_next(after)
            )
            observation = after
    return Transition.stack(found, dim=1)


def episodes(items: Sequence[Transition]) -> LazyStack[Transition]:
    return Transition.lazy_stack(items)
