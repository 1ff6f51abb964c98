"""TensorClasses in other processes: shared memory, `map`, and `torch.distributed`."""
