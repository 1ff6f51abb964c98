"""Versions of a Module's state dict, and the migration of older ones.

nn.Module notes `_version` for each module in the metadata of a state dict, and hands it back when one is loaded. A Module sets it
by `version`, and `migrate` brings what an older version saved under the names of today.
"""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from typing import Protocol, cast

from torch import Tensor

from ..module_base import ModuleBase, Yielding


class _Migrating(Protocol):
    @classmethod
    def migrate(cls, state_dict: dict[str, Tensor], version: int) -> None: ...


def migrates(cls: type[ModuleBase]) -> bool:
    """Whether a class has a class method `migrate`; any other attribute of that name does not count."""
    definer = next((vars(base)["migrate"] for base in cls.__mro__ if "migrate" in vars(base)), None)
    return isinstance(definer, classmethod) and not isinstance(definer, Yielding)


def migrate(
    cls: type[ModuleBase], state_dict: MutableMapping[str, Tensor], prefix: str, metadata: Mapping[str, object]
) -> None:
    """Let `cls.migrate`, if the class has one, bring the entries below `prefix` up to date that an older version saved."""
    version = cast(int, metadata.get("version") or 0)
    if version >= cls._version or not migrates(cls):
        return
    own = {key.removeprefix(prefix): value for key, value in state_dict.items() if key.startswith(prefix)}
    old = list(own)
    cast(type[_Migrating], cls).migrate(own, version)
    # Those too that `migrate` has taken out or renamed.
    for key in old:
        del state_dict[prefix + key]
    state_dict.update({prefix + key: value for key, value in own.items()})
