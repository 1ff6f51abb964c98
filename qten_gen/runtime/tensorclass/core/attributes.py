"""What an object holds beside its fields: attributes of an open class, and of mixins or `__slots__` that give room for some.

Copies and pickles keep them, as they do for any object of Python. Operations make new objects, without them.
"""

from __future__ import annotations

import copyreg
from collections.abc import Collection, Mapping

from ....common.naming import storage
from .stored import Stored


def rooms(cls: type, private: Collection[str]) -> tuple[str, ...]:
    """Where objects of a class keep such attributes: slots that hold no field, and `__dict__`; nowhere in the usual class."""
    names: list[str] = copyreg._slotnames(cls)  # type: ignore[attr-defined] # undocumented, but what pickle itself uses
    found = tuple(name for name in names if name not in private)
    return (*found, "__dict__") if cls.__dictoffset__ else found


def beside_fields(self: Stored) -> dict[str, object]:
    """The attributes of an object that are neither fields nor the runtime's own, by name."""
    found: dict[str, object] = {}
    for name in type(self).__rooms__:
        if name == "__dict__":
            private = {*Stored.__slots__, *map(storage, self._fields)}
            found |= {key: value for key, value in vars(self).items() if key not in private}
        elif hasattr(self, name):
            found[name] = getattr(self, name)
    return found


def store_beside(self: Stored, attributes: Mapping[str, object]) -> None:
    """Give an object such attributes. A frozen object takes them too."""
    for name, value in attributes.items():
        object.__setattr__(self, name, value)
