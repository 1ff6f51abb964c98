"""What a user probably meant by a name that does not exist."""

from collections.abc import Iterable


def nearest(word: str, known: Iterable[str], cutoff: float = 0.6) -> str | None:
    """The known word that is most like another one, None where none is like it.

    >>> nearest("frozn", ["nocast", "frozen"])
    'frozen'
    """
    from difflib import get_close_matches  # not needed while nothing is wrong

    return next(iter(get_close_matches(word, list(known), 1, cutoff)), None)


def did_you_mean(word: str, known: Iterable[str], otherwise: str) -> str:
    """The question whether the nearest known word was meant, or another advice where none is near."""
    close = nearest(word, known)
    return f"did you mean {close}?" if close else otherwise
