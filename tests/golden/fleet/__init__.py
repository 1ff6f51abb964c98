"""Declarations that lean on each other across files: names, type variables and handlers that stand elsewhere."""

from . import trucks as trucks
