"""What needs a GPU: `pytest tests/gpu` on a machine that has one. Elsewhere everything here is skipped."""
