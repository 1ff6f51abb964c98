"""Text → source layer. Nothing is imported here: `read.module` needs libcst, `read.dimensions` nothing at all."""
