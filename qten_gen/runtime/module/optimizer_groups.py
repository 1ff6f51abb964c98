"""Sorts the parameters of a module into the groups of an optimizer that declarations name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from torch import nn
from torch.nn.utils import parametrize

from ...common.suggestions import did_you_mean
from .module_base import ModuleBase

DEFAULT = "default"
"""The group of the parameters that no declaration gives one."""


def optimizer_groups(root: nn.Module, options: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    """See `Module.optimizer_groups`. A parameter under several names is in the first group that one of them has."""
    known = _known(root)
    for name, given in options.items():
        if name not in known:
            help = did_you_mean(name, sorted(known), f"the groups are {', '.join(sorted(known))}")
            raise ValueError(f"{type(root).__name__} has no parameter group {name!r}: {help}")
        for key in ("params", "name"):
            if key in given:
                raise ValueError(f"the options of the group {name!r} contain {key!r}, which optimizer_groups() writes")
    group_of: dict[nn.Parameter, str | None] = {}
    for parameter, group in _grouped(root, None):
        group_of[parameter] = group_of.get(parameter) or group
    found: dict[str, list[nn.Parameter]] = {}
    for parameter, group in group_of.items():
        found.setdefault(group or DEFAULT, []).append(parameter)
    return [{"params": parameters, "name": name, **options.get(name, {})} for name, parameters in found.items()]


def _known(root: nn.Module) -> set[str]:
    """The groups that the classes in a module name."""
    return {DEFAULT, *(group for module in root.modules() for group in _groups_of(module).values())}


def _groups_of(module: nn.Module) -> dict[str, str]:
    return module._groups if isinstance(module, ModuleBase) else {}


def _grouped(module: nn.Module, group: str | None) -> Iterator[tuple[nn.Parameter, str | None]]:
    """All parameters with their groups; those under several names several times. `group` is that of the module itself."""
    own = _groups_of(module)
    for name, parameter in module._parameters.items():
        if parameter is not None:
            yield parameter, own.get(name, group)
    for name, child in module._modules.items():
        if child is None:
            continue
        # The tensor that a parametrized field is computed from stands there, under the name of the field.
        if name == "parametrizations" and parametrize.is_parametrized(module):
            for of, parts in child.named_children():
                yield from _grouped(parts, own.get(of, group))
        else:
            yield from _grouped(child, own.get(name, group))
