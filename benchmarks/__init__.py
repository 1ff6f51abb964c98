"""Benchmarks: `python -m benchmarks.startup` and `python -m benchmarks.tensorclass`, or `make bench`."""
