"""Breaks long statements into lines."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import pairwise


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


def _broken(prefix: str, text: str, blank: str, limit: int, suffix: str) -> list[str]:
    """An expression with each of its parts in a line of its own where it does not fit."""
    whole = f"{blank}{prefix}{text}{suffix}"
    node = ast.parse(text, mode="eval").body
    if len(whole) <= limit or not text.isascii():  # the parser counts bytes
        return [whole]
    if isinstance(node, ast.Lambda):
        start = node.body.col_offset
        return _broken(prefix + text[:start], text[start:], blank, limit, suffix)
    if isinstance(node, ast.IfExp) and not any(isinstance(each, ast.Lambda | ast.IfExp) for each in _sides(node)):
        body, test, orelse = (text[each.col_offset : each.end_col_offset] for each in _sides(node))
        made = _broken("", body, f"{blank}    ", limit, "")
        return [f"{blank}{prefix}(", *made, f"{blank}    if {test}", f"{blank}    else {orelse}", f"{blank}){suffix}"]
    parts = list(_parts(node, text))
    if not parts:
        return [whole]
    comma = "" if isinstance(node, ast.ListComp) else ","
    head = text[: node.func.end_col_offset] + "(" if isinstance(node, ast.Call) else text[0]
    opening = f"{blank}{prefix}{head}"
    inside = f"{blank}    {f'{comma} '.join(name + part for name, part in parts)}"
    if len(inside) <= limit and not any("(" in part for _, part in parts):
        return [opening, inside, f"{blank}{text[-1]}{suffix}"]
    lines = [opening]
    for name, part in parts:
        is_clause = not comma and part.startswith("for ")
        lines += [f"{blank}    {part}"] if is_clause else _broken(name, part, f"{blank}    ", limit, comma)
    return [*lines, f"{blank}{text[-1]}{suffix}"]


def _sides(node: ast.IfExp) -> tuple[ast.expr, ast.expr, ast.expr]:
    return node.body, node.test, node.orelse


def _parts(node: ast.expr, text: str) -> Iterator[tuple[str, str]]:
    """The parts in the brackets of an expression: arguments, members, the clauses of a comprehension; each behind its name."""

    def of(part: ast.expr) -> tuple[str, str]:
        star = int(isinstance(part, ast.Starred))
        return "*" * star, text[part.col_offset + star : part.end_col_offset]

    match node:
        case ast.Call(func=function, args=args, keywords=keywords) if text[function.end_col_offset :].startswith("("):
            yield from map(of, args)
            yield from ((f"{each.arg}=" if each.arg else "**", of(each.value)[1]) for each in keywords)
        case ast.List(elts=elements):
            yield from map(of, elements)
        case ast.ListComp(generators=generators):
            starts = [loop.target.col_offset - 4 for loop in generators]
            if all(text[start:].startswith("for ") for start in starts):
                for start, end in pairwise([1, *starts, len(text) - 1]):
                    yield "", text[start:end].strip()
