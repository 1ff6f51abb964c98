"""The findings of the last check of the same texts. A check of unchanged files reads their bytes, and does not parse them."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from hashlib import blake2b

from ...model.diagnostics import Diagnostic, Kind, Span
from ...project import manifest
from ...project.glance import read_cached
from ...project.scan import Origin
from ..adopt.opening import Sources
from .plain_modules import Checked, check

_NAME = "check.json"


def check_again(
    texts: Mapping[str, bytes], origins: Mapping[str, Origin], targets: Collection[str], cache: str | None
) -> Checked:
    """Check files, unless the folder `cache` remembers what was found in the same texts. None: nothing is remembered."""
    key = _key(texts, origins, targets)
    known = None if cache is None else _recalled(cache, key)
    if known is not None:
        return known
    checked = check(Sources.of(texts, origins, targets))
    if cache is not None:
        document = [key, checked.classes, checked.files, [*map(_entry, checked.findings)]]
        manifest.write(cache, _NAME, json.dumps(document))
    return checked


def _key(texts: Mapping[str, bytes], origins: Mapping[str, Origin], targets: Collection[str]) -> str:
    """A digest of the generator, the files and which of them are checked."""
    digest = blake2b(manifest.generator().encode(), digest_size=16)
    for path, data in sorted(texts.items()):
        digest.update(repr((path, *origins[path], path in targets, len(data))).encode("utf-8", "surrogateescape"))
        digest.update(data)
    return digest.hexdigest()


def _recalled(cache: str, key: str) -> Checked | None:
    try:
        known, classes, files, entries = json.loads(read_cached(cache, _NAME))
        return Checked(tuple(map(_diagnostic, entries)), classes, files) if known == key else None
    except (OSError, ValueError, TypeError, RecursionError):  # not there, or damaged: it is written anew
        return None


def _entry(item: Diagnostic) -> list[object]:
    return [list(item.kind), item.message, item.help, list(item.notes), item.path, list(item.span)]


def _diagnostic(entry: list[object]) -> Diagnostic:
    kind, message, help, notes, path, span = entry
    if not (isinstance(kind, list) and isinstance(span, list) and isinstance(notes, list)):
        raise TypeError("not what `_entry` writes")
    return Diagnostic(Kind(*kind), str(message), help=str(help), notes=(*notes,), path=str(path), span=Span(*span))
