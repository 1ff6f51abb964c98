"""The types of arguments that a docstring names, in the styles of Google, NumPy and Sphinx."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

_GOOGLE = re.compile(r"^\s*\*{0,2}(\w+)\s*\(([^()]*(?:\([^()]*\)[^()]*)*)\)\s*:", re.MULTILINE)
_NUMPY = re.compile(r"^\s*(\w+)\s*:\s*(\S[^\n]*?)\s*$", re.MULTILINE)
_SPHINX_PARAM = re.compile(r":param\s+([^:\n]+?)\s+(\w+)\s*:")
_SPHINX_TYPE = re.compile(r":type\s+(\w+)\s*:\s*([^\n]+?)\s*$", re.MULTILINE)

_SCALARS = {
    **dict.fromkeys(("int", "integer", "ints", "integers"), "int"),
    **dict.fromkeys(("float", "floats", "number", "scalar"), "float"),
    **dict.fromkeys(("bool", "boolean", "bools"), "bool"),
    **dict.fromkeys(("str", "string", "strs", "strings"), "str"),
}
_SEQUENCES = {"tuple": "tuple[{}, ...]", "list": "list[{}]"}
_BARE = {"tuple": "tuple[Any, ...]", "list": "list[Any]", "dict": "dict[str, Any]", "dictionary": "dict[str, Any]"}
_OPTIONAL = re.compile(r"^optional\b|^default\b|^required\b|^none$")
_DEFAULT = re.compile(r"\s*\(default[^()]*\)?$")
_SENTENCE = re.compile(r"^(int|float|bool|str)(?:\.\s.*|:.*)$")
_OF = re.compile(r"^(tuple|list)s?\s*(?:\[|\(|of\s+)\s*(\w+)(?:\s*,\s*(?:\.\.\.|\2))*\s*[\])]?$")


def documented(cls: ast.ClassDef, init: ast.FunctionDef) -> dict[str, str]:
    """The types that the docstrings of a constructor and of its class name, of those that can be written as annotations."""
    found: dict[str, str] = {}
    for node in (init, cls):
        text = ast.get_docstring(node)
        for name, said in _said(text) if text is not None else ():
            kind = as_annotation(said)
            if kind is not None:
                found.setdefault(name, kind)
    return found


def _said(text: str) -> Iterator[tuple[str, str]]:
    """The names in a docstring, each with the words that stand where its type does."""
    for pattern in (_GOOGLE, _NUMPY, _SPHINX_TYPE):
        yield from pattern.findall(text)
    yield from ((name, said) for said, name in _SPHINX_PARAM.findall(text))


def as_annotation(said: str) -> str | None:
    """The annotation for the words of a docstring; None for words that name no plain type.

    >>> as_annotation("int, optional"), as_annotation("tuple of ints"), as_annotation("the number of heads")
    ('int', 'tuple[int, ...]', None)
    """
    plain = re.sub(r"[`*]", "", said.strip()).rstrip(".").lower()
    plain = _SENTENCE.sub(r"\1", _DEFAULT.sub("", re.sub(r"^optional\[(.*)\]$", r"\1", plain)))
    parts = [each.strip() for each in re.split(r",(?![^\[(]*[\])])|\||\bor\b", plain)]
    kinds = [_plain(each) for each in parts if each and not _OPTIONAL.match(each)]
    if not kinds or None in kinds:
        return None
    if set(kinds) == {"int", "float"}:
        return "float"
    return " | ".join(dict.fromkeys(each for each in kinds if each is not None))


def _plain(words: str) -> str | None:
    if words in _SCALARS:
        return _SCALARS[words]
    if words in _BARE:
        return _BARE[words]
    found = _OF.match(words)
    if found is None or found[2] not in _SCALARS:
        return None
    return _SEQUENCES[found[1]].format(_SCALARS[found[2]])
