"""How Module says to type checkers which arguments every generated constructor takes."""

from __future__ import annotations

from typing import TypeVar

T = TypeVar("T")


def constructor_argument(*, default: T, kw_only: bool, alias: str) -> T:
    """For type checkers only: an argument of every generated constructor, under another name than its attribute's."""
    raise NotImplementedError
