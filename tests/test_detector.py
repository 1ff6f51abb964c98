"""The example `detector`: it learns, goes on where it was stopped, and draws what it finds."""

from __future__ import annotations

import base64
import re
import zlib
from pathlib import Path

import pytest
import torch
from detector.data import Scenes
from detector.model import Detector, Found, Scene, suppressed
from detector.train import main, train
from torch import Tensor

from qten_gen import Ragged

FOLDER = Path(__file__).parents[1] / "examples" / "detector"


@pytest.fixture(scope="module")
def svg(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The picture after a short training."""
    folder = tmp_path_factory.mktemp("detector")
    main(folder, epochs=1, images=16)
    return (folder / "detector.svg").read_text()


def pixels(svg: str) -> list[Tensor]:
    """The pixels of each image in a picture; each release of zlib may compress them differently."""
    files = [base64.b64decode(data) for data in re.findall(r"base64,([^\"]+)", svg)]
    lines = [zlib.decompressobj().decompress(file[file.index(b"IDAT") + 4 :]) for file in files]
    return [torch.tensor(list(line)) for line in lines]


def test_the_detector_learns(tmp_path: Path) -> None:
    torch.manual_seed(0)
    detector = Detector(width=16)
    losses = [loss for _, loss in train(detector, Scenes(80), 3, tmp_path / "detector.pt")]
    assert losses[-1] < 0.8 * losses[0]


def test_a_training_that_was_stopped_goes_on_as_if_it_had_not_been(tmp_path: Path) -> None:
    torch.manual_seed(0)
    whole, stopped, other = Detector(width=8), Detector(width=8), Detector(width=8)
    stopped.load_state_dict(whole.state_dict())
    losses = list(train(whole, Scenes(24), 3, tmp_path / "whole.pt"))
    first = next(train(stopped, Scenes(24), 3, tmp_path / "stopped.pt"))
    assert [first, *train(other, Scenes(24), 3, tmp_path / "stopped.pt")] == losses
    assert all(map(torch.equal, other.state_dict().values(), whole.state_dict().values()))


def test_images_without_objects_are_learnt_from(tmp_path: Path) -> None:
    scenes = [scene for scene in map(Scenes(40).__getitem__, range(40)) if not scene.objects.lengths]
    assert scenes
    detector = Detector(width=8)
    torch.autograd.backward(detector(Scene.stack(scenes)))
    assert detector.logits.weight.grad is not None and detector.logits.weight.grad.isfinite().all()


def test_a_box_is_suppressed_by_a_better_one_of_its_image_only() -> None:
    boxes = torch.tensor([[0.0, 0, 8, 8], [0, 0, 8, 7], [0, 0, 9, 8], [20, 20, 30, 30], [0, 0, 8, 8]])
    found = Found(boxes, torch.arange(5), torch.tensor([0.7, 0.9, 0.8, 0.5, 0.4]), batch_size=5)
    kept = suppressed(Ragged(found, [4, 0, 1]))
    assert (kept.rows.labels.tolist(), kept.lengths.tolist()) == ([1, 3, 4], [2, 0, 1])


def test_the_picture_in_the_repository_is_the_program_s(svg: str) -> None:
    committed = (FOLDER / "detector.svg").read_text()
    for mine, theirs in zip(pixels(svg), pixels(committed), strict=True):
        assert (mine - theirs).abs().max() <= 1
    true_boxes = re.findall(".*stroke-dasharray.*", svg)
    assert true_boxes and re.findall(".*stroke-dasharray.*", committed) == true_boxes
    assert len(re.findall("<text.*%</text>", committed)) >= 0.8 * len(true_boxes)


@pytest.mark.parametrize("name", ["decoder", "detector"])
def test_the_page_of_an_example_shows_lines_of_it(name: str) -> None:
    folder = FOLDER.parent / name
    blocks = re.findall(r"```python\n(.*?)```", (folder / "README.md").read_text(), re.DOTALL)
    program = "".join(path.read_text() for path in folder.glob("*.py"))
    assert blocks and [block for block in blocks if block not in program] == []
