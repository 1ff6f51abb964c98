from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Self, TypeVar

import torch
from torch import Size, Tensor

from qten_gen.runtime.tensorclass.locks import Lock, LockChanges

A = TypeVar("A")

class Primitives:
    """Storage and methods of generated classes, which the runtime builds its public methods from."""

    __generated_init__: ClassVar[Callable[..., None]]
    _batch_size: Size
    _device: torch.device | None
    _names: tuple[str | None, ...] | None
    _lock: Lock | None
    _lock_changes: LockChanges
    _nested: ClassVar[dict[str, str]]
    _static: ClassVar[tuple[str, ...]]

    def _map(self, fn: Callable[[Tensor], Tensor]) -> Self: ...
    def _map_with(self, fn: Callable[[Tensor, A], Tensor], argument: A, device: torch.device | None) -> Self: ...
    def _rearrange(self, fn: Callable[[Tensor, A], Tensor], argument: A, batch_size: Size) -> Self: ...
    def _zip(self, fn: Callable[[Tensor, Tensor], Tensor], other: Self) -> Self: ...
    def _index_put(self, index: object, value: Self) -> None: ...
    def _join(
        self, fn: Callable[[list[Tensor], int], Tensor], items: Sequence[Self], dim: int, batch_size: Size
    ) -> Self: ...
    def _part(
        self, fn: Callable[[Tensor, A], Sequence[Tensor]], argument: A, batch_sizes: Sequence[Size]
    ) -> list[Self]: ...
    def _leaves(self) -> list[Tensor]: ...
    def _contents(self) -> tuple[tuple[Any, ...], tuple[Any, ...]]: ...
    def _refill(
        self, values: Sequence[Any], static: Sequence[Any], batch_size: Size, device: torch.device | None
    ) -> Self: ...
    def _to_dict(self) -> dict[str, object]: ...
