"""Images with any number of objects, and a network that finds them by the cell of a grid in which their centre lies."""

from typing import Any, overload

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional

from qten_gen import Module, ModuleList, Ragged, TensorClass, submodule, virtual


class Objects(TensorClass):
    """Objects: left, top, right and bottom in pixels, and of which kind each is."""

    boxes: Float[Tensor, "*batch 4"]
    labels: Int[Tensor, "*batch"]


class Found(Objects):
    """Objects that a detector has found."""

    scores: Float[Tensor, "*batch"]


class Scene(TensorClass):
    """An image and what is on it, or a batch of both."""

    image: Float[Tensor, "*batch 3 side side"]
    objects: Ragged[Objects]


class Cells(TensorClass):
    """For each cell of the grids: a box, and a logit for each kind of object whose centre may be there."""

    boxes: Float[Tensor, "*batch 4"]
    logits: Float[Tensor, "*batch kinds"]

    def found(self, least: float = 0.4) -> Ragged[Found]:
        """The objects of each image with at least that score, without those that a better one covers."""
        scores, labels = self.logits.sigmoid().max(-1)
        cells = Found(self.boxes, labels, scores, batch_size=self.batch_size).flatten(1)
        return suppressed(Ragged.from_padded(cells, cells.scores >= least))


class Layer(Module):
    """A convolution, normalised."""

    inputs: int
    outputs: int
    stride: int = 1
    convolution: nn.Conv2d = submodule(nn.Conv2d, "inputs", "outputs", 3, "stride", 1, bias=False)
    norm: nn.BatchNorm2d = submodule(nn.BatchNorm2d, "outputs")

    def forward(self, x: Tensor) -> Tensor:
        return functional.relu(self.norm(self.convolution(x)))


class Detector(Module):
    """Finds objects on square images. Each of three layers halves the side, so that a cell has eight pixels."""

    side: int = 64
    kinds: int = 3
    width: int = 24

    first: Layer = submodule(Layer, 3, "width", stride=2)
    second: Layer = submodule(Layer, "width", "width", stride=2)
    third: Layer = submodule(Layer, "width", "width", stride=2)
    around: ModuleList[Layer] = submodule(Layer, "width", "width", repeat=2)
    distances: nn.Conv2d = submodule(nn.Conv2d, "width", 4, 1)
    logits: nn.Conv2d = submodule(nn.Conv2d, "width", "kinds", 1)

    @virtual(cached=True)
    def centres(self, dtype: torch.dtype, device: torch.device) -> Tensor:
        """The centre of each cell as a box without size, of shape `(side // 8, side // 8, 4)`."""
        middle = torch.arange(4, self.side, 8, dtype=dtype, device=device)
        y, x = torch.meshgrid(middle, middle, indexing="ij")
        return torch.stack([x, y, x, y], dim=-1)

    @overload
    def forward(self, images: Tensor) -> Cells: ...
    @overload
    def forward(self, images: Scene) -> Tensor: ...
    def forward(self, images: Any) -> Any:
        x = self.third(self.second(self.first(images - 0.5)))
        for layer in self.around:
            x = layer(x)
        left, top, right, bottom = functional.softplus(self.distances(x)).mul(8).unbind(1)
        boxes = self.centres + torch.stack([-left, -top, right, bottom], dim=-1)
        return Cells(boxes, self.logits(x).movedim(1, -1) - 4, batch_size=boxes.shape[:3])


@Detector.register(Scene)
def _(detector: Detector, scenes: Scene) -> Tensor:
    """The loss: each object has to be found in the cell where its centre lies, and nothing in any other."""
    cells, objects = detector(scenes.image), scenes.objects.rows
    column, row = ((objects.boxes[:, :2] + objects.boxes[:, 2:]) / 16).long().unbind(1)
    image = scenes.objects.item_index
    wanted = torch.zeros_like(cells.logits)
    wanted[image, row, column, objects.labels] = 1
    missed = 1 - overlap(cells[image, row, column].boxes, objects.boxes)
    wrong = functional.binary_cross_entropy_with_logits(cells.logits, wanted, reduction="sum")
    return (missed.sum() + wrong) / len(scenes)


def overlap(a: Tensor, b: Tensor) -> Tensor:
    """The area of the intersection of boxes, divided by that of their union."""
    corner, opposite = a[..., :2].maximum(b[..., :2]), a[..., 2:].minimum(b[..., 2:])
    both = (opposite - corner).clamp(min=0).prod(-1)
    return both / ((a[..., 2:] - a[..., :2]).prod(-1) + (b[..., 2:] - b[..., :2]).prod(-1) - both)


def suppressed(found: Ragged[Found], most: float = 0.5) -> Ragged[Found]:
    """The objects that no better one of the same image covers, for all images at once."""
    image, boxes = found.item_index, found.rows.boxes
    rivals = (overlap(boxes[:, None], boxes) > most) & (image[:, None] == image)
    keep = torch.ones_like(image, dtype=torch.bool)
    order = found.rows.scores.argsort(descending=True)
    for place, row in enumerate(order):
        keep[order[place + 1 :]] &= ~(rivals[row] & keep[row])[order[place + 1 :]]
    return found.keep_rows(keep)
