"""The `qten-gen` command: options, the run, and what it prints."""

DONE, FOUND, MISUSE, INTERNAL, INTERRUPTED = 0, 1, 2, 101, 130
"""Exit statuses: success; errors, or stale outputs; wrong usage; a bug in qten-gen; interrupted."""

COMMANDS = ("init", "check", "explain", "inspect", "lock", "adopt", "stubs", "lsp")
"""The first words of command lines that are not for the generator. Anything else is for the generator."""
