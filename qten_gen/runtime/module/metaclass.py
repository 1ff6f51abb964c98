"""The metaclass of Module: bases for assignment, and where virtual tensors stand."""

from __future__ import annotations

from dataclasses import field as dataclass_field
from typing import TYPE_CHECKING, cast, dataclass_transform

from torch import nn

from ...common import language
from ..declaring import generator
from ..declaring.fields import Virtual, buffer, field, param, submodule, virtual
from ..declaring.metaclass import DeclarationMeta
from .core.module_base import ModuleBase
from .dispatch import reconnect
from .virtual_cache import getter

if TYPE_CHECKING:
    from ..declaring.generator import ClassStatement, Declaration, ModuleDecl


@dataclass_transform(field_specifiers=(field, dataclass_field, param, buffer, submodule, virtual), eq_default=False)
class ModuleMeta(DeclarationMeta):
    """Metaclass of Module."""

    _known_words = (language.INIT,)

    if TYPE_CHECKING:
        # Checkers hold the keywords of a class statement against this.
        def __new__(
            mcls, name: str, bases: tuple[type, ...], namespace: dict[str, object], /, *, init: bool = True
        ) -> ModuleMeta: ...

    # Hidden from checkers, for which it would make every attribute of a class assignable.
    if not TYPE_CHECKING:

        def __setattr__(cls, name: str, value: object) -> None:
            super().__setattr__(name, value)
            if name == "forward":
                reconnect(cls)

        def __delattr__(cls, name: str) -> None:
            super().__delattr__(name)
            if name == "forward":
                reconnect(cls)

    @staticmethod
    def _read_declaration(statement: ClassStatement) -> ModuleDecl:
        return generator.read_module(statement)

    @staticmethod
    def _mixins(declaration: Declaration, bases: tuple[type, ...]) -> tuple[type, ...]:
        """Classes that write their own `__init__` register by assignment, and have bases for that."""
        if not cast("ModuleDecl", declaration).custom_init:
            return ()
        declared = next(base for base in bases if issubclass(base, ModuleBase))
        return tuple(mixin for mixin in declared._own_init_mixins if not any(issubclass(base, mixin) for base in bases))

    def _complete_class(cls) -> None:
        """Virtual tensors move to the declaration, a base of another library keeps its `device`, `reset_parameters` is noted.

        `super()` in the functions of virtual tensors must reach the parent's, not their own.
        """
        _keep_device(cast("type[ModuleBase]", cls))
        type.__setattr__(cls, "_declared_reset", getattr(cls, "reset_parameters", None))
        generated = next(base for base in cls.__bases__ if "_fingerprint" in vars(base))
        for name, value in list(vars(generated).items()):
            specifier = cls._specifiers.get(name)
            if isinstance(specifier, Virtual):
                if specifier.cached:
                    value = property(getter(cast("type[ModuleBase]", cls), name), doc=value.__doc__)
                    value.__set_name__(cls, name)  # type: ignore[attr-defined] # the typeshed does not know it
                type.__setattr__(cls, name, value)
                delattr(generated, name)


def _keep_device(cls: type[ModuleBase]) -> None:
    """Give a class the `device` of a base from another library, such as LightningModule, whose methods expect a torch.device."""
    definer = next((base for base in cls.__mro__ if "device" in vars(base)), None)
    if definer is None or definer.__module__.partition(".")[0] != "qten_gen":
        return
    for base in cls.__mro__:
        if "device" in vars(base) and issubclass(base, nn.Module) and not issubclass(base, ModuleBase):
            type.__setattr__(cls, "device", vars(base)["device"])
            return
