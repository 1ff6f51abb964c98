"""Suggests a known name for one that does not exist."""

from collections.abc import Iterable


def nearest(word: str, known: Iterable[str], cutoff: float = 0.6) -> str | None:
    """The known word most similar to `word`; None if no word is similar.

    >>> nearest("frozn", ["nocast", "frozen"])
    'frozen'
    """
    from difflib import get_close_matches  # imported late: most runs have no mistakes

    return next(iter(get_close_matches(word, list(known), 1, cutoff)), None)


def did_you_mean(word: str, known: Iterable[str], otherwise: str) -> str:
    """`did you mean ...?` with the most similar known word, or `otherwise` if no word is similar."""
    close = nearest(word, known)
    return f"did you mean {close}?" if close else otherwise
