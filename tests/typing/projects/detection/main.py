"""Detection with per-item boxes: collate, match, evaluate."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any, Literal, NamedTuple, TypeAlias, TypedDict, Unpack, assert_type, cast, overload

import torch
from torch import Tensor
from torch.utils.data import DataLoader, Dataset

from detection.model import Boxes, Detector, Image, Label, Scored

Metric: TypeAlias = Callable[[Boxes, Boxes], Tensor]


class Options(TypedDict, total=False):
    channels: int
    scale: float


class Item(NamedTuple):
    image: Image
    boxes: Boxes


class Pack(NamedTuple):
    image: Image
    boxes: list[Boxes]


def collate(items: list[Item]) -> Pack:
    return Pack(Image.stack([one.image for one in items]), [one.boxes for one in items])


class Images(Dataset[Item]):
    def __init__(self, count: int) -> None:
        self.count = count

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> Item:
        boxes = Boxes(torch.rand(index + 1, 4), torch.ones(index + 1), batch_size=[index + 1])
        return Item(Image(torch.rand(3, 8, 8), [Label.CAT] * (index + 1)), boxes)


def build(**options: Unpack[Options]) -> Detector:
    return Detector(**options)


def iou(a: Boxes, b: Boxes) -> Tensor:
    return torch.minimum(a.area().sum(), b.area().sum()) / torch.maximum(a.area().sum(), b.area().sum()).clamp(min=1e-6)


@overload
def reduce(values: Iterable[Tensor], how: Literal["mean"]) -> float: ...
@overload
def reduce(values: Iterable[Tensor], how: Literal["all"]) -> Tensor: ...
def reduce(values: Iterable[Tensor], how: Literal["mean", "all"]) -> float | Tensor:
    stacked = torch.stack(list(values))
    return float(stacked.mean()) if how == "mean" else stacked


@contextmanager
def evaluating(model: Detector) -> Any:
    was = model.training
    model.eval()
    try:
        yield model
    finally:
        model.train(was)


def evaluate(model: Detector, images: Iterable[Pack], metrics: Mapping[str, Metric]) -> dict[str, float]:
    found: defaultdict[str, list[Tensor]] = defaultdict(list)
    with ExitStack() as stack:
        stack.enter_context(evaluating(model))
        stack.enter_context(torch.inference_mode())
        for batch in images:
            for predicted, wanted in zip(model(batch.image, threshold=0.3), batch.boxes, strict=True):
                for name, metric in metrics.items():
                    found[name].append(metric(predicted, wanted))
    return {name: reduce(values, "mean") for name, values in found.items()}


def best(candidates: list[Scored[Boxes]]) -> Boxes:
    return max(candidates, key=lambda one: float(one.score)).inner


def main() -> None:
    torch.manual_seed(0)
    model = build(channels=4, scale=2.0)
    data = Images(4)
    loader = DataLoader(data, batch_size=2, collate_fn=collate)
    for batch in loader:
        labels = itertools.chain.from_iterable(one.item() for one in batch.image.labels)
        print(batch.image.batch_size, [len(one) for one in batch.boxes], Counter(labels))
    metrics: dict[str, Metric] = {"iou": iou, "ratio": lambda a, b: a.area().mean() / b.area().mean()}
    print(sorted(evaluate(model, loader, metrics)))
    whole = collate([data[at] for at in range(3)])
    assert_type(whole.boxes[0], Boxes)
    moved = whole.image[1:]
    print(whole.boxes[0].scores.shape)
    print(len(moved.labels), whole.boxes[0].batch_size, moved.labels[0].item()[0].name, moved[0].labels)
    sized = [one for one in whole.boxes if len(one) > 1]
    print(len(sized))
    pair = Scored(whole.boxes[1], torch.tensor(0.5))
    assert_type(pair, Scored[Boxes])
    print(best([pair, Scored(whole.boxes[0], torch.tensor(0.9))]).batch_size)
    turned = whole.boxes[2] @ torch.eye(4)
    print(turned.area().shape, (turned.scores > 0).all().item())
    match turned:
        case Boxes(corners=corners, scores=scores) if len(scores):
            print(corners.shape)
        case _:
            print("none")
    config = model.get_config()
    again = Detector.from_config(cast(Any, {**config, "channels": 8}))
    print(again.channels, again.get_submodule("heads.corners"), model.grid.shape)


main()
