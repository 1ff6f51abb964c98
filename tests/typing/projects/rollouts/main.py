"""Collects rollouts, keeps them, and learns from them."""

from __future__ import annotations

from functools import partial, reduce
from typing import assert_type

import torch
from torch import Tensor

from qten_gen import LazyStack, lifted
from rollouts.buffer import Environment, Replay, episodes, rollout
from rollouts.model_qten import Action, Observation, Policy, Transition, Weighted


def loss(policy: Policy, batch: Transition, *, discount: float) -> Tensor:
    log_probs = policy(batch.before.flat())
    chosen = log_probs.gather(-1, batch.action.index[..., None]).squeeze(-1)
    return -(chosen * batch.reward * discount * batch.weight).mean()


def energy(one: Observation) -> Tensor:
    return (one.velocity**2).sum() / 2


def main() -> None:
    torch.manual_seed(0)
    policy = Policy()
    optimizer = torch.optim.SGD(policy.parameters(), lr=0.1)
    replay = Replay(16, Transition)
    objective = partial(loss, policy, discount=0.9)
    environment = Environment(3)
    path = rollout(environment, policy, 4)

    for _ in range(2):
        path = rollout(environment, policy, 4)
        assert_type(path, Transition)
        print(path.batch_size, path.before.position.shape, path.returns(0.9).shape)
        replay.extend(path.reshape(-1))
        batch = replay.sample(5)
        optimizer.zero_grad()
        torch.autograd.backward(objective(batch))
        optimizer.step()
    print(len(replay), {one.batch_size for one in replay})

    greedy = rollout(environment, partial(policy, greedy=True), 2)
    print(greedy.action.prob.shape, (greedy.action.prob <= 1).all().item())
    assert greedy.after is not None
    print(greedy.after.position.shape, greedy[:, 0].after is not None)

    actions = replay.map(lambda one: one.action, Action)
    assert_type(actions.sample(2), Action)
    stacked = lifted(torch.stack)([path, path])
    joined = Transition.cat([path, greedy], dim=1)
    print(stacked.batch_size, joined.batch_size, joined.permute(1, 0).done.shape)

    ragged = episodes([path[0], greedy[0], path[1, :3]])
    assert_type(ragged, LazyStack[Transition])
    rewards = ragged.get("reward", as_padded_tensor=True)
    lengths = [len(one) for one in ragged]
    print(
        rewards.shape,
        lengths,
        ragged[0].before.position.shape,
        ragged.get(("before", "position"), as_list=True)[2].shape,
    )

    flat = path.before.reshape(-1)
    print(torch.vmap(energy)(flat).shape, flat.vmap(energy).shape)
    gradients = torch.func.grad(lambda one: energy(one))(flat[0])
    print(gradients.velocity.shape, isinstance(gradients, Observation))
    weighted = Weighted(path[:, 0], torch.tensor([0.1, 0.5, 0.2]), batch_size=3)
    best = weighted.top(1).item
    assert_type(best, Transition)
    print(best.reward.shape, Weighted(flat[:2], torch.rand(2), batch_size=2).item.flat().shape)
    total = reduce(lambda a, b: a + b, [one.before.velocity.sum() for one in path.unbind(1)])
    for name, value in sorted(best.items(include_nested=True, leaves_only=True), key=lambda pair: str(pair[0])):
        print(name, tuple(value.shape))
    path.reward += 1
    path.reward = path.reward.clamp(-1, 1)
    path.set(("before", "velocity"), path.before.velocity * 2)
    path.update(reward=torch.zeros_like(path.reward), done=path.done.logical_not())
    path.before[0] = path.before[1]
    print(total.item(), path.done.all().item(), (path.before[0] == path.before[1]).all())
    print(path.to(torch.float64).reward.dtype, path.detach().requires_grad, path.numpy()["reward"].shape)
    print(policy(flat).index.shape, policy(flat.flat()).shape, path.apply(lambda tensor: tensor * 1).batch_size)


main()
