"""Breaks long statements into lines."""

from __future__ import annotations

import ast


def wrapped(line: str, limit: int) -> list[str]:
    """A statement, its call broken into lines where it is too long.

    >>> wrapped("norm: nn.LayerNorm = submodule(nn.LayerNorm, dim)", 40)
    ['norm: nn.LayerNorm = submodule(', '    nn.LayerNorm, dim', ')']
    """
    if len(line) <= limit or "\n" in line:
        return [line]
    head, equals, value = line.partition(" = ")
    call = value if equals else line
    return _broken(f"{head} = " if equals else "", call, "", limit, "")


def _broken(prefix: str, call: str, blank: str, limit: int, suffix: str) -> list[str]:
    """A call with each argument in a line of its own where it does not fit."""
    whole = f"{blank}{prefix}{call}{suffix}"
    node = ast.parse(call, mode="eval").body
    if len(whole) <= limit or not isinstance(node, ast.Call) or not (node.args or node.keywords) or not call.isascii():
        return [whole]
    parts: list[tuple[str, str]] = []
    for each in node.args:
        parts.append(("", call[each.col_offset : each.end_col_offset]))
    for keyword in node.keywords:
        parts.append((f"{keyword.arg}=", call[keyword.value.col_offset : keyword.value.end_col_offset]))
    inside = f"{blank}    {', '.join(name + text for name, text in parts)}"
    opening = f"{blank}{prefix}{call[: node.func.end_col_offset]}("
    if len(inside) <= limit and not any("(" in text for _, text in parts):
        return [opening, inside, f"{blank}){suffix}"]
    lines = [opening]
    for name, text in parts:
        lines += _broken(name, text, f"{blank}    ", limit, ",")
    return [*lines, f"{blank}){suffix}"]
