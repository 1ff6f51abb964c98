"""A repeated submodule cannot be made as it is written.

`repeat=` gives a ModuleList of so many children, `keys=` a ModuleDict of one child for each name: a field has one of them.
`keys` is a tuple of names, or the config field that holds them. A name is a step in the path of a parameter, so it has no dot.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..common.suggestions import did_you_mean
from ..model import ConfigDecl, ModuleDecl, SubmoduleDecl
from ..model.diagnostics import Diagnostic, Kind
from .context import RuleContext

KIND = Kind("QG310", "repeated-submodule")

GOOD = """
from qten_gen import Module, ModuleDict, ModuleList, submodule
from torch import nn


class Net(Module):
    dim: int
    depth: int
    tasks: tuple[str, ...]
    layers: ModuleList[nn.Linear] = submodule(nn.Linear, "dim", "dim", repeat="depth")
    heads: ModuleDict[nn.Linear] = submodule(nn.Linear, "dim", 1, keys="tasks")
"""

BAD = """
from qten_gen import Module, ModuleDict, submodule
from torch import nn


class Net(Module):
    dim: int
    heads: ModuleDict[nn.Linear] = submodule(nn.Linear, "dim", 1, keys=("topic", "topic"))
                                                                        ^^^^^^^^^^^^^^^^
"""

_NO_NAMES = frozenset(f"builtins.{name}" for name in ("bool", "int", "float", "complex", "str", "bytes"))


def check(context: RuleContext) -> Iterator[Diagnostic]:
    declaration = context.declaration
    if not isinstance(declaration, ModuleDecl):
        return
    config = {field.name: field for field in declaration.fields if isinstance(field, ConfigDecl)}
    for field in context.module_fields:
        if not isinstance(field, SubmoduleDecl):
            continue
        given = [name for name in ("repeat", "keys", "when") if getattr(field, name) is not None]
        if len(given) > 1:
            message = f"{field.name} has both {given[0]} and {given[1]}"
            help = (
                "repeat=0 gives an empty list" if "when" in given else "repeat gives a list, keys give a dict: keep one"
            )
            yield Diagnostic(KIND, message, context.argument_place(field.name, given[1]), help)
        problem = _problem(field.keys, config)
        if problem is not None:
            message, help = problem
            yield Diagnostic(KIND, message, context.argument_place(field.name, "keys"), help)


def _problem(keys: str | tuple[str, ...] | None, config: dict[str, ConfigDecl]) -> tuple[str, str] | None:
    if isinstance(keys, tuple):
        wrong = [key for index, key in enumerate(keys) if not key or "." in key or key in keys[:index]]
        if wrong:
            return f"{wrong[0]!r} cannot be the name of a child", "write each name once, none empty or with a dot"
    elif keys is not None:
        found = config.get(keys)
        if found is None:
            help = did_you_mean(keys, config, f"one child alone is written keys=({keys!r},)")
            return f"there is no config field {keys!r}", help
        if found.type.name in _NO_NAMES:
            return f"{keys} is annotated {found.type.text}, and holds no names", f"write {keys}: tuple[str, ...]"
    return None
