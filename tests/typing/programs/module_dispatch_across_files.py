"""Handlers that stand in another file than their module, which lists them in the overloads of its `forward`."""

from typing import assert_type

from signals.models import Deep, Encoder, Loud, Sound, Speech
from torch import Tensor


def use(encoder: Encoder, deep: Deep, loud: Loud, sound: Sound, speech: Speech, x: Tensor) -> None:
    assert_type(encoder(x), Tensor)
    assert_type(encoder(x, scale=2.0), Tensor)
    assert_type(encoder(sound), Sound)
    assert_type(encoder(sound, scale=2.0), Sound)
    assert_type(encoder(speech, language="en"), dict[str, float])
    assert_type(encoder(speech, language="en", hints=["me"]), dict[str, float])
    assert_type(encoder("text"), int)

    assert_type(deep(x), Tensor)
    assert_type(deep(sound), Sound)
    assert_type(deep(speech, language="en"), dict[str, float])
    assert_type(deep("text"), int)

    assert_type(loud(sound), Speech)
    assert_type(loud(speech, language="en"), dict[str, float])
    assert_type(loud("text"), int)

    encoder(b"bytes")  # E
    encoder(speech, language=1)  # E
    encoder(sound, gain=2.0)  # E
    encoder("text", scale=2.0)  # E
    encoder(sound, 2.0)  # E
    encoder()  # E
    deep(b"bytes")  # E
