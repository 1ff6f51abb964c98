"""What the settings of a project add to stubs."""

from typing import NamedTuple


class StubSettings(NamedTuple):
    """What stubs say beside the types of declarations, as the settings of the run ask for it."""

    literal_keys: bool = False
    """The keys of classes, as literals."""
    shapes: bool = False
    """Shapes, in the words of pyrefly."""


NOTHING_MORE = StubSettings()
"""Without settings."""
