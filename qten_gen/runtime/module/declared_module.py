"""nn.Module's construction, loading, moving and pickling for declared classes.

nn.Module notes `_version` for each module in the metadata of a state dict, and hands it back when one is loaded. A Module sets it
by `version`, and `migrate` brings what an older version saved under the names of today.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, MutableMapping
from functools import partial
from types import CodeType
from typing import TYPE_CHECKING, Any, Self, cast

import torch
from torch import Tensor, nn

from .functional import Functional
from .module_base import TIES, VIRTUAL_CACHE, WATCHED, ModuleBase, with_plain_parts

if TYPE_CHECKING:
    from qten_gen_typing import DeclaredCall


_EMPTYING = next((each for each in nn.Module.to_empty.__code__.co_consts if isinstance(each, CodeType)), None)
"""The code of what `to_empty` applies to each tensor, by which it is recognised."""


class Emptying(partial[Tensor]):
    """What `to_empty` applies to each tensor, where it has come to the outermost declared module and goes on below it."""


class DeclaredModule(ModuleBase, Functional):
    """The methods of Module that replace nn.Module's. The metaclass that reads declarations is Module's.

    Each override does what nn.Module's does, and besides: it keeps ties and dtypes, brings old state dicts up to date, clears the
    cache of virtual tensors.
    """

    if TYPE_CHECKING:
        # pyright takes no ClassVar for the method of a protocol, and a descriptor for no method.
        __call__: DeclaredCall[Self] = DeclaredCall()  # pyright: ignore[reportIncompatibleMethodOverride]

        def reset_parameters(self) -> None:
            """Initialise the parameters and buffers that the class declares; submodules initialise themselves."""

    def extra_repr(self) -> str:
        """The constructor arguments, as `repr` shows them.

        >>> Linear(2, 3).extra_repr()
        'rows=2, cols=3'

        A class with its own `__init__` is shown as nn.Module shows it.
        """
        if type(self)._writes_init:
            return super().extra_repr()
        state, aliases = vars(self), type(self)._aliases
        return ", ".join(f"{aliases.get(name, name)}={state[name]!r}" for name in type(self)._config if name in state)

    def __getstate__(self) -> dict[str, object]:
        state = vars(self)
        self._look_below()
        if WATCHED in state:
            from .unsaved_buffers import state_to_copy

            state = state_to_copy(self)
        return {name: value for name, value in state.items() if name not in (VIRTUAL_CACHE, TIES)}

    def _look_below(self, device: torch.device | None = None) -> None:
        """Look at the unsaved buffers of plain modules in this one, whose own methods say nothing."""
        if self._modules and any(WATCHED in vars(part) for part in with_plain_parts(self)[1:]):
            from .unsaved_buffers import look_below

            look_below(self, device)

    # Any, because a lazy module's own returns nothing, and an RNN's its own class.
    def _replicate_for_data_parallel(self) -> Any:
        replica = super()._replicate_for_data_parallel()  # type: ignore[no-untyped-call] # torch gives it no types
        vars(replica).pop(VIRTUAL_CACHE, None)  # on another device they are others
        return replica

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Any:
        """Move or cast every tensor of the module by `fn`, as nn.Module does; buffers without values are made again."""
        vars(self).pop(VIRTUAL_CACHE, None)
        apply: Callable[..., Self] = super()._apply
        applied = getattr(fn, "__wrapped__", fn)
        if _EMPTYING is not None and getattr(applied, "__code__", None) is _EMPTYING:
            from .emptying import emptying

            with emptying(self, recurse=recurse):
                return apply(Emptying(fn), recurse)
        if isinstance(applied, Emptying):  # the module around this one does what is left
            return apply(fn, recurse)
        self._look_below()
        if WATCHED in vars(self):
            from .unsaved_buffers import look

            look(self)
        before = dict(self._buffers) if self._non_persistent_buffers_set else None
        left = []
        if self._forward_pre_hooks:
            from .emptying import marked

            left = marked(self)
        change = fn
        if type(self)._kept:
            from .kept_dtypes import keeping_dtypes

            change = keeping_dtypes(self, fn)
        try:
            apply(change, recurse)
        except NotImplementedError as error:
            if "Cannot copy out of meta tensor" not in str(error):
                raise
            from .unsaved_buffers import leave_meta

            if leave_meta(self):
                return self._apply(fn, recurse)
            raise NotImplementedError(
                f"{type(self).__name__} is on meta, where tensors have no values to move: module.materialize(device) gives them"
                " their initial values there, and module.to_empty(device=device) allocates them without values"
            ) from None
        if before is not None:
            from .unsaved_buffers import remake_moved

            remake_moved(self, before)
        if left:
            from .emptying import mark_again

            mark_again(left)
        return self

    def _load_from_state_dict(
        self,
        state_dict: dict[str, Tensor],
        prefix: str,
        local_metadata: dict[str, object],
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        """Load the module's own tensors, as nn.Module does, after `migrate` and with ties kept where tensors are assigned."""
        vars(self).pop(VIRTUAL_CACHE, None)
        cls = type(self)
        if local_metadata.get("version") != cls._version:  # an import for each layer would cost a tenth of the load
            migrate(cls, state_dict, prefix, local_metadata)
        assigns = local_metadata.get("assign_to_params_buffers", False)
        if cls._tied:
            from .ties import disagreements

            error_msgs += disagreements(self, state_dict, prefix)
        if assigns:
            if cls._kept or cls._tied:
                from .kept_dtypes import cast_assigned
                from .ties import share_assigned

                cast_assigned(self, state_dict, prefix)
                share_assigned(self, state_dict, prefix)
            if ModuleBase._follows:
                from .virtual_tensors import follow_assigned

                follow_assigned(self, state_dict, prefix)
        super()._load_from_state_dict(
            state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs
        )
        if assigns:
            given = (each.device for each in state_dict.values() if isinstance(each, Tensor) and not each.is_meta)
            device = next(given, torch.get_default_device())
            self._look_below(device)
            if WATCHED in vars(self):
                from .unsaved_buffers import look_once

                look_once(self, device)
        if strict and None in self._modules.values():
            # nn.Module skips what is below a child that is registered as None: one that a condition has switched off.
            conditions = {name: getattr(each, "when", None) for name, each in cls._specifiers.items()}
            off = [name for name, child in self._modules.items() if child is None and conditions.get(name) is not None]
            absent = tuple(f"{prefix}{name}." for name in off)
            unexpected_keys += [key for key in state_dict if key.startswith(absent)]


def migrates(cls: type[ModuleBase]) -> bool:
    """Return whether a class has a class method `migrate` of its own; any other attribute of that name does not count."""
    definer = next((base for base in cls.__mro__ if "migrate" in vars(base)), ModuleBase)
    is_own = definer.__module__.partition(".")[0] != "qten_gen"
    return is_own and isinstance(vars(definer)["migrate"], classmethod)


def migrate(
    cls: type[ModuleBase], state_dict: MutableMapping[str, Tensor], prefix: str, metadata: Mapping[str, object]
) -> None:
    """Let `cls.migrate`, if the class has one, bring the entries below `prefix` up to date that an older version saved."""
    version = cast(int, metadata.get("version") or 0)
    if version >= cls._version or not migrates(cls):
        return
    own = {key.removeprefix(prefix): value for key, value in state_dict.items() if key.startswith(prefix)}
    old = list(own)
    cast(Any, cls).migrate(own, version)
    # Those too that `migrate` has taken out or renamed.
    for key in old:
        del state_dict[prefix + key]
    state_dict.update({prefix + key: value for key, value in own.items()})
