"""Moves between devices: on CUDA where there is some, and on fake CUDA everywhere. No numbers are read."""
