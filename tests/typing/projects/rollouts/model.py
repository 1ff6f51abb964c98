"""What an environment gives, and what an agent makes of it."""

from __future__ import annotations

from typing import Generic, TypeVar

import torch
from torch import Tensor, nn

from qten_gen import Module, TensorClass, Unbatched, buffer, submodule


class Kept(TensorClass):
    """What can be kept with a priority."""


class Observation(Kept):
    position: Tensor
    velocity: Tensor
    goal: Unbatched[Tensor] | None = None

    def flat(self) -> Tensor:
        return torch.cat([self.position, self.velocity], -1)


class Action(TensorClass, frozen=True):
    index: Tensor
    log_prob: Tensor

    @property
    def prob(self) -> Tensor:
        return self.log_prob.exp()


class Transition(Kept, nocast=True):
    before: Observation
    action: Action
    reward: Tensor
    done: Tensor
    after: Observation | None = None
    weight: float = 1.0

    def returns(self, discount: float) -> Tensor:
        out = torch.zeros_like(self.reward)
        last = torch.zeros_like(self.reward[..., 0])
        for t in reversed(range(self.reward.shape[-1])):
            last = self.reward[..., t] + discount * last * (~self.done[..., t])
            out[..., t] = last
        return out

    def with_next(self, after: Observation) -> Transition:
        return self.replace(after=after)


B = TypeVar("B", bound=Kept)


class Weighted(TensorClass, Generic[B]):
    item: B
    priority: Tensor

    def top(self, count: int) -> Weighted[B]:
        return self[self.priority.topk(count).indices]


class Policy(Module):
    size: int = 2
    actions: int = 3
    mean: Tensor = buffer("2*size", initializer=nn.init.zeros_)
    body: nn.Linear = submodule(nn.Linear, "2*size", "actions")

    def forward(self, x: Tensor) -> Tensor:
        logits: Tensor = self.body(x - self.mean)
        return logits.log_softmax(-1)

    def act(self, observation: Observation) -> Action:
        log_probs = self(observation.flat())
        index = torch.multinomial(log_probs.flatten(0, -2).exp(), 1).view(observation.batch_size)
        log_prob = log_probs.gather(-1, index[..., None])[..., 0]
        return Action(index, log_prob, batch_size=observation.batch_size)


@Policy.register(Observation)
def act(policy: Policy, observation: Observation, *, greedy: bool = False) -> Action:
    if not greedy:
        return policy.act(observation)
    log_probs = policy(observation.flat())
    return Action(log_probs.argmax(-1), log_probs.amax(-1), batch_size=observation.batch_size)
