"""Lists of names in files, such as the targets of an adapter or a sharding plan, held against a lock. No file is imported.

A list is the value behind a dotted key of TOML, JSON or YAML. One in Python code is checked by `select`.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping

from ...common.name_patterns import PatternError, advice, compiled, with_one_choice
from ...project.config import toml_document
from .lock import Lock, unfolded


class ListError(ValueError):
    """A list cannot be read."""


_REGULAR_EXPRESSION = re.compile(r"[\\()\[\]|^$+?]")
_NO_NAMES = frozenset({"all-linear"})
"""Words of peft that stand in place of names."""


def unmatched(place: str, root: str, lock: Lock) -> Iterator[str]:
    """The entries of the list at `configs/lora.yaml:target_modules` that match no name of a lock, each with the reason.

    An entry is a pattern over the end of a name: `q_proj` and `layers.*.q_proj` are found in `model.layers.0.q_proj.weight`. One
    that no pattern can be is a regular expression, which has to be found in a name.

    Raises:
        ListError: The file or the key cannot be read.
    """
    names = _names(lock)
    for entry in entries(place, root):
        if entry in _NO_NAMES:
            continue
        problem = _problem(entry, names)
        if problem is not None:
            yield f"{place}: {entry!r} {problem}"


def entries(place: str, root: str) -> list[str]:
    """The names in a list, or the keys of a table.

    Raises:
        ListError: The file or the key cannot be read.
    """
    found = _value_at(place, root)
    names = [found] if isinstance(found, str) else list(found) if isinstance(found, list | dict) else []
    if not names or not all(isinstance(name, str) for name in names):
        raise ListError(f"{place}: expected a list of names, a table with names as keys, or one name")
    return names


def _problem(entry: str, names: list[str]) -> str | None:
    """Why an entry matches nothing."""
    if _REGULAR_EXPRESSION.search(entry):
        try:
            found = any(map(re.compile(entry).search, names))
        except re.error as error:
            return f"is not a regular expression: {error}"
        return None if found else "is a regular expression that is found in no name"
    pattern = f"**.{entry.strip('.')}"
    try:
        for each in [pattern, *with_one_choice(pattern)]:
            if not any(map(compiled(each).fullmatch, names)):
                return f"matches nothing: {advice(each, names)}"
    except PatternError as error:
        return str(error)
    return None


def _names(lock: Lock) -> list[str]:
    """The names of the tensors, and of the modules around them."""
    found: dict[str, None] = {}
    for line in unfolded(lock.lines):
        segments = line.name.split(".")
        found.update((".".join(segments[:count]), None) for count in range(1, len(segments) + 1))
    return list(found)


def _value_at(place: str, root: str) -> object:
    """The value at a place below a folder, such as `configs/lora.yaml:target_modules`."""
    path, colon, key = place.rpartition(":")
    if not colon or os.sep in key:  # no key, `C:\\plan.json`
        path, key = place, ""
    try:
        with open(os.path.join(root, path), encoding="utf-8") as file:
            text = file.read()
        return _at(_parsed(path, text), key)
    except (OSError, ValueError, LookupError) as error:
        raise ListError(f"{place}: cannot read it: {getattr(error, 'strerror', None) or error}") from None


def _parsed(path: str, text: str) -> object:
    """The document in a file, by its suffix."""
    suffix = os.path.splitext(path)[1]
    if suffix == ".toml":
        found = toml_document(text)
        if found is None:
            raise ListError("it is no valid TOML")
        return found
    if suffix in (".yaml", ".yml"):
        try:
            import yaml  # type: ignore[import-untyped] # its types are a package of their own
        except ModuleNotFoundError:
            raise ListError("it needs PyYAML: python -m pip install pyyaml") from None
        try:
            return yaml.safe_load(text)
        except yaml.YAMLError as error:
            raise ListError(" ".join(str(error).split())) from None
    if suffix == ".json":
        return json.loads(text)
    raise ListError("expected a file of TOML, JSON or YAML")


def _at(document: object, key: str) -> object:
    """The value of a document at a dotted key; without a key, the document."""
    for segment in filter(None, key.split(".")):
        if not isinstance(document, Mapping) or segment not in document:
            raise LookupError(f"no {segment!r}")
        document = document[segment]
    return document
