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


def differ_by_one(word: str, other: str) -> bool:
    """True if one letter is missing, added, wrong, or swapped with the next one.

    >>> differ_by_one("foward", "forward"), differ_by_one("fowrard", "forward"), differ_by_one("backward", "forward")
    (True, True, False)
    """
    if word == other or abs(len(word) - len(other)) > 1:
        return False
    start = next((i for i, (a, b) in enumerate(zip(word, other, strict=False)) if a != b), min(len(word), len(other)))
    left, right = word[start:], other[start:]
    if len(left) != len(right):
        return left[1:] == right or left == right[1:]
    return left[1:] == right[1:] or (left[1:2] + left[:1] == right[:2] and left[2:] == right[2:])


def only_near(word: str, known: Iterable[str]) -> str | None:
    """The known word that `word` is a misspelling of; None if there is none, or more than one.

    >>> only_near("dmi", ["dim", "heads"]), only_near("dim", ["dima", "dimb"])
    ('dim', None)
    """
    found = [other for other in known if differ_by_one(word, other)]
    return found[0] if len(found) == 1 else None
