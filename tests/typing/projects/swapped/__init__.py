"""Modules of a repository whose base was changed, with constructors by hand that register names in strings behind children."""
