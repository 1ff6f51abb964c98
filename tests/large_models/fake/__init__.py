"""Fake tensors: `fake_mode`, `is_fake`, `meta_like`, and CUDA devices that do not exist."""
