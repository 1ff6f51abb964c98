from collections.abc import Sequence
from typing import Never, overload

import torch

class BatchSizeField:
    """`batch_size`: given and set as a number, a sequence or None, read as `torch.Size`."""

    @overload
    def __get__(self, obj: None, owner: type[object], /) -> BatchSizeField: ...
    @overload
    def __get__(self, obj: object, owner: type[object] | None = None, /) -> torch.Size: ...
    def __set__(self, obj: object, value: int | Sequence[int] | None, /) -> None: ...

class DeviceField:
    """`device`: given to the constructor only, read as `torch.device` or None."""

    @overload
    def __get__(self, obj: None, owner: type[object], /) -> DeviceField: ...
    @overload
    def __get__(self, obj: object, owner: type[object] | None = None, /) -> torch.device | None: ...
    def __set__(self, obj: Never, value: torch.device | str | int | None, /) -> None: ...

class NamesField:
    """`names`: given and set as a sequence of names or None, read as a tuple."""

    @overload
    def __get__(self, obj: None, owner: type[object], /) -> NamesField: ...
    @overload
    def __get__(self, obj: object, owner: type[object] | None = None, /) -> tuple[str | None, ...]: ...
    def __set__(self, obj: object, value: Sequence[str | None] | None, /) -> None: ...

class LockField:
    """`lock`: given to the constructor only; there is no such attribute."""

    @overload
    def __get__(self, obj: None, owner: type[object], /) -> LockField: ...
    @overload
    def __get__(self, obj: Never, owner: type[object] | None = None, /) -> Never: ...
    def __set__(self, obj: Never, value: bool, /) -> None: ...
