"""Odd constructors, most of them as libraries write them: each is a function that fills a module."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from torch import nn


class Written(nn.Module):
    """A module whose constructor is a function."""

    def __init__(self, write: Callable[[Written], None]) -> None:
        super().__init__()
        write(self)

    def __getattr__(self, name: str) -> Any:
        return super().__getattr__(name)

    def __setattr__(self, name: str, value: object) -> None:
        super().__setattr__(name, value)  # type: ignore[arg-type] # a module keeps values of any kind


CONSTRUCTORS: dict[str, Callable[[Written], None]] = {}


def constructor(write: Callable[[Written], None]) -> Callable[[Written], None]:
    """Add a function to the table, under its name."""
    assert write.__name__ not in CONSTRUCTORS
    CONSTRUCTORS[write.__name__] = write
    return write


for _name in ("drawing", "initialisers", "layers", "operations", "reading", "sharing", "tables"):
    import_module(f"{__name__}.{_name}")
