"""The base class of declared modules."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, cast

import torch
from torch import Tensor, nn

from ..declaring.fields import Specifier, field
from ..qten_style import ownership
from ..qten_style.devices import Device, DeviceBounded
from ..qten_style.frozen_dict import FrozenDict
from ..qten_style.labelled import LabelledTensor
from ..qten_style.ownership import LabelledAssignment
from .cached_virtual import CACHE
from .dispatch import Functional
from .fast_paths import loading_state, moving
from .metaclass import ModuleMeta
from .ties import keeping_ties, share_assigned
from .versions import migrate

MOVED_TO = "_moved_to"
"""Where the instance dict keeps the device that a module was moved to by name, for modules without tensors."""

if TYPE_CHECKING:
    from typing import Generic, Never, Protocol, Self, TypeVar

    from torch.types import Device as DeviceLike

    V = TypeVar("V")
    R_co = TypeVar("R_co", covariant=True)

    class _ConstructorOnly(Generic[V]):
        """A constructor argument that is no attribute."""

        def __get__(self, obj: Never, owner: type[object], /) -> Never: ...
        def __set__(self, obj: Never, value: V, /) -> None: ...

    class _DeviceArgument:
        """`device=` of the constructor is what torch takes; the attribute is a logical device."""

        def __get__(self, obj: nn.Module, owner: type[object], /) -> Device: ...
        def __set__(self, obj: Never, value: DeviceLike, /) -> None: ...

    class _HasForward(Protocol[R_co]):
        @property
        def forward(self) -> R_co: ...

    class _Call:
        """`module(x)` has the signature of `module.forward`."""

        def __get__(self, obj: _HasForward[R_co], owner: object = None, /) -> R_co: ...

        # pyright wants a callable class where a module is passed as a function, to torch.compile for instance.
        def __call__(self, *args: Any, **keywords: Any) -> Any: ...


class Module(nn.Module, Functional, LabelledAssignment, DeviceBounded, metaclass=ModuleMeta):
    """Base of declared modules. Annotations are its constructor arguments; specifiers declare its tensors and children.

        class Linear(Module):
            rows: int
            cols: int
            weight: nn.Parameter = param("rows", "cols", initializer=nn.init.xavier_uniform_)

            def forward(self, x: Tensor) -> Tensor:
                return x @ self.weight.T

        linear = Linear(4, 3, dtype=torch.float64)

    The generated constructor also takes `device` and `dtype`, by keyword. A class that writes its own `__init__` registers by
    assignment, as in any nn.Module.
    """

    _fields: ClassVar[tuple[str, ...]] = ()
    _config: ClassVar[tuple[str, ...]] = ()
    """Names of the constructor arguments."""
    _anchor: ClassVar[str | None] = None
    """Name of the tensor whose dtype and device virtual tensors follow."""
    _tied: ClassVar[dict[str, str]] = {}
    """Parameters that are tied, with the path of what they are tied to."""
    _extends_torch: ClassVar[bool] = True
    """Whether nn.Module comes next, so that `super()` here means nothing else."""
    _specifiers: ClassVar[dict[str, Specifier]] = {}

    version: ClassVar[int] = 1
    """Number of the names in the state dict: raise it where `migrate` brings older ones up to date."""

    if TYPE_CHECKING:
        device: _DeviceArgument = field(  # pyright: ignore[reportIncompatibleMethodOverride] # read, it is the same
            default=cast(Any, None), kw_only=True
        )
        dtype: _ConstructorOnly[torch.dtype | None] = field(default=cast(Any, None), kw_only=True)

        # nn.Module declares both, which makes every attribute name right. Cleared, only declared names are.
        __getattr__: ClassVar[None]  # type: ignore[assignment, misc] # cleared on purpose
        __setattr__: ClassVar[None]  # type: ignore[assignment, misc] # cleared on purpose
        __call__: ClassVar[_Call]  # type: ignore[misc] # narrower than nn.Module's Any

        def __init__(self) -> None: ...

        def reset_parameters(self) -> None:
            """Initialise the parameters and buffers that the class declares; submodules initialise themselves."""

    else:

        @property
        @torch.jit.unused
        def device(self):
            """Where the module's first tensor is; without tensors, where the module was last moved to, else the default."""
            return ownership.device(self) or vars(self).get(MOVED_TO) or Device.of(torch.get_default_device())

    def __init_subclass__(cls, **keywords: object) -> None:
        super().__init_subclass__(**keywords)
        cls._extends_torch = cls.__mro__[cls.__mro__.index(Module) + 1] is nn.Module
        if "version" in vars(cls):
            cls._version = cls.version

    @classmethod
    def migrate(cls, state_dict: dict[str, Tensor], version: int) -> None:
        """Bring the module's part of a state dict up to date, in place; called when an older version than the class's is loaded.

            version: ClassVar[int] = 2

            @classmethod
            def migrate(cls, state_dict: dict[str, Tensor], version: int) -> None:
                if "w" in state_dict:
                    state_dict["weight"] = state_dict.pop("w")

        Args:
            state_dict: The entries of the module and its children, under their names in the module.
            version: The version that saved it; 1 where the class had none, 0 where the state dict does not say, because it
                was made a plain dict. So look for a name before renaming it.
        """

    def config(self) -> dict[str, Any]:
        """The constructor arguments by name: the values themselves, not copies."""
        return {name: getattr(self, name) for name in self._config}

    @classmethod
    def from_config(
        cls, config: Mapping[str, Any], *, device: DeviceLike = None, dtype: torch.dtype | None = None
    ) -> Self:
        """A new module with the constructor arguments that `config` gave.

            twin = Linear.from_config(linear.config(), device="meta")

        A class with its own `__init__` is called with what `config` holds, and with `device` and `dtype` where they are given.
        """
        placed = {name: given for name, given in (("device", device), ("dtype", dtype)) if given is not None}
        return cls(**config, **placed)

    def to_device(self, device: Device) -> Self:
        """Move the module and everything in it to `device`, and return the module itself.

        Raises:
            RuntimeError: a gpu, and the machine has none.
        """
        self.to(device.torch_device())
        for module in self.modules():
            if isinstance(module, Module):
                vars(module)[MOVED_TO] = device
        return self

    def cpu(self) -> Self:
        """Move the module to the cpu, and return the module itself."""
        return self.to_device(Device("cpu"))

    def gpu(self, index: int | None = None) -> Self:
        """Move the module to a gpu, the one with the given index or else the current one, and return the module itself.

        Raises:
            RuntimeError: the machine has none.
        """
        return self.to_device(Device("gpu", index))

    def freeze(self) -> Self:
        """Record no gradients for any parameter in the module, and return the module itself. Buffers have none anyway."""
        self.requires_grad_(False)
        return self

    def unfreeze(self) -> Self:
        """Record gradients for every parameter in the module, and return the module itself. Buffers have none anyway."""
        self.requires_grad_(True)
        return self

    def export(self, name: str) -> LabelledTensor:
        """A detached copy of the labelled tensor that the attribute `name` is: nothing that the module does changes it.

        Raises:
            AttributeError: there is no attribute of that name.
            TypeError: the attribute is no LabelledTensor.
        """
        value = getattr(self, name)
        if not isinstance(value, LabelledTensor):
            raise TypeError(f"{type(self).__name__}.{name} is no LabelledTensor but {type(value).__name__}")
        return value.detach().clone()

    def export_all(self) -> FrozenDict[str, LabelledTensor]:
        """`export` for every public labelled tensor in the module and its children, by dotted name: "weight", "inner.basis"."""
        found: dict[str, LabelledTensor] = {}
        for prefix, module in self.named_modules(remove_duplicate=False):
            for name in ownership.names(module):
                if isinstance(module, Module) and not name.startswith("_"):
                    found[f"{prefix}.{name}" if prefix else name] = module.export(name)
        return FrozenDict(found)

    def extra_repr(self) -> str:
        """The constructor arguments, as `repr` shows them."""
        state = vars(self)
        return ", ".join(f"{name}={state[name]!r}" for name in self._config if name in state)

    def __getstate__(self) -> dict[str, object]:
        state = vars(self).copy()
        state.pop(CACHE, None)
        return state

    def __setstate__(self, state: Mapping[str, object]) -> None:
        super().__setstate__(state)  # type: ignore[no-untyped-call] # torch gives it no types
        ownership.restore(self)

    def _replicate_for_data_parallel(self) -> Self:
        replica: Self = super()._replicate_for_data_parallel()  # type: ignore[no-untyped-call] # torch gives it no types
        vars(replica).pop(CACHE, None)  # on another device they are others
        return replica

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Module:
        vars(self).pop(CACHE, None)

        def change() -> Module:
            if self._extends_torch and moving.is_usual():
                moving.convert(self, fn, recurse, Module._apply)
                return self
            return cast(Module, super(Module, self)._apply(fn, recurse))  # type: ignore[no-untyped-call] # torch gives none

        return keeping_ties(self, change) if self._tied else change()

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
        vars(self).pop(CACHE, None)
        if type(self).migrate.__func__ is not Module.migrate.__func__:  # type: ignore[attr-defined] # class methods
            migrate(type(self), state_dict, prefix, local_metadata)
        if self._tied and local_metadata.get("assign_to_params_buffers", False):
            share_assigned(self, state_dict, prefix)
        super()._load_from_state_dict(
            state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs
        )

    def load_state_dict(self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False) -> Any:
        """nn.Module's, with the same result and the same errors, in fewer steps where every key has its tensor."""
        if not assign and self._extends_torch:
            loaded = loading_state.load_plainly(self, state_dict, _only_copies)
            if loaded is not None:
                return loaded
        return super().load_state_dict(state_dict, strict, assign)


def _only_copies(cls: type[nn.Module]) -> bool:
    """Whether `_load_from_state_dict` does no more for a class than nn.Module's, where nothing is assigned."""
    return (
        cls._load_from_state_dict is Module._load_from_state_dict
        and issubclass(cls, Module)
        and cls._extends_torch
        and cls.migrate.__func__ is Module.migrate.__func__  # type: ignore[attr-defined] # class methods
    )
