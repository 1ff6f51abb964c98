"""What generated code calls for `choice(...)`: the value that stands for what an expression gave."""

from __future__ import annotations

from typing import Any

from ...common.suggestions import did_you_mean
from .construction import anew, recorded
from .core.module_base import ModuleBase


def chosen(owner: type[ModuleBase], path: str, given: object, expression: str) -> Any:  # a class, or any other value
    """The option of the choice at `path` in the declaration, which `expression` decides: `chosen(Net, "act.cls", act, "act")`.

    Raises:
        ValueError: the choice has no option for `given`.
    """
    options = recorded(owner, path).options
    try:
        if given in options:
            return anew(options[given])
    except TypeError:
        pass  # a value that cannot be a key
    *others, last = map(repr, options)
    known = f"{', '.join(others)} or {last}" if others else last
    names = [key for key in options if isinstance(key, str)]
    hint = did_you_mean(given, names, "") if isinstance(given, str) else ""
    raise ValueError(
        f"{owner.__name__}.{path.partition('.')[0]}: {expression} is {given!r}; expected {known}{f'; {hint}' if hint else ''}"
    )
