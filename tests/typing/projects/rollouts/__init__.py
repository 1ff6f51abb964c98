"""Reinforcement learning: environments, rollouts of nested objects, a replay buffer and an update."""
