"""A model whose handlers are chosen by type."""

from torch import Tensor, nn

from qten_gen import Module, TensorClass, submodule


class Sound(TensorClass):
    """Recordings of shape `(*batch, samples)`."""

    wave: Tensor


class Labelled(TensorClass):
    """Recordings, and who speaks in them."""

    sound: Sound
    speaker: Tensor


class Listener(Module):
    """Recognises who speaks."""

    samples: int
    speakers: int = 8
    head: nn.Linear = submodule(nn.Linear, "samples", "speakers")


@Listener.register(Sound)
def _(listener: Listener, sound: Sound) -> Tensor:
    """The scores of the speakers."""
    return listener.head(sound.wave)


@Listener.register(Labelled)
def _(listener: Listener, labelled: Labelled) -> Tensor:
    """The loss."""
    return nn.functional.cross_entropy(listener(labelled.sound), labelled.speaker)
