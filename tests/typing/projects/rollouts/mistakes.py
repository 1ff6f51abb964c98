"""Mistakes with rollouts and what is kept of them."""

import torch

from rollouts.buffer import Environment, Replay, episodes, rollout
from rollouts.model_qten import Action, Observation, Policy, Transition, Weighted

policy = Policy()
environment = Environment(2)
path = rollout(environment, policy, 2)
Replay(3, Transition).extend(path.before)  # E
path.action.index = torch.zeros(2, 2)  # E
path.after.position  # E
policy(path)  # E
policy(path.before, greedy="yes")  # E
episodes([path.action])  # E
environment.step(path.before)  # E
kept: Observation = Weighted(path, path.reward).top(1).item  # E
Replay(3, Action).sample(2).reward  # E
