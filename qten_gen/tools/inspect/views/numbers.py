"""How numbers and memory are written."""

from __future__ import annotations

from collections.abc import Sequence

TIMES = "\u00d7"
"""The sign of multiplication."""


def count(number: int) -> str:
    """`1,234,567`."""
    return f"{number:,}"


def memory(size: int) -> str:
    """`512 B`, `1.5 KiB`, `48.0 GiB`."""
    if size < 1024:
        return f"{size} B"
    value = float(size)
    for unit in ("KiB", "MiB", "GiB", "TiB"):
        value /= 1024
        if value < 1023.95:
            return f"{value:.1f} {unit}"
    return f"{value / 1024:,.1f} PiB"


def of_noun(number: int, noun: str) -> str:
    """`1 layer`, `2 layers`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def sizes(shape: Sequence[object]) -> str:
    """`[4, 128]`."""
    return f"[{', '.join(map(str, shape))}]"


def operations(number: int) -> str:
    """`912`, `91.2 M`, `1.2 T`."""
    value = float(number)
    if value < 1000:
        return str(number)
    for unit in ("k", "M", "G", "T", "P"):
        value /= 1000
        if value < 999.95:
            return f"{value:.1f} {unit}"
    return f"{value / 1000:,.1f} E"
