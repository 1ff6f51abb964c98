"""The argument `repeat=` or `keys=` of a submodule cannot be used.

`repeat=` creates a ModuleList with that many children, and `keys=` a ModuleDict with a child for each name. If a field had
both, one of them would be ignored. The same name twice would create a single child. A name with a dot would raise KeyError,
because dots separate the parts of a parameter's path.

`keys` is a tuple of names, or the name of a config field or derived value that contains one.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..common.suggestions import did_you_mean
from ..model import ConfigDecl, DerivedDecl, ModuleDecl, ParameterDecl, SubmoduleDecl
from ..model.diagnostics import Diagnostic, Kind
from .rule_input import RuleContext

KIND = Kind("QG310", "invalid-repeat")

EXAMPLE = """
-from qten_gen import Module, ModuleDict, submodule
+from qten_gen import Module, ModuleDict, ModuleList, submodule
 from torch import nn


 class Net(Module):
     dim: int
-    heads: ModuleDict[nn.Linear] = submodule(nn.Linear, "dim", 1, keys=("topic", "topic"))
-                                                                       ^^^^^^^^^^^^^^^^^^
+    depth: int
+    tasks: tuple[str, ...]
+    layers: ModuleList[nn.Linear] = submodule(nn.Linear, "dim", "dim", repeat="depth")
+    heads: ModuleDict[nn.Linear] = submodule(nn.Linear, "dim", 1, keys="tasks")
"""

_SEQUENTIALS = ("torch.nn.Sequential", "torch.nn.modules.container.Sequential", "qten_gen.Sequential")
_NO_NAMES = frozenset(f"builtins.{name}" for name in ("bool", "int", "float", "complex", "str", "bytes"))


def check(context: RuleContext) -> Iterator[Diagnostic]:
    declaration = context.declaration
    if not isinstance(declaration, ModuleDecl):
        return
    config = {field.name: field for field in declaration.fields if isinstance(field, ConfigDecl | DerivedDecl)}
    for field in context.module_fields:
        if not isinstance(field, SubmoduleDecl | ParameterDecl) or (field.repeat is None and field.keys is None):
            continue
        inner = field.inner if isinstance(field, SubmoduleDecl) else None
        while inner is not None:
            if (wrong := _problem(inner.keys, config)) is not None:
                yield Diagnostic(KIND, wrong[0], context.value_place(field.name), wrong[1])
            inner = inner.inner
        given = [name for name in ("repeat", "keys") if getattr(field, name) is not None]
        may_be_none = field.may_be_none if isinstance(field, SubmoduleDecl) else field.when is not None
        given += ["when"] if may_be_none else []
        if len(given) > 1:
            message = f"{field.name} has both {given[0]} and {given[1]}"
            help = (
                "remove when; with repeat=0 or keys=() the container is empty, and index in when leaves out children"
                if "when" in given
                else "keep one of them: repeat creates a ModuleList, keys a ModuleDict"
            )
            yield Diagnostic(KIND, message, context.argument_place(field.name, given[1]), help)
        if isinstance(field, SubmoduleDecl) and field.repeat is not None and field.type.name in _SEQUENTIALS:
            message = (
                f"{field.name} is annotated {field.type.text}, but repeat= makes a ModuleList, which cannot be called"
            )
            help = (
                f"annotate it ModuleList[{field.type.text}], or write sequential(submodule(...), ...) without repeat="
            )
            yield Diagnostic(KIND, message, context.argument_place(field.name, "repeat"), help)
        problem = _problem(field.keys, config)
        if problem is not None:
            message, help = problem
            yield Diagnostic(KIND, message, context.argument_place(field.name, "keys"), help)


def _problem(keys: str | tuple[str, ...] | None, config: dict[str, ConfigDecl | DerivedDecl]) -> tuple[str, str] | None:
    """The problem with `keys`, and how to fix it."""
    if isinstance(keys, tuple):
        wrong = [key for index, key in enumerate(keys) if not key or "." in key or key in keys[:index]]
        if wrong:
            return (
                f"{wrong[0]!r} cannot be the name of a child",
                "write each name once; a name cannot be empty or contain a dot",
            )
    elif keys is not None:
        found = config.get(keys)
        if found is None:
            if not keys.isidentifier():
                help = f'write keys="names", with a field above: names: tuple[str, ...] = derived({keys!r})'
                return f"keys is the name of a config field or derived value, got {keys!r}", help
            help = did_you_mean(keys, config, f"for a single child, write keys=({keys!r},)")
            return f"there is no config field {keys!r}", help
        if found.type.name in _NO_NAMES:
            return (
                f"{keys} is annotated {found.type.text}, which cannot contain names",
                f"write {keys}: tuple[str, ...]",
            )
    return None
