"""Train the classifier and evaluate it on held-out digits: run `python -m digits.train` in the folder `examples`."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import torch
from torch.utils.data import DataLoader

from .data import OneByOne, load
from .model import Classifier, Digits


def train(classifier: Classifier, digits: Digits, epochs: int) -> Iterator[float]:
    """Train the classifier in-place, and yield the mean loss of each epoch."""
    classifier.average.copy_(digits.images.mean(0))
    optimizer = torch.optim.AdamW(classifier.parameters(), lr=0.01)
    for _ in range(epochs):
        losses = []
        batch: Digits
        for batch in DataLoader(OneByOne(digits), batch_size=64, shuffle=True):
            loss = classifier(batch).loss
            optimizer.zero_grad()
            torch.autograd.backward(loss)
            optimizer.step()
            losses.append(loss.item())
        yield sum(losses) / len(losses)


def save_and_load(classifier: Classifier) -> Classifier:
    """A new classifier, loaded from the saved parameters and buffers of another."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "classifier.pt"
        torch.save(classifier.state_dict(), path)
        loaded = Classifier()
        loaded.load_state_dict(torch.load(path))
    return loaded


def main() -> None:
    torch.manual_seed(0)
    training, held_out = load(held_out=450)
    print(f"{len(training)} {training.subset} digits, {len(held_out)} {held_out.subset}\n")

    classifier = Classifier()
    for epoch, loss in enumerate(train(classifier, training, epochs=10), start=1):
        print(f"epoch {epoch:2}  loss {loss:.3f}  {'#' * round(30 * loss)}")

    with torch.no_grad():
        answers = save_and_load(classifier)(held_out)
    print(f"\nheld-out accuracy {answers.right.double().mean():.1%}, after saving and loading; of the mistakes")
    for answer in answers[~answers.right][:3]:
        print(f"  {answer.digits.labels.item()} was read as {answer.scores.argmax().item()}")


if __name__ == "__main__":
    main()
