"""The base class of declared modules."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, cast

import torch
from torch import Tensor, nn

from .dispatch import Functional
from .fields import Specifier, field
from .metaclass import ModuleMeta
from .virtual import CACHE

if TYPE_CHECKING:
    from typing import Generic, Never, Protocol, TypeVar

    from torch.types import Device

    V = TypeVar("V")
    R_co = TypeVar("R_co", covariant=True)

    class _ConstructorOnly(Generic[V]):
        """A constructor argument that is no attribute."""

        def __get__(self, obj: Never, owner: type[object], /) -> Never: ...
        def __set__(self, obj: Never, value: V, /) -> None: ...

    class _HasForward(Protocol[R_co]):
        @property
        def forward(self) -> R_co: ...

    class _Call:
        """`module(x)` has the signature of `module.forward`."""

        def __get__(self, obj: _HasForward[R_co], owner: object = None, /) -> R_co: ...

        # pyright wants a callable class where a module is passed as a function, to torch.compile for instance.
        def __call__(self, *args: Any, **keywords: Any) -> Any: ...


class Module(nn.Module, Functional, metaclass=ModuleMeta):
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
    _specifiers: ClassVar[dict[str, Specifier]] = {}

    if TYPE_CHECKING:
        device: _ConstructorOnly[Device] = field(default=cast(Any, None), kw_only=True)
        dtype: _ConstructorOnly[torch.dtype | None] = field(default=cast(Any, None), kw_only=True)

        # nn.Module declares both, which makes every attribute name right. Cleared, only declared names are.
        __getattr__: ClassVar[None]  # type: ignore[assignment, misc] # cleared on purpose
        __setattr__: ClassVar[None]  # type: ignore[assignment, misc] # cleared on purpose
        __call__: ClassVar[_Call]  # type: ignore[misc] # narrower than nn.Module's Any

        def __init__(self) -> None: ...

        def reset_parameters(self) -> None:
            """Initialise the parameters and buffers that the class declares; submodules initialise themselves."""

    def extra_repr(self) -> str:
        """The constructor arguments, as `repr` shows them."""
        state = vars(self)
        return ", ".join(f"{name}={state[name]!r}" for name in self._config if name in state)

    def __getstate__(self) -> dict[str, object]:
        state = vars(self).copy()
        state.pop(CACHE, None)
        return state

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Module:
        vars(self).pop(CACHE, None)
        return cast(Module, super()._apply(fn, recurse))  # type: ignore[no-untyped-call] # torch gives it no types
