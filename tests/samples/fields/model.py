"""A TensorClass with a field of each kind, for whoever reads what a kind is generated as."""

from torch import Tensor

from qten_gen import PerItem, TensorClass, Unbatched, field


class Box(TensorClass):
    """Nested in the other."""

    corners: Tensor


class Scene(TensorClass):
    """A field of each kind, and those of them that may be None."""

    image: Tensor
    depth: Tensor | None = None
    box: Box | None = None
    masks: list[Tensor] = field(default_factory=list)
    heads: dict[str, Tensor] | None = None
    palette: Unbatched[Tensor | None] = None
    labels: PerItem[str] | None = None
    camera: str = "front"
