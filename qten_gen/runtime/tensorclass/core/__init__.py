"""What everything about TensorClass stands on: stored fields, sizes, devices, names, locks, and errors."""
