"""The interface through which `reflection` reads the arguments of a field specifier.

`param("3*dim", "dim")` returns a record. Its class has a method `__specifier_call__`, which returns the call as plain data. The
classes of the records are in `runtime.declaring.fields`, which `reflection` does not import.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple


class RecordedCall(NamedTuple):
    """A call of a specifier, as Python executed it."""

    name: str
    """Qualified name of the specifier: `qten_gen.param`."""
    args: tuple[object, ...] = ()
    """The positional arguments: `("3*dim", "dim")`."""
    kwargs: Mapping[str, object] = {}
    """The keyword arguments. Those with their default value may be missing."""


DATACLASS_FIELD_DEFAULTS: Mapping[str | None, bool | None] = {
    "init": True,
    "repr": True,
    "compare": True,
    "hash": None,
    "metadata": None,
}
"""The arguments of `dataclasses.field` that `field` does not take, and the values with which they change nothing."""


def recorded_call(value: object) -> RecordedCall | None:
    """The call that returned a record; None for an object that is not a record.

    The method is looked up on the type, as Python does for special methods, because a default may be an object that has every
    attribute, such as a mock.
    """
    method: Callable[[object], RecordedCall] | None = getattr(type(value), "__specifier_call__", None)
    return None if method is None else method(value)
