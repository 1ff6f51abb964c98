"""Whether an argument of a module may be a module itself: nn.Module registers it then, and its tensors have names below."""

from __future__ import annotations

import sys
from collections.abc import Mapping

from ..model import ClassSource, Declaration, ModuleDecl, TypeExpr
from ..model.configuration import KNOWN_ROOTS
from ..model.field_kinds import members_of

_MAY_BE_ANYTHING = frozenset(
    "builtins.object typing.Any collections.abc.Callable collections.abc.Hashable typing.Callable typing.Hashable "
    "typing.Protocol typing_extensions.Any typing_extensions.Protocol".split()
)
"""What an instance of nn.Module is as well, of the names in the standard library."""
_WRAPPERS = frozenset({"typing.Annotated", "typing.Final", "typing_extensions.Annotated", "typing_extensions.Final"})
_NO_MODULES = frozenset({"jaxtyping", "numpy", "None", "torch", *sys.stdlib_module_names})
"""Libraries whose classes are no modules, apart from torch.nn."""
_VALUES = frozenset({"qten_gen.FrozenDict", *KNOWN_ROOTS})
"""Classes of other libraries that are none."""


def may_be_module(
    type: TypeExpr, related: Mapping[str, Declaration], classes: Mapping[str, ClassSource], unknown: bool = False
) -> bool:
    """Whether an object of a type may be an instance of nn.Module; `classes` are those of the run.

    `unknown` is the answer for a class of which nothing is known: most are configurations, in files that declare nothing.
    """
    for member in members_of(type):
        if member.name in _WRAPPERS:
            inner = [argument for argument in member.args[:1] if isinstance(argument, TypeExpr)]
            if any(may_be_module(argument, related, classes, unknown) for argument in inner):
                return True
        elif _derives_from_module(member.name, related, classes, unknown, ()):
            return True
    return False


def _derives_from_module(
    name: str,
    related: Mapping[str, Declaration],
    classes: Mapping[str, ClassSource],
    unknown: bool,
    below: tuple[str, ...],
) -> bool:
    """Whether a class is one of modules, or may be one of modules and others."""
    declared = related.get(name)
    if declared is not None:
        return isinstance(declared, ModuleDecl)
    if name in _MAY_BE_ANYTHING:
        return True
    found = classes.get(name)
    if found is not None and name not in below:
        return any(_derives_from_module(base.name, related, classes, unknown, (*below, name)) for base in found.bases)
    if name.startswith("torch.nn."):
        return True
    return unknown and name.partition(".")[0] not in _NO_MODULES and name not in _VALUES
