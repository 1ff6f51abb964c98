"""Module: the base class of declared modules, with logical devices and labelled tensors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, cast

from ..module.metaclass import ModuleMeta
from .labelled_assignment import LabelledOwner
from .module_methods import ModuleMethods

ModuleType = TypeVar("ModuleType", bound="type[Module]")
"""A subclass of Module, as a class decorator takes and returns it."""

if TYPE_CHECKING:
    from typing import Generic, Never

    import torch
    from qten_gen_typing import AssignsNoOther, NoOtherAttribute
    from torch.types import Device as DeviceLike

    from ..declaring.fields import constructor_argument

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

        def __init__(self) -> None: ...

    def __setstate__(self, state: Mapping[str, object]) -> None:
        super().__setstate__(state)  # type: ignore[no-untyped-call] # torch gives it no types
        if "_labelled" in state:
            from .labelled_attributes import restore

            restore(self)


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
