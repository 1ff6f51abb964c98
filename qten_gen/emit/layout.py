"""How generated text is set out: line length, indentation, quoting."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..common.python_text import double_quoted as double_quoted

WIDTH = 120
"""Longest line of generated code."""

_QUOTES = re.compile(r'"{3,}|"+\Z')
"""Quotes that would end a docstring."""


def bracketed(head: str, items: Sequence[str], tail: str, indent: int) -> str:
    """`head`, the items with commas, `tail`, as ruff sets them out: all on one line, the items on
    one of their own, or one item a line.

    >>> bracketed("f(", ["a", "b"], ")", 0)
    'f(a, b)'
    """
    line = ", ".join(items)
    is_flat = "\n" not in line
    if is_flat and indent + len(f"{head}{line}{tail}") <= WIDTH:
        return f"{head}{line}{tail}"
    if is_flat and indent + 4 + len(line) <= WIDTH:
        return f"{head}\n{' ' * (indent + 4)}{line}\n{' ' * indent}{tail}"
    return stacked(head, items, tail, indent)


def stacked(head: str, items: Sequence[str], tail: str, indent: int) -> str:
    """`bracketed` with one item a line, whatever its length."""
    inner = " " * (indent + 4)
    return "\n".join([head, *(f"{inner}{item}," for item in items), " " * indent + tail])


def comprehension(head: str, item: str, clause: str, tail: str, indent: int) -> str:
    """A comprehension between brackets: on one line where it fits, else the item and the clause on lines of their own.

    >>> comprehension("f([", "g(n)", "for n in x", "])", 0)
    'f([g(n) for n in x])'
    """
    line = f"{head}{item} {clause}{tail}"
    inner = " " * (indent + 4)
    return line if indent + len(line) <= WIDTH else f"{head}\n{inner}{item}\n{inner}{clause}\n{' ' * indent}{tail}"


def names(items: Sequence[str], indent: int, head: str) -> str:
    """A tuple of strings as Python text: `_fields = ("tokens", "mask")`."""
    quoted = [quoted_string(item) for item in items]
    return f"{head}{in_parentheses(quoted)}" if len(quoted) == 1 else bracketed(f"{head}(", quoted, ")", indent)


def mapping(items: Sequence[tuple[str, str]], indent: int, head: str) -> str:
    """A dict of strings as Python text: `_nested = {"point": "Point"}`."""
    return bracketed(f"{head}{{", [f"{quoted_string(k)}: {quoted_string(v)}" for k, v in items], "}", indent)


def quoted_string(text: str) -> str:
    """A string literal in double quotes where that needs no escapes."""
    return double_quoted(repr(text))


def in_parentheses(items: Sequence[str]) -> str:
    """A tuple as Python text, on one line.

    >>> in_parentheses(["dim"]), in_parentheses(["3", "dim"])
    ('(dim,)', '(3, dim)')
    """
    return f"({items[0]},)" if len(items) == 1 else f"({', '.join(items)})"


def docstring(text: str, indent: int) -> str:
    """A docstring: any text between triple quotes, so that it reads back as it was.

    Half a character is spelled out, since Python 3.13 compiles no docstring that has one. So is what an editor does not show,
    such as a null byte, which no source may contain.

    >>> print(docstring('says "yes"', 0).strip('"'))
    says "yes\\
    """
    whole = text.strip().encode(errors="backslashreplace").decode()
    escaped = _QUOTES.sub(lambda run: run[0].replace('"', '\\"'), whole.replace("\\", "\\\\"))
    shown = escaped if escaped.isprintable() else "".join(map(_shown, escaped))
    first, *others = shown.split("\n")
    pad = " " * indent
    rest = [f"{pad}{line}".rstrip() for line in others]
    return "\n".join([f'"""{first}', *rest, f'{pad}"""']) if rest else f'"""{first}"""'


def doc_argument(text: str, indent: int) -> str:
    """A documentation that is passed to a function: a string, between triple quotes where it has several lines."""
    return docstring(text, indent) if "\n" in text else quoted_string(text)


def _shown(character: str) -> str:
    """A character of a docstring, as an escape where it could not be seen or would end the line."""
    if character in "\n\t" or character.isprintable():
        return character
    return character.encode("unicode_escape").decode("ascii")
