"""The ground class of declared modules: the class tables and private attributes that the files of this room read."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

from torch import nn

from ...declaring.fields import Default, Specifier

if TYPE_CHECKING:
    from torch import Tensor

VIRTUAL_CACHE = "_derived"
"""The key in a module's instance dict under which it keeps the values of its cached virtual tensors."""


class ModuleBase(nn.Module):
    """An nn.Module with the tables that generated code and the metaclass fill in for each class.

    Functions below `DeclaredModule` take a ModuleBase. They read the tables from the class and the tensors from the registries
    of nn.Module (`_parameters`, `_buffers`, `_modules`).
    """

    _fields: ClassVar[tuple[str, ...]] = ()
    """Names of all fields in the order of declaration, inherited ones included. Written by generated code."""
    _config: ClassVar[tuple[str, ...]] = ()
    """Names of the constructor arguments. Written by generated code."""
    _tied: ClassVar[dict[str, str]] = {}
    """Parameters that are tied, each with the path of the parameter that it shares. Written by generated code."""
    _dtype_device_source: ClassVar[str | None] = None
    """Name of the parameter or buffer whose dtype and device virtual tensors follow; None: the first floating tensor.
    Written by generated code."""
    _specifiers: ClassVar[dict[str, Specifier]] = {}
    """The record of each `param`, `buffer`, `submodule` and `virtual`, inherited ones included. Written by the metaclass."""
    _extends_torch: ClassVar[bool] = True
    """Whether nn.Module follows ModuleBase in the method resolution order. With another class in between, the fast paths
    leave `super()` to that class. Written when a class is made."""
    _foreign_init: ClassVar[Callable[[nn.Module], None] | None] = None
    """The `__init__` of a base from another library, such as LightningModule, which a generated `__init__` calls in place of
    nn.Module's. Written when a class is made."""
    _declared_reset: ClassVar[Callable[..., None] | None] = None
    """The `reset_parameters` of the class statement. Where the class has another one later, somebody skips initialisation.
    Written when a class is made."""
    _own_init_mixins: ClassVar[tuple[type, ...]] = ()
    """Bases that the metaclass adds to a class with an `__init__` of its own, which registers by assignment."""

    version: ClassVar[int] = 1
    """Version of the names in the state dict. Raise it when `migrate` has to bring older ones up to date."""

    if TYPE_CHECKING:
        _defaults: ClassVar[dict[str, Default]]
        # Generated code says the type of what it reads from the registries, and of inherited fields.
        _parameters: dict[str, Any]
        _buffers: dict[str, Any]
        _modules: dict[str, Any]

        def __getattr__(self, name: str) -> Any: ...

    def __init_subclass__(cls, **keywords: object) -> None:
        super().__init_subclass__(**keywords)
        cls._extends_torch = cls.__mro__[cls.__mro__.index(ModuleBase) + 1] is nn.Module
        foreign = [base for base in cls.__mro__ if issubclass(base, nn.Module) and not issubclass(base, ModuleBase)]
        cls._foreign_init = next((vars(base)["__init__"] for base in foreign[:-1] if "__init__" in vars(base)), None)
        if "version" in vars(cls):
            cls._version = cls.version

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
