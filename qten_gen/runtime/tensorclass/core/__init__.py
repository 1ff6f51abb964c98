"""The foundation of TensorClass: stored fields, sizes, devices, names, locks, and errors."""
