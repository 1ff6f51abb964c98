"""The base class of declared modules: the class tables and private attributes that the files of this room read."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

from torch import nn

if TYPE_CHECKING:
    from ...declaring.children import Submodule
    from ...declaring.derived import Derived, Virtual
    from ...declaring.fields import Buffer, Default, Parameter

VIRTUAL_CACHE = "_virtual_values"
"""The key in a module's instance dict under which it keeps the values of its cached virtual tensors."""


class ModuleBase(nn.Module):
    """An nn.Module with the tables that generated code and the metaclass fill in for each class.

    Functions below `DeclaredModule` take a ModuleBase. They read the tables from the class and the tensors from the registries
    of nn.Module (`_parameters`, `_buffers`, `_modules`).
    """

    _fields: ClassVar[tuple[str, ...]] = ()
    """Names of all fields in the order of declaration, inherited ones included. Written by generated code."""
    _config: ClassVar[tuple[str, ...]] = ()
    """Names of the fields that are constructor arguments. Written by generated code."""
    _aliases: ClassVar[dict[str, str]] = {}
    """Config fields whose arguments have other names, each with the name of its argument. Written when a class is made."""
    _tied: ClassVar[dict[str, str]] = {}
    """Parameters that are tied, each with the path of the parameter that it shares. Written when a class is made."""
    _groups: ClassVar[dict[str, str]] = {}
    """Parameters and children with a group of the optimizer. Written when a class is made."""
    _kept: ClassVar[tuple[str, ...]] = ()
    """Tensors and children whose dtypes no cast changes. Written when a class is made."""
    _dtype_device_source: ClassVar[str | None] = None
    """Name of the parameter or buffer whose dtype and device virtual tensors follow; None: the first floating tensor.
    Written by generated code."""
    _foreign_init: ClassVar[Callable[[nn.Module], None] | None] = None
    """The `__init__` of a base from another library, such as LightningModule, which a generated `__init__` calls in place of
    nn.Module's. Written when a class is made."""
    _declared_reset: ClassVar[Callable[..., None] | None] = None
    """The `reset_parameters` of the class statement. Where the class has another one later, somebody skips initialisation.
    Written when a class is made."""
    _own_init_mixins: ClassVar[tuple[type, ...]] = ()
    """Bases that the metaclass adds to a class with an `__init__` of its own, which registers by assignment."""

    _writes_init: ClassVar[bool] = False
    """Whether the class or a base of it has an `__init__` that was written by hand. Written when a class is made."""

    # `typing.get_type_hints` evaluates what stands outside of this block, and finds no name that is imported for checkers.
    if TYPE_CHECKING:
        _specifiers: ClassVar[dict[str, Parameter | Buffer | Submodule | Virtual[object] | Derived]]
        """The record of each `param`, `buffer`, `submodule`, `derived` and `virtual`, inherited ones included. Written by the
        metaclass."""
        _defaults: ClassVar[dict[str, Default]]
        _version: int
        # Any in the types, because torch's containers say dict[str, Module] and nn.Module dict[str, Module | None].
        _parameters: dict[str, Any]
        _buffers: dict[str, Any]
        _modules: dict[str, Any]

        # Generated code says the type of an inherited field.

        def __getattr__(self, name: str) -> Any: ...
    else:
        _specifiers = {}

    def __init_subclass__(cls, **keywords: object) -> None:
        super().__init_subclass__(**keywords)
        foreign = [base for base in cls.__mro__ if issubclass(base, nn.Module) and not issubclass(base, ModuleBase)]
        # The last of them is nn.Module itself.
        cls._foreign_init = next((vars(base)["__init__"] for base in foreign[:-1] if "__init__" in vars(base)), None)
        version = vars(cls).get("version")
        # A class may use the name for something else, such as a buffer.
        if isinstance(version, int):
            cls._version = version
