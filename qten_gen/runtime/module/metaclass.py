"""The metaclass of Module: who takes assignments, and where virtual tensors stand."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, cast, dataclass_transform

from ..declaring.fields import Virtual, buffer, field, param, submodule, virtual
from ..declaring.metaclass import DeclarationMeta
from ..qten_style.ownership import LabelledOwner
from .cached_virtual import getter

if TYPE_CHECKING:
    from ...model import Declaration
    from ...reflection import ClassStatement
    from .module import Module


@dataclass_transform(field_specifiers=(field, param, buffer, submodule, virtual), eq_default=False)
class ModuleMeta(DeclarationMeta):
    """Metaclass of Module."""

    if TYPE_CHECKING:
        # Checkers hold the keywords of a class statement against this.
        def __new__(
            mcls, name: str, bases: tuple[type, ...], namespace: dict[str, object], *, init: bool = True
        ) -> ModuleMeta: ...

    @staticmethod
    def _read(statement: ClassStatement) -> Declaration:
        declaration: Declaration = import_module("qten_gen.reflection").read_module(statement)
        return declaration

    @staticmethod
    def _further_bases(declaration: Declaration, bases: tuple[type, ...]) -> tuple[type, ...]:
        """Classes that write their own `__init__` register by assignment, so those take any assignment."""
        owns = declaration.custom_init and not any(issubclass(base, LabelledOwner) for base in bases)
        return (LabelledOwner,) if owns else ()

    def _complete(cls) -> None:
        """Virtual tensors move to the declaration: `super()` in their functions must reach the parent's, not their own."""
        part = next(base for base in cls.__bases__ if "_fingerprint" in vars(base))
        for name, value in list(vars(part).items()):
            specifier = cls._specifiers.get(name)
            if isinstance(specifier, Virtual):
                if specifier.cached:
                    value = property(getter(cast("type[Module]", cls), name), doc=value.__doc__)
                    value.__set_name__(cls, name)  # type: ignore[attr-defined] # the typeshed does not know it
                type.__setattr__(cls, name, value)
                delattr(part, name)
