"""Train the detector and draw what it finds: `python -m detector.train` in the folder `examples`. A stopped training goes on."""

import sys
from collections.abc import Iterator
from pathlib import Path

import torch
from torch.utils.data import DataLoader

from qten_gen import Ragged

from .data import Scenes
from .model import Detector, Found, Objects, Scene, overlap
from .picture import picture


def train(detector: Detector, scenes: Scenes, epochs: int, file: Path) -> Iterator[tuple[int, float]]:
    """Train the detector in-place, starting from `file` if an earlier run saved it, and yield each epoch with its mean loss."""
    optimizer = torch.optim.AdamW(detector.parameters(), lr=0.01)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs)
    if file.exists():
        saved = torch.load(file)
        detector.load_state_dict(saved["detector"])
        optimizer.load_state_dict(saved["optimizer"])
        schedule.load_state_dict(saved["schedule"])
    for epoch in range(schedule.last_epoch, epochs):
        order = torch.Generator().manual_seed(epoch)
        loader: DataLoader[Scene] = DataLoader(scenes, batch_size=8, shuffle=True, num_workers=2, generator=order)
        losses = []
        for batch in loader:
            loss = detector(batch)
            optimizer.zero_grad()
            torch.autograd.backward(loss)
            optimizer.step()
            losses.append(loss.item())
        schedule.step()
        states = {
            "detector": detector.state_dict(),
            "optimizer": optimizer.state_dict(),
            "schedule": schedule.state_dict(),
        }
        torch.save(states, file)
        yield epoch + 1, sum(losses) / len(losses)


def score(found: Ragged[Found], true: Ragged[Objects]) -> tuple[float, float]:
    """How many of the objects were found, and how much of what was found is right."""
    same_image = found.item_index[:, None] == true.item_index
    same_kind = found.rows.labels[:, None] == true.rows.labels
    right = same_image & same_kind & (overlap(found.rows.boxes[:, None], true.rows.boxes) > 0.5)
    return right.any(0).double().mean().item(), right.any(1).double().mean().item()


def main(folder: Path, epochs: int = 8, images: int = 800) -> None:
    torch.manual_seed(0)
    detector = Detector()
    for epoch, loss in train(detector, Scenes(images), epochs, folder / "detector.pt"):
        print(f"epoch {epoch}  loss {loss:.2f}  {'#' * round(8 * loss)}", flush=True)

    held_out = Scenes(200, first=10_003)
    scenes = Scene.stack([held_out[index] for index in range(len(held_out))])
    with torch.no_grad():
        found = detector.eval()(scenes.image).found()
    recall, precision = score(found, scenes.objects)
    print(f"\n{scenes.objects.lengths.sum()} objects on {len(scenes)} images that were held out:")
    print(f"{recall:.0%} of them are found, and {precision:.0%} of what is found is right")
    (folder / "detector.svg").write_text(picture(scenes[:8], found[:8]))
    print(f"Boxes of eight images: {folder / 'detector.svg'}")


if __name__ == "__main__":
    # The images are small. On a busy machine, threads would wait for each other longer than they compute.
    torch.set_num_threads(1)
    main(Path(*sys.argv[1:]))
