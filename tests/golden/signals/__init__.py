"""Handlers that stand in another file than the modules that they are for, and modules that inherit them."""

from . import handlers as handlers
