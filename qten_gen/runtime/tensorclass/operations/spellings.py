"""Names of NumPy for arguments of torch: `axis` for `dim`, `keepdims` for `keepdim`.

Functions of torch take both, and so do methods of tensors; checkers know neither. A method of an object gets them among the
keywords that it has no parameter for, so that the usual call does not pay for them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from ..core.keywords import MISSING, unexpected
from ..core.stored import Stored

D = TypeVar("D")

TORCHS = {"axis": "dim", "keepdims": "keepdim"}


def respelt(self: Stored, method: str, given: Mapping[str, Any], dim: D, keepdim: bool) -> tuple[D, bool]:
    """The arguments `dim` and `keepdim` of a call that was also given the keywords `given`.

    Raises:
        TypeError: a keyword is another, or an argument is given under both names.
    """
    for name, value in given.items():
        known = TORCHS.get(name)
        if known is None:
            raise unexpected(self, method, given)
        if keepdim if known == "keepdim" else (dim is not None and dim is not MISSING):
            raise TypeError(f"{type(self).__name__}.{method}() got both {known}= and {name}=")
        if known == "dim":
            dim = value
        else:
            keepdim = value
    return dim, keepdim


def required(self: Stored, method: str, given: Mapping[str, Any], dim: D) -> D:
    """The `dim` of a method that cannot do without. Called only where keywords are given, or it is missing.

    Raises:
        TypeError: it is missing, or there are other keywords.
    """
    if "keepdims" in given:
        raise unexpected(self, method, given)
    found, _ = respelt(self, method, given, dim, keepdim=False)
    if found is MISSING:
        raise unexpected(self, method, {}, dim=MISSING)
    return found
