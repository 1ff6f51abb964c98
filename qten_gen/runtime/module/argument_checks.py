"""The functions of a generated constructor about its arguments: the option of a `choice(...)`, the error of a `check(...)`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch import nn

from ...common.suggestions import did_you_mean
from .construction import anew, recorded
from .module_base import ModuleBase

_LONGEST = 200


def failed_check(module: nn.Module, condition: str, /, **values: object) -> ValueError:
    """The error that a generated constructor raises: which class, what it expects, and what it got.

        raise _features.failed_check(self, "dim % heads == 0", dim=dim, heads=heads)

    `condition` mentions attributes of the values too, `config.heads`: it is their values that the message gives.
    """
    got = ", ".join(f"{path} = {_shown(path, values)}" for path in _paths(condition, values))
    return ValueError(f"{type(module).__name__}: expected {condition}, got {got}")


def _paths(condition: str, values: Mapping[str, object]) -> list[str]:
    """The values that a condition mentions, with attributes, each once and in order."""
    import ast  # only for the message of an error

    found: dict[str, None] = {}

    def collect(node: ast.AST) -> None:
        if isinstance(node, ast.Attribute | ast.Name):
            path = ast.unparse(node)
            # `len` in `len(dims)` is no value of the constructor.
            if path.replace(".", "").isidentifier() and path.partition(".")[0] in values:
                found[path] = None
                return
        for child in ast.iter_child_nodes(node):
            collect(child)

    collect(ast.parse(condition, mode="eval"))
    return list(found)


def _shown(path: str, values: Mapping[str, object]) -> str:
    """The value of a path as the message shows it."""
    root, *names = path.split(".")
    value = values[root]
    for name in names:
        if not hasattr(value, name):
            return "nothing"
        value = getattr(value, name)
    text = repr(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


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
