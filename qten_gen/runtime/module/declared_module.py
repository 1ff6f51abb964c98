"""nn.Module's construction, loading, moving and pickling for declared classes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, cast

from torch import Tensor, nn

from .core.module_base import VIRTUAL_CACHE, ModuleBase
from .core.state_dict_versions import migrate
from .dispatch import Functional
from .fast_paths import loading, moving
from .tied_parameters import keeping_ties, share_assigned

if TYPE_CHECKING:
    from typing import Protocol, Self, TypeVar

    import torch
    from torch.distributed.device_mesh import DeviceMesh
    from torch.types import Device as DeviceLike

    from ..materializing.matching import StateDict
    from ..materializing.placements import Placements
    from ..materializing.report import MaterializeReport

    R_co = TypeVar("R_co", covariant=True)

    class _HasForward(Protocol[R_co]):
        @property
        def forward(self) -> R_co: ...

    class _Call:
        """`module(x)` has the signature of `module.forward`."""

        def __get__(self, obj: _HasForward[R_co], owner: object = None, /) -> R_co: ...

        # pyright wants a callable class where a module is passed as a function, to torch.compile for instance.
        def __call__(self, *args: Any, **keywords: Any) -> Any: ...


class DeclaredModule(ModuleBase, Functional):
    """What Module does in place of nn.Module. The metaclass that reads declarations is Module's.

    Each override does what nn.Module's does, and besides: it keeps ties, brings old state dicts up to date, clears the cache of
    virtual tensors. Where nothing is unusual, a fast path does both.
    """

    if TYPE_CHECKING:
        __call__: ClassVar[_Call]  # type: ignore[misc] # narrower than nn.Module's Any

        def reset_parameters(self) -> None:
            """Initialise the parameters and buffers that the class declares; submodules initialise themselves."""

    def config(self) -> dict[str, Any]:
        """The constructor arguments by name: the values themselves, not copies.

        >>> Linear(2, 3).config()
        {'rows': 2, 'cols': 3}
        """
        return {name: getattr(self, name) for name in self._config}

    @classmethod
    def from_config(
        cls, config: Mapping[str, Any], *, device: DeviceLike = None, dtype: torch.dtype | None = None
    ) -> Self:
        """A new module with the constructor arguments that `config` gave.

        >>> twin = Linear.from_config(Linear(2, 3).config(), device="meta")
        >>> twin.weight.shape, twin.weight.device
        (torch.Size([2, 3]), device(type='meta'))

        A class with its own `__init__` is called with what `config` holds, and with `device` and `dtype` where they are given.

        Raises:
            TypeError: the constructor does not take these arguments.
        """
        placed = {name: given for name, given in (("device", device), ("dtype", dtype)) if given is not None}
        return cls(**config, **placed)

    def materialize(
        self,
        device: DeviceLike,
        *,
        seed: int | None = None,
        dtype: torch.dtype | None = None,
        mesh: DeviceMesh | None = None,
        placements: Placements | None = None,
        state_dict: StateDict | None = None,
        report: Callable[[MaterializeReport], object] | None = None,
        prefix: str = "",
    ) -> Self:
        """Give every tensor of a module on meta its initial values, in place, and return the module itself.

        >>> linear = Linear.on_meta(2, 3).materialize("cpu", seed=0)
        >>> linear.weight.device, linear.weight.requires_grad
        (device(type='cpu'), True)

        Each submodule is initialised by its `reset_parameters`, children before their parents, and ties hold. Random values
        depend on the seed and the qualified name of the tensor alone. Tensors that are not on meta stay as they are.

        Args:
            device: Where the tensors are to be.
            seed: What random values depend on; drawn from torch's default generator when None, so `torch.manual_seed` counts.
            dtype: What floating point tensors are cast to, once they have their values; not those that declare a dtype.
            mesh: Makes each tensor a DTensor on this mesh, of which the process makes only its part. Tensors that are DTensors
                already keep their mesh.
            placements: How each tensor is placed on the mesh, by qualified name or pattern; replicated where none is given.
            state_dict: A checkpoint: tensors by name, or the path of a file or folder. What it lacks is initialised.
            report: Is called with what `materialize` did: which tensor has its values from where. `print` shows it.
            prefix: The name of the module in a larger one, where it is to have the values that it has there: `"layers.3"`.

        Raises:
            RuntimeError: nothing initialises a tensor, or the machine does not have the device.
            TypeError: `seed` is not an integer or `dtype` is not floating point, or a tensor has a class of its own.
            ValueError: `device` is meta, a lazy module has no shapes yet, or the checkpoint or the placements do not fit.
        """
        from ..materializing.materialize import materialize

        return materialize(
            self,
            device,
            seed=seed,
            dtype=dtype,
            mesh=mesh,
            placements=placements,
            state_dict=state_dict,
            report=report,
            prefix=prefix,
        )

    def freeze(self) -> Self:
        """Record no gradients for any parameter in the module, and return the module itself. Buffers have none anyway.

        >>> Linear(2, 3).freeze().weight.requires_grad
        False
        """
        self.requires_grad_(False)
        return self

    def unfreeze(self) -> Self:
        """Record gradients for every parameter in the module, and return the module itself. Buffers have none anyway.

        >>> Linear(2, 3).freeze().unfreeze().weight.requires_grad
        True
        """
        self.requires_grad_(True)
        return self

    def extra_repr(self) -> str:
        """The constructor arguments, as `repr` shows them.

        >>> Linear(2, 3).extra_repr()
        'rows=2, cols=3'
        """
        state = vars(self)
        return ", ".join(f"{name}={state[name]!r}" for name in self._config if name in state)

    def __getstate__(self) -> dict[str, object]:
        state = vars(self).copy()
        state.pop(VIRTUAL_CACHE, None)
        return state

    def _replicate_for_data_parallel(self) -> Self:
        replica: Self = super()._replicate_for_data_parallel()  # type: ignore[no-untyped-call] # torch gives it no types
        vars(replica).pop(VIRTUAL_CACHE, None)  # on another device they are others
        return replica

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> DeclaredModule:
        """Move or cast every tensor of the module by `fn`, as nn.Module does; ties hold, and cached values are dropped."""
        vars(self).pop(VIRTUAL_CACHE, None)

        def change() -> DeclaredModule:
            if self._extends_torch and moving.is_usual():
                moving.convert(self, fn, recurse, DeclaredModule._apply)
                return self
            return cast(DeclaredModule, super(DeclaredModule, self)._apply(fn, recurse))  # type: ignore[no-untyped-call] # torch gives none

        try:
            return keeping_ties(self, change) if self._tied else change()
        except NotImplementedError as error:
            if "Cannot copy out of meta tensor" not in str(error):
                raise
            raise NotImplementedError(
                f"{type(self).__name__} is on meta, where tensors have no values to move: module.materialize(device) gives them"
                " their initial values there, and module.to_empty(device=device) allocates them without values"
            ) from None

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
        if _migrates(type(self)):
            migrate(type(self), state_dict, prefix, local_metadata)
        if self._tied and local_metadata.get("assign_to_params_buffers", False):
            share_assigned(self, state_dict, prefix)
        super()._load_from_state_dict(
            state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs
        )

    def load_state_dict(self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False) -> Any:
        """nn.Module's `load_state_dict`, with the same result and the same errors.

        >>> linear = Linear(2, 3)
        >>> linear.load_state_dict({"weight": torch.zeros(2, 3)})
        <All keys matched successfully>

        Args:
            state_dict: Tensors by dotted name, of the shapes that the module has; cast to its dtypes and devices unless `assign`.
            strict: Whether missing and unexpected keys are an error.
            assign: Whether the tensors of `state_dict` take the place of the module's, instead of being copied into them.

        Returns:
            A named tuple of the missing and the unexpected keys.

        Raises:
            RuntimeError: a key is missing or unexpected, or a shape differs.
        """
        if not assign and self._extends_torch:
            loaded = loading.load_plainly(self, state_dict, _only_copies)
            if loaded is not None:
                return loaded
        return super().load_state_dict(state_dict, strict, assign)


def _migrates(cls: type[ModuleBase]) -> bool:
    return cls.migrate.__func__ is not ModuleBase.migrate.__func__  # type: ignore[attr-defined] # class methods


def _only_copies(cls: type[nn.Module]) -> bool:
    """Whether `_load_from_state_dict` does no more for a class than nn.Module's, where nothing is assigned."""
    return (
        cls._load_from_state_dict is DeclaredModule._load_from_state_dict
        and issubclass(cls, DeclaredModule)
        and cls._extends_torch
        and not _migrates(cls)
    )
