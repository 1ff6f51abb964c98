"""Errors about a folder or a file."""

from __future__ import annotations


class StorageError(ValueError):
    """A saved object cannot be read: it is damaged, was changed by others, or does not fit the class. Names the path."""
