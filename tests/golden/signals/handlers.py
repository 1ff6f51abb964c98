"""What modules do with batches."""

from __future__ import annotations

from collections.abc import Sequence

from . import models
from .models import Encoder, Loud, Silent, Sound, Speech


@Encoder.register(Sound)
def encode(encoder: Encoder, sound: Sound, *, scale: float = 1.0) -> Sound:
    """Scale the wave."""
    return sound.replace(wave=encoder(sound.wave, scale=scale))


@Encoder.register(Speech)
def transcribe(encoder: Encoder, speech: Speech, *, language: str, hints: Sequence[str] = ()) -> dict[str, float]:
    """Guess who speaks."""
    return {f"{language}:{speaker}": 1.0 for speaker in (speech.speaker, *hints)}


@Encoder.register(str)
def length(encoder: Encoder, text: str, /) -> int:
    """Count letters."""
    return len(text)


@Loud.register(Sound)
def shout(loud: Loud, sound: Sound, *, scale: float = 2.0) -> Speech:
    """Name the speaker."""
    return Speech(loud(sound.wave, scale=scale), "loud", batch_size=sound.batch_size)


@Silent.register(models.Sound)
def ignore(silent: Silent, sound: models.Sound) -> None:
    """Nothing comes of it."""
