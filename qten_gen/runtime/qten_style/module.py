"""Module: the base class of declared modules, with logical devices and labelled tensors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, cast

import torch
from torch import Tensor

from ..module.declared_module import DeclaredModule
from ..module.metaclass import ModuleMeta
from . import devices
from .devices import Device
from .labelled_assignment import LabelledAssignment, LabelledOwner

if TYPE_CHECKING:
    from typing import Generic, Never, Self

    from qten_gen_typing import AssignsNoOther, NoOtherAttribute
    from torch.types import Device as DeviceLike

    from ...large_models.materializing.checkpoints import StateDict
    from ...large_models.materializing.materialize import MaterializeReport
    from ..declaring.fields import constructor_argument
    from .frozen_dict import FrozenDict
    from .labelled import LabelledTensor


if TYPE_CHECKING:
    _yielding_property = property
else:

    class _yielding_property:
        """A property that `self.device = device` replaces, as modules often do: without `__set__`, the instance comes first."""

        def __init__(self, read):
            self.fget, self.__doc__ = read, read.__doc__

        def __get__(self, module, owner=None):
            return self if module is None else self.fget(module)


class ModuleMethods(DeclaredModule, LabelledAssignment):
    """The methods of every Module. The examples are about the class `Linear` of Module."""

    version: ClassVar[int] = 1
    """Version of the names in the state dict. Raise it when `migrate` has to bring older ones up to date."""

    @classmethod
    def migrate(cls, state_dict: dict[str, Tensor], version: int) -> None:
        """Bring the module's part of a state dict up to date, in place; called when an older version than the class's is loaded.

        >>> class Scale(Module):
        ...     weight: nn.Parameter = param(2, initializer=nn.init.ones_)
        ...     version: ClassVar[int] = 2
        ...     @classmethod
        ...     def migrate(cls, state_dict: dict[str, Tensor], version: int) -> None:
        ...         if "w" in state_dict:
        ...             state_dict["weight"] = state_dict.pop("w")
        >>> Scale().load_state_dict({"w": torch.zeros(2)})
        <All keys matched successfully>

        Args:
            state_dict: The tensors of the module and its children, of any shape, dtype and device, under their names in the
                module.
            version: The version that saved it: 1 where the class had none, 0 where the state dict does not say, because it
                was made a plain dict. So look for a name before renaming it.
        """

    # `Any`, so that a user's property may return a `torch.device`.
    @_yielding_property
    def device(self) -> Device | Any:
        """Where the module's first tensor is; without tensors, where the module was last moved to, else the default device."""
        return devices.device(self)

    def get_config(self) -> dict[str, Any]:
        """The constructor arguments by name: the values themselves, not copies.

        >>> Linear(2, 3).get_config()
        {'rows': 2, 'cols': 3}

        In a class with a field of this name, `Module.get_config(module)` returns them.
        """
        aliases = type(self)._aliases
        return {aliases.get(name, name): getattr(self, name) for name in type(self)._config}

    @classmethod
    def from_config(
        cls, config: Mapping[str, Any], *, device: DeviceLike = None, dtype: torch.dtype | None = None
    ) -> Self:
        """A new module with the constructor arguments that `get_config` gave.

        >>> twin = Linear.from_config(Linear(2, 3).get_config(), device="meta")
        >>> twin.weight.shape, twin.weight.device
        (torch.Size([2, 3]), device(type='meta'))

        A mapping becomes an object of the dataclass that annotates its field, also in a list, a tuple or a dict: `config` may
        come from JSON or YAML. A class with its own `__init__` is called with what `config` holds, and with `device` and `dtype`
        where they are given.

        Raises:
            TypeError: the constructor does not take these arguments, or `config` is not a mapping of them.
        """
        placed = {name: given for name, given in (("device", device), ("dtype", dtype)) if given is not None}
        if not isinstance(config, Mapping):
            raise TypeError(f"{cls.__name__}.from_config: expected a mapping of arguments by name, got {config!r}")
        if cls._config:
            from .nested_config import with_dataclasses

            config = with_dataclasses(cls, config, cls._aliases)
        return cls(**config, **placed)

    def materialize(
        self,
        device: DeviceLike,
        *,
        seed: int | None = None,
        dtype: torch.dtype | None = None,
        state_dict: StateDict | None = None,
        report: Callable[[MaterializeReport], object] | None = None,
        prefix: str = "",
    ) -> Self:
        """Give every tensor of a module on meta its initial values, in place, and return the module itself.

        >>> linear = Linear.on_meta(2, 3).materialize("cpu", seed=0)
        >>> linear.weight.device, linear.weight.requires_grad
        (device(type='cpu'), True)

        Each submodule is initialised by its `reset_parameters`, children before their parents, and ties hold. Random values
        depend on the seed and the qualified name of the module alone. Of a DTensor the process makes only its part. Tensors that
        are not on meta stay as they are.

        Args:
            device: Where the tensors are to be.
            seed: What random values depend on; drawn from torch's default generator when None, so `torch.manual_seed` counts.
            dtype: What floating point tensors are cast to, once they have their values; not tensors that declare a dtype.
            state_dict: A checkpoint: tensors by name, or the path of a file or folder of safetensors. It may lack some.
            report: Is called with the source of each tensor's values. `print` shows it.
            prefix: The name of the module in a larger one, where it is to have the values that it has there: `"layers.3"`.

        Raises:
            RuntimeError: nothing initialises a tensor, or the machine does not have the device.
            TypeError: `seed` is not an integer or `dtype` is not floating point.
            ValueError: `device` is meta, a tensor is lazy or of another class, a DTensor has no initial values, or the checkpoint
                does not fit.
        """
        from ...large_models.materializing.materialize import materialize

        return materialize(self, device, seed=seed, dtype=dtype, state_dict=state_dict, report=report, prefix=prefix)

    def optimizer_groups(self, options: Mapping[str, Mapping[str, Any]] | None = None) -> list[dict[str, Any]]:
        """The parameters for an optimizer, in the groups that the declarations name: each parameter once.

        >>> class Scale(Module):
        ...     dim: int
        ...     weight: nn.Parameter = param("dim", initializer=nn.init.ones_, group="default")
        ...     bias: nn.Parameter = param("dim", initializer=nn.init.zeros_, group="no_decay")
        >>> groups = Scale(2).optimizer_groups({"no_decay": {"weight_decay": 0.0}})
        >>> [(group["name"], len(group["params"])) for group in groups]
        [('default', 1), ('no_decay', 1)]
        >>> torch.optim.AdamW(groups, weight_decay=0.1).param_groups[1]["weight_decay"]
        0.0

        A parameter is in the group of its own field, else in the group of the nearest child around it: `submodule(...,
        group="no_decay")`. All others, such as in layers that no declaration names, are in the group `default`.

        Args:
            options: What the optimizer is given for each group, beside the parameters. Groups that are not named get nothing.

        Returns:
            A dict for each group that has parameters, in the order in which they are found, with `params` and `name`.

        Raises:
            ValueError: no declaration in the module names such a group, or the options contain `params` or `name`.
        """
        from ..module.parameter_selection import optimizer_groups

        return optimizer_groups(self, options or {})

    def kept_names(self) -> list[str]:
        """The paths of the tensors and children whose dtypes no cast changes: those declared with `keep_dtype=True`.

        >>> class Router(Module):
        ...     dim: int
        ...     gate: nn.Linear = submodule(nn.Linear, "dim", 4, dtype=torch.float32, keep_dtype=True)
        ...     scale: nn.Parameter = param("dim", initializer=nn.init.ones_)
        >>> router = Router(2).to(torch.bfloat16)
        >>> router.gate.weight.dtype, router.scale.dtype, router.kept_names()
        (torch.float32, torch.bfloat16, ['gate'])

        Returns:
            A path for each field, of the module and of the modules in it; what is in a kept child is not named again.
        """
        from ..module.ties_and_dtypes import kept_names

        return kept_names(self)

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

    def to_device(self, device: Device) -> Self:
        """Move the module and everything in it to `device`, and return the module itself.

        >>> Linear(2, 3).to_device(Device("meta")).weight.device
        device(type='meta')

        Raises:
            TypeError: `device` is not a Device.
            RuntimeError: a gpu, and the machine has none.
        """
        return devices.moved(self, device)

    def cpu(self) -> Self:
        """Move the module to the cpu, and return the module itself.

        >>> Linear(2, 3).cpu().device
        Device(name='cpu', index=None)
        """
        super().cpu()
        devices.note_moved(self, Device("cpu"))
        return self

    def gpu(self, index: int | None = None) -> Self:
        """Move the module to a gpu, the one with the given index or else the current one, and return the module itself.

        Raises:
            RuntimeError: the machine has none.
        """
        return devices.moved(self, Device("gpu", index))

    def export(self, name: str) -> LabelledTensor:
        """A copy of the labelled tensor that the attribute `name` is: nothing that the module does changes it.

        >>> class Model(Module):
        ...     def __init__(self) -> None:
        ...         super().__init__()
        ...         self.weight = LabelledTensor(torch.ones(2), ("site",))
        >>> Model().export("weight")
        LabelledTensor(tensor([1., 1.]), dims=('site',))

        Returns:
            The same labels, shape, dtype and device, without gradients.

        Raises:
            AttributeError: there is no attribute of that name.
            TypeError: the attribute is not a LabelledTensor.
        """
        from .labelled_attributes import exported

        return exported(self, name)

    def export_all(self) -> FrozenDict[str, LabelledTensor]:
        """A copy of every public labelled tensor in the module and its children, outside the graph, by dotted name.

        Each keeps its labels, shape, dtype and device. A tensor that has several names is copied for each.
        Names that start with an underscore are left out.

        >>> class Model(Module):
        ...     def __init__(self) -> None:
        ...         super().__init__()
        ...         self.weight = LabelledTensor(torch.ones(2), ("site",))
        >>> Model().export_all()
        FrozenDict({'weight': LabelledTensor(tensor([1., 1.]), dims=('site',))})
        """
        from .frozen_dict import FrozenDict
        from .labelled_attributes import all_exported

        return FrozenDict(all_exported(self))


ModuleType = TypeVar("ModuleType", bound="type[Module]")
"""A subclass of Module, as a class decorator takes and returns it."""

if TYPE_CHECKING:
    V = TypeVar("V")

    class _ConstructorOnly(Generic[V]):
        """A constructor argument that is not an attribute."""

        def __get__(self, obj: Never, owner: type[object], /) -> Never: ...
        def __set__(self, obj: Never, value: V, /) -> None: ...


class Module(ModuleMethods, metaclass=ModuleMeta):
    """Base of declared modules. Annotations are its constructor arguments; specifiers declare its tensors and children.

    >>> from qten_gen import Module, param
    >>> class Linear(Module):
    ...     rows: int
    ...     cols: int
    ...     weight: nn.Parameter = param("rows", "cols", initializer=nn.init.ones_)
    ...     def forward(self, x: torch.Tensor) -> torch.Tensor:
    ...         return x @ self.weight.T
    >>> Linear(2, 3, dtype=torch.float64)(torch.ones(3, dtype=torch.float64)).tolist()
    [3.0, 3.0]

    The examples of the methods are about the class `Linear` above.

    The generated constructor also takes `device` and `dtype`, by keyword. A class that writes its own `__init__` registers by
    assignment, as in any nn.Module.

    Raises:
        TypeError: an argument of the constructor is missing or unknown.
        DeclarationError: the class statement declares what cannot be generated.
    """

    _own_init_mixins: ClassVar[tuple[type, ...]] = (LabelledOwner,)

    if TYPE_CHECKING:
        # Arguments of the constructor. As attributes they have names of their own: a class may call anything `device`.
        _device_argument: _ConstructorOnly[DeviceLike] = constructor_argument(
            default=cast(Any, None), kw_only=True, alias="device"
        )
        _dtype_argument: _ConstructorOnly[torch.dtype | None] = constructor_argument(
            default=cast(Any, None), kw_only=True, alias="dtype"
        )

        # nn.Module declares both, which makes every attribute name right. Like this, only declared names are.
        __getattr__: ClassVar[NoOtherAttribute]  # type: ignore[assignment, misc] # narrower on purpose
        __setattr__: ClassVar[AssignsNoOther]  # type: ignore[assignment, misc] # narrower on purpose

        # Checkers make the constructor of a class from its fields; this is one of a `type[Module]`.
        def __init__(self, *args: Any, **keywords: Any) -> None: ...

    def __setstate__(self, state: Mapping[str, object]) -> None:
        super().__setstate__(state)  # type: ignore[no-untyped-call] # torch gives it no types
        if "_labelled" in state:
            from .labelled_attributes import restore

            restore(self)


if TYPE_CHECKING:

    class OpenModule(Module):
        """Module, to type checkers with attributes of any name, such as a class registers by strings. A misspelt one passes too.

        >>> class Mask(OpenModule):
        ...     def __init__(self) -> None:
        ...         super().__init__()
        ...         self.register_buffer("mask", torch.ones(2))
        >>> Mask().mask
        tensor([1., 1.])
        """

        def __getattr__(self, name: str) -> Any: ...  # type: ignore[override] # wider on purpose
        def __setattr__(self, name: str, value: Any) -> None: ...  # type: ignore[override] # wider on purpose

else:
    OpenModule = Module


def nograd_tensors(*names: str) -> Callable[[ModuleType], ModuleType]:
    """Class decorator: labelled tensors assigned to these attributes become buffers, not parameters.

    >>> @nograd_tensors("basis")
    ... class Model(Module):
    ...     def __init__(self) -> None:
    ...         super().__init__()
    ...         self.basis = LabelledTensor(torch.eye(2, dtype=torch.int64), ("site", "band"))
    >>> list(Model().state_dict())
    ['buffer:basis']

    A subclass inherits the names, and its own decorator adds to them.

    Raises:
        TypeError: what is decorated is not a Module class, or a name is not a string.
        ValueError: a name is not an identifier.
    """
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"nograd_tensors() takes names of attributes, got {name!r}")
        if not name.isidentifier():
            raise ValueError(f"nograd_tensors(): {name!r} is not the name of an attribute")

    def decorate(cls: ModuleType) -> ModuleType:
        if not (isinstance(cls, type) and issubclass(cls, Module)):
            raise TypeError(f"nograd_tensors() decorates a Module class, got {cls!r}")
        cls.__nograd_tensors__ = cls.__nograd_tensors__ | frozenset(names)
        return cls

    return decorate
