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
policy.body.out_features = "three"  # E
path.reward = None  # E
Transition(path.before, path.action, path.reward, batch_size=2)  # E
path[0].action.log_prb  # E
path.weight.sum()  # E
policy.act(path)  # E
[step.rewrd for step in path.unbind(0)]  # E
path.replace(rewrad=path.reward)  # E none
