"""The settings of a project for its stubs."""

from typing import NamedTuple


class StubSettings(NamedTuple):
    """The additions to stubs, beside the types of declarations, that the settings of the run ask for."""

    literal_keys: bool = False
    """The keys of classes, as literals."""
    shapes: bool = False
    """Shapes, in the words of pyrefly."""


NOTHING_MORE = StubSettings()
"""Without settings."""
