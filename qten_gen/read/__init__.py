"""Text → source layer. Nothing is imported here: `read.dimensions` needs nothing at all."""
