"""A small language model: training, generation, checkpoints and averages."""
