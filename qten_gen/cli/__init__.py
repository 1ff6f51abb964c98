"""The command: arguments in, exit status out."""

DONE, FOUND, MISUSE, INTERNAL, INTERRUPTED = 0, 1, 2, 101, 130
"""Exit statuses: all is well; errors, or stale outputs; wrong use; a fault of ours; interrupted."""
