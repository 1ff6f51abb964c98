"""Which part of a tensor each process holds, and whether processes hold parts of the same model."""
