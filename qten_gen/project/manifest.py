"""Saves the results of a run in `.qten_cache/`, so that the next run need not parse, and hardly read, an unchanged tree.

The manifest only saves time. Its entries are compared with the files before they are used, and a manifest that is missing,
damaged or written by another version of the generator counts as empty: its first line is a digest of the generator and the rest.
It has the size, times, inode, digest and scan of each source, and the digest of what those say that have been parsed. For each
source with fresh outputs it also has what they depend on (see `keys`), and the signatures of the outputs.

Paths in it are relative to the folder of `.qten_cache/`, with forward slashes.
"""

import json
import os
from collections.abc import Mapping
from typing import NamedTuple

from ..common.digests import digest
from .generator_state import PACKAGE, state
from .glance import FOLDER, read_cached
from .scan import Scan
from .walk import NO_STAT, Stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..model.diagnostics import Diagnostic

_NAME = "manifest.json"
_TAG = "Signature: 8a477f597d28d172789f06886806bc55\n# This folder is a cache of qten-gen and can be deleted.\n"


class Signature(NamedTuple):
    """A file as it was read. A modification time of -1 never matches, so the file is hashed again."""

    stat: Stat
    digest: str


NO_FILE = Signature(NO_STAT, "")
"""What no file has."""


class SourceRecord(NamedTuple):
    """A source as it was read: its signature, its module name, and the scan of its bytes."""

    signature: Signature
    module: str
    scan: Scan
    content: str = ""
    """The digest of what it says; empty if it has not been parsed."""
    parts: Mapping[str, str] = {}
    """The digests of what it says of the names that other files ask for, and under the empty name of what has no name."""


class HandlerRecord(NamedTuple):
    """The sources that a source registers handlers for, as long as `key` stays the same, which is computed with `lookups`."""

    key: str
    lookups: tuple[str, ...]
    owners: tuple[str, ...]


class FreshRecord(NamedTuple):
    """A source whose outputs are fresh as long as `key`, which is computed with `lookups`, and the outputs stay the same.

    Runs print its warnings again while it is fresh. The warnings have spans and source lines. They do not have a path, which
    depends on the working directory, or a place in a syntax tree.
    """

    key: str
    lookups: tuple[str, ...]
    outputs: dict[str, Signature]
    warnings: "tuple[Diagnostic, ...]" = ()


class Manifest(NamedTuple):
    """The sources that were read, those whose outputs are fresh, and those that register handlers, by path."""

    sources: dict[str, SourceRecord]
    fresh: dict[str, FreshRecord]
    handlers: dict[str, HandlerRecord]


EMPTY = Manifest({}, {}, {})


def generator(package: str = PACKAGE) -> str:
    """The key of the manifest: a digest of the generator itself."""
    return digest(state(package).encode("utf-8", "surrogateescape"))


def load(root: str) -> Manifest:
    """Read the manifest below a folder; empty if there is no valid one."""
    try:
        key, _, body = read_cached(root, _NAME).partition(b"\n")
        if key != _key(body):
            return EMPTY
        document = json.loads(body)
        names: list[str] = document["lookups"]
        return Manifest(
            {path: _source_record(entry) for path, entry in document["sources"].items()},
            {path: _fresh_record(entry, names) for path, entry in document["fresh"].items()},
            {path: _handler_record(entry, names) for path, entry in document["handlers"].items()},
        )
    except (OSError, ValueError, TypeError, LookupError, AttributeError, RecursionError, MemoryError):
        return EMPTY


def _key(body: bytes) -> bytes:
    """The first line of the manifest. It says that this generator wrote what is below, so that is not examined again."""
    return digest(generator().encode() + body).encode()


def _source_record(entry: "Any") -> SourceRecord:
    signature, module, content, parts, mentions, derives, registers, aliases, imports, bases, binds, relative = entry
    found = Scan(mentions, derives, registers, aliases, tuple(imports), tuple(bases), tuple(binds), relative)
    return SourceRecord(_signature(signature), module, found, content, parts)


def _fresh_record(entry: "Any", names: list[str]) -> FreshRecord:
    key, lookups, outputs, warnings = entry
    signatures = {path: _signature(item) for path, item in outputs.items()}
    return FreshRecord(key, _named(lookups, names), signatures, tuple(map(_warning, warnings)))


def _handler_record(entry: "Any", names: list[str]) -> HandlerRecord:
    key, lookups, owners = entry
    return HandlerRecord(key, _named(lookups, names), tuple(owners))


def _named(lookups: list[int], names: list[str]) -> tuple[str, ...]:
    """The names of look-ups, from their indexes."""
    return tuple([names[position] for position in lookups])


def _warning(entry: object) -> "Diagnostic":
    """A recorded warning. The model is imported late, because most trees have no warnings."""
    from ..model.diagnostics import Diagnostic, Kind, Span

    code, name, message, help, notes, span = _items(entry)
    *numbers, line = _items(span)
    first, second, third, fourth = map(_number, numbers)
    return Diagnostic(
        Kind(_text(code), _text(name), "warning"),
        _text(message),
        help=_text(help),
        notes=_texts(notes),
        span=Span(first, second, third, fourth, None if line is None else _text(line)),
    )


def _warning_entry(item: "Diagnostic") -> list[object]:
    """A warning as JSON, without its path. `_warning` reads it back."""
    return [item.kind.code, item.kind.name, item.message, item.help, item.notes, item.span]


def _fresh_entry(fresh: FreshRecord, positions: dict[str, int]) -> list[object]:
    """A record as JSON. `_fresh_record` reads it back."""
    warnings = [_warning_entry(item) for item in fresh.warnings]
    return [fresh.key, [positions[name] for name in fresh.lookups], fresh.outputs, warnings]


def _handler_entry(found: HandlerRecord, positions: dict[str, int]) -> list[object]:
    """A record as JSON. `_handler_record` reads it back."""
    return [found.key, [positions[name] for name in found.lookups], found.owners]


def _source_entry(source: SourceRecord) -> list[object]:
    """A record as JSON. `_source_record` reads it back."""
    return [source.signature, source.module, source.content, source.parts, *source.scan]


def _signature(entry: "Any") -> Signature:
    status, content = entry
    return Signature(Stat(*status), content)


def _items(value: object) -> list[object]:
    if not isinstance(value, list):
        raise TypeError("list expected")
    return value


def _number(value: object) -> int:
    if not isinstance(value, int):
        raise TypeError("number expected")
    return value


def _texts(value: object) -> tuple[str, ...]:
    return tuple(map(_text, _items(value)))


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("text expected")
    return value


def save(root: str, manifest: Manifest) -> None:
    """Write the manifest below a folder. If that fails, the next run is slower but correct, so nothing is reported."""
    lists = [
        *(item.lookups for item in manifest.fresh.values()),
        *(item.lookups for item in manifest.handlers.values()),
    ]
    names = sorted(frozenset[str]().union(*lists))
    positions = {name: position for position, name in enumerate(names)}
    document = {
        "lookups": names,
        "sources": {path: _source_entry(item) for path, item in sorted(manifest.sources.items())},
        "fresh": {path: _fresh_entry(item, positions) for path, item in sorted(manifest.fresh.items())},
        "handlers": {path: _handler_entry(item, positions) for path, item in sorted(manifest.handlers.items())},
    }
    body = json.dumps(document, separators=(",", ":"))
    write(root, _NAME, f"{_key(body.encode()).decode()}\n{body}")


def write(root: str, name: str, text: str) -> None:
    """Write a file of the cache below a folder, if that is possible."""
    try:
        _write(cache_folder(root), name, text)
    except OSError:
        return


def cache_folder(root: str) -> str:
    """The folder of the cache below a folder, which is made if it is missing.

    Raises:
        OSError: It cannot be made, or is a link.
    """
    folder = os.path.join(root, FOLDER)
    if os.path.islink(folder):
        raise OSError(0, "it is a link", folder)
    if not os.path.isdir(folder):
        os.mkdir(folder)
    for fixed, content in (("CACHEDIR.TAG", _TAG), (".gitignore", "*\n")):
        if not os.path.exists(os.path.join(folder, fixed)):
            _write(folder, fixed, content)
    return folder


def _write(folder: str, name: str, text: str) -> None:
    """Write a file under a temporary name and rename it, so that two parallel runs cannot mix their manifests.

    Nobody can guess the name, and a file or link that has it is not written to.
    """
    temporary = os.path.join(folder, f".{name}.{os.urandom(8).hex()}")
    try:
        with open(temporary, "x", encoding="utf-8", newline="\n") as file:
            file.write(text)
        os.replace(temporary, os.path.join(folder, name))
    except BaseException:
        try:
            os.unlink(temporary)
        except OSError:
            pass
        raise
