"""Handlers take the functional and an object of the registered type."""

from module_declared import Attention, Cross
from torch import Tensor, nn

from qten_gen import Functional


class Batch:
    rows: Tensor


class Ragged(Batch):
    lengths: Tensor


class Area(Functional):
    unit: float


@Attention.register(Batch)
def _(attention: Attention, batch: Batch) -> Tensor:
    return attention(batch.rows)


@Cross.register(Batch)
def _(cross: Cross, batch: Batch, *, offset: int = 1) -> Tensor:
    return cross(batch.rows, offset=offset)


@Attention.register(Ragged)
def wider(module: nn.Module, batch: Batch) -> None: ...


@Area.register(int)
def _(area: Area, side: int) -> float:
    return area.unit * side**2


wider(Attention(4), Ragged())
Attention(4).allows(Batch())
Area.get_applicable_types()
Area()(3)
Area().invoke(3, unit=2)


@Attention.register(Batch)  # E
def _(attention: Attention, batch: Tensor) -> Tensor:
    return batch


@Attention.register(Batch)  # E
def _(cross: Cross, batch: Batch) -> Tensor:
    return batch.rows


@Attention.register(Batch)  # E
def _(attention: Attention) -> Tensor:
    return attention.scale


Attention.register("Batch")  # E
Attention.register()  # E
wider(Attention(4), 3)  # E
