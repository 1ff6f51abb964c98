"""What a declaration is made of stands under no condition; then what may, of which nothing is printed."""

import sys
import typing
from typing import TYPE_CHECKING, ClassVar

from qten_gen import Module, TensorClass, buffer, virtual
from torch import Tensor


class Batch(TensorClass):
    x: Tensor
    if FLAG:
        a: Tensor
    if FLAG: b: Tensor
    if not TYPE_CHECKING:
        c: Tensor
    if TYPE_CHECKING:
        pass
    else:
        d: Tensor
    if sys.version_info >= (3, 12):
        pass
    elif FLAG:
        e: Tensor
    try:
        f: Tensor
    except ImportError:
        g: Tensor
    try:
        pass
    finally:
        h: Tensor
    with manager():
        if FLAG:
            i: Tensor
    for _ in range(1):
        j: Tensor
    match FLAG:
        case 1:
            k: Tensor
    if TYPE_CHECKING:
        l: Tensor
    if typing.TYPE_CHECKING:
        if FLAG:
            m: Tensor
    if FLAG:
        def __post_init__(self) -> None: ...


class Net(Module):
    if FLAG:
        def forward(self) -> None: ...
        scale: Tensor = buffer()
        @virtual
        def mask(self) -> Tensor: ...


# From here on nothing is wrong.


class Right(TensorClass):
    x: Tensor
    if FLAG:
        LIMIT = 3
        names: ClassVar[list[str]] = []
        def shown(self) -> str: ...
    if TYPE_CHECKING:
        def __init__(self, x: Tensor) -> None: ...


class WithConstructor(Module):
    if TYPE_CHECKING:
        ready: bool

    def __init__(self) -> None:
        super().__init__()
