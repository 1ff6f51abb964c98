"""Small texts: docstrings and literals."""

from __future__ import annotations

from random import Random

from .vocabulary import DOCS


def doc(random: Random, indent: int) -> str:
    """A docstring as source text, spelled in one of several ways."""
    text = random.choice(DOCS)
    pad = " " * indent
    plain = not set(text) & set('"\\\0\r\x0c\ud800') and text
    match random.randrange(4):
        case 0 if plain:
            return f'{pad}"""{text}"""'
        case 1 if plain and "'" not in text:
            return f"{pad}'''{text}'''"
        case 2 if len(text) > 3:
            middle = len(text) // 2
            return f"{pad}({text[:middle]!r} {text[middle:]!r})"
    return f"{pad}{text!r}"
