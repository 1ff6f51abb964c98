"""Contracts of a model: its lock, checkpoints held against it, and lists of names."""
