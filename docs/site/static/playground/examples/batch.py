"""Photos: tensors that share their first dimensions."""

from torch import Tensor

from qten_gen import PerItem, TensorClass


class Boxes(TensorClass):
    """The boxes around what an image shows."""

    corners: Tensor
    scores: Tensor | None = None


class Photos(TensorClass, frozen=True):
    """Photos with what is known of them."""

    pixels: Tensor
    boxes: Boxes
    caption: PerItem[str]
    camera: str = "unknown"

    @property
    def brightness(self) -> Tensor:
        return self.pixels.mean(dim=(-3, -2, -1))
