"""Module: the base class of declared modules, with logical devices and labelled tensors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, cast

import torch
from torch import nn

from ..declaring.fields import field
from ..module.declared_module import DeclaredModule
from ..module.metaclass import ModuleMeta
from . import labelled_attributes
from .devices import Device, resolved
from .frozen_dict import FrozenDict
from .labelled import LabelledTensor
from .labelled_attributes import LabelledAssignment, LabelledOwner

ModuleType = TypeVar("ModuleType", bound="type[Module]")
"""A subclass of Module, as a class decorator takes and returns it."""

if TYPE_CHECKING:
    from typing import Generic, Never, Self

    from torch.types import Device as DeviceLike

    V = TypeVar("V")

    class _ConstructorOnly(Generic[V]):
        """A constructor argument that is not an attribute."""

        def __get__(self, obj: Never, owner: type[object], /) -> Never: ...
        def __set__(self, obj: Never, value: V, /) -> None: ...

    class _DeviceArgument:
        """`device=` of the constructor is what torch takes; the attribute is a logical device."""

        def __get__(self, obj: nn.Module, owner: type[object], /) -> Device: ...
        def __set__(self, obj: Never, value: DeviceLike, /) -> None: ...


class Module(DeclaredModule, LabelledAssignment, metaclass=ModuleMeta):
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
        device: _DeviceArgument = field(  # pyright: ignore[reportIncompatibleMethodOverride] # read, it is the same
            default=cast(Any, None), kw_only=True
        )
        dtype: _ConstructorOnly[torch.dtype | None] = field(default=cast(Any, None), kw_only=True)

        # nn.Module declares both, which makes every attribute name right. Cleared, only declared names are.
        __getattr__: ClassVar[None]  # type: ignore[assignment, misc] # cleared on purpose
        __setattr__: ClassVar[None]  # type: ignore[assignment, misc] # cleared on purpose

        def __init__(self) -> None: ...

    else:

        @property
        @torch.jit.unused
        def device(self):
            """Where the module's first tensor is; without tensors, where the module was last moved to, else the default."""
            return labelled_attributes.device(self)

    def to_device(self, device: Device) -> Self:
        """Move the module and everything in it to `device`, and return the module itself.

        >>> Linear(2, 3).to_device(Device("meta")).weight.device
        device(type='meta')

        Raises:
            TypeError: `device` is not a Device.
            RuntimeError: a gpu, and the machine has none.
        """
        self.to(resolved(device))
        for module in self.modules():
            if isinstance(module, Module):
                vars(module)[labelled_attributes.MOVED_TO] = device
        return self

    def cpu(self) -> Self:
        """Move the module to the cpu, and return the module itself.

        >>> Linear(2, 3).cpu().device
        Device(name='cpu', index=None)
        """
        return self.to_device(Device("cpu"))

    def gpu(self, index: int | None = None) -> Self:
        """Move the module to a gpu, the one with the given index or else the current one, and return the module itself.

        Raises:
            RuntimeError: the machine has none.
        """
        return self.to_device(Device("gpu", index))

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
        value = getattr(self, name)
        if not isinstance(value, LabelledTensor):
            raise TypeError(f"{type(self).__name__}.{name} is not a LabelledTensor but {type(value).__name__}")
        return value.detach().clone()

    def export_all(self) -> FrozenDict[str, LabelledTensor]:
        """`export` for every public labelled tensor in the module and its children, by dotted name.

        >>> class Model(Module):
        ...     def __init__(self) -> None:
        ...         super().__init__()
        ...         self.weight = LabelledTensor(torch.ones(2), ("site",))
        >>> Model().export_all()
        FrozenDict({'weight': LabelledTensor(tensor([1., 1.]), dims=('site',))})
        """
        found: dict[str, LabelledTensor] = {}
        for prefix, module in self.named_modules(remove_duplicate=False):
            for name in labelled_attributes.names(module):
                if isinstance(module, Module) and not name.startswith("_"):
                    found[f"{prefix}.{name}" if prefix else name] = module.export(name)
        return FrozenDict(found)

    def __setstate__(self, state: Mapping[str, object]) -> None:
        super().__setstate__(state)  # type: ignore[no-untyped-call] # torch gives it no types
        labelled_attributes.restore(self)


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
