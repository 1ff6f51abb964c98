"""Saves the results of a run in `.qten_cache/`, so that the next run need not parse, and hardly read, an unchanged tree.

The manifest only saves time. Its entries are compared with the files before they are used, and a manifest that is missing,
damaged or written by another version of the generator counts as empty: its first line is a digest of the generator and the rest.
It has the size, times, inode, digest and scan of each source, and the digest of what those say that have been parsed. For each
source with fresh outputs it also has what they depend on (see `keys`), and the signatures of the outputs.

Paths in it are relative to the folder of `.qten_cache/`, with forward slashes. Each source has a line of its own, so that a run
writes the lines of the others as it found them.
"""

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from ..common.digests import digest
from .generator_state import PACKAGE, state
from .glance import FOLDER, read_cached
from .scan import Scan
from .statuses import Signature, Stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..model.diagnostics import Diagnostic

_NAME = "manifest.json"
_TAG = "Signature: 8a477f597d28d172789f06886806bc55\n# This folder is a cache of qten-gen and can be deleted.\n"


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
    settled: str = ""
    """The digest of what the last run was asked for and would say again, if it left nothing to do (see `run.unaffected`)."""
    lookups: Sequence[str] = ()
    """The names of look-ups. In the lines, they are positions in this list."""
    lines: Mapping[str, str] = {}
    """The lines of the sources, as they were read."""
    mark: bytes = b""
    """The first line, which tells it from what another run has written."""


EMPTY = Manifest({}, {}, {})

_MOST = 2
"""How many times as many names of look-ups may stand in a manifest as are in use."""


def generator(package: str = PACKAGE) -> str:
    """The key of the manifest: a digest of the generator itself."""
    return digest(state(package).encode("utf-8", "surrogateescape"))


def load(root: str, only: Iterable[str] | None = None) -> Manifest:
    """Read the manifest below a folder, or what it has of `only` these sources; empty if there is no valid one."""
    try:
        mark, settled, names, lines = _read(root)
        if only is not None:
            # Parsing takes longest, so the lines of other sources are left out.
            starts = tuple([f"[{_encode(path)}," for path in only])
            lines = [line for line in lines if line.startswith(starts)]
        sources, fresh, handlers = {}, {}, {}
        kept = {}
        # One text for the parser: a call for each line takes longer.
        for line, (path, source, generated, handler) in zip(lines, json.loads(f"[{','.join(lines)}]"), strict=True):
            kept[path] = line
            sources[path] = _source_record(source)
            if generated is not None:
                fresh[path] = _fresh_record(generated, names)
            if handler is not None:
                handlers[path] = _handler_record(handler, names)
    except _DAMAGES:
        return EMPTY
    return Manifest(sources, fresh, handlers, settled, names, kept, mark)


def is_there(root: str, known: Manifest) -> bool:
    """Whether a manifest is the one below a folder, which no other process has written meanwhile."""
    try:
        return read_cached(root, _NAME, len(known.mark)) == known.mark != b""
    except OSError:
        return False


_DAMAGES = (OSError, ValueError, TypeError, LookupError, AttributeError, RecursionError, MemoryError)
"""The exceptions of reading a damaged file."""


def _read(root: str) -> tuple[bytes, str, list[str], list[str]]:
    """The first line of the manifest below a folder, what identifies the run that wrote it, the look-ups, and the other lines.

    Raises:
        ValueError: Another generator wrote it, or it is damaged.
        OSError: It cannot be read.
    """
    key, _, body = read_cached(root, _NAME).partition(b"\n")
    if key != _key(body):
        raise ValueError(key)
    head, *lines = body.decode().split("\n")
    settled, names = json.loads(head)
    return key, settled, names, lines


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


def _warning(entry: "Any") -> "Diagnostic":
    """A recorded warning. The model is imported late, because most trees have no warnings."""
    from ..model.diagnostics import Diagnostic, Kind, Span

    code, name, message, help, notes, span = entry
    return Diagnostic(Kind(code, name, "warning"), message, help=help, notes=tuple(notes), span=Span(*span))


def _warning_entry(item: "Diagnostic") -> list[object]:
    """A warning as JSON, without its path. `_warning` reads it back."""
    return [item.kind.code, item.kind.name, item.message, item.help, item.notes, item.span]


def _line(path: str, manifest: Manifest, positions: Mapping[str, int]) -> str:
    """The line of a source in the manifest, as JSON. `load` reads it back."""
    source, fresh, handler = manifest.sources[path], manifest.fresh.get(path), manifest.handlers.get(path)
    return _encode(
        [
            path,
            [source.signature, source.module, source.content, source.parts, *source.scan],
            fresh and [fresh.key, _positions(fresh, positions), fresh.outputs, [*map(_warning_entry, fresh.warnings)]],
            handler and [handler.key, _positions(handler, positions), handler.owners],
        ]
    )


def _positions(record: FreshRecord | HandlerRecord, positions: Mapping[str, int]) -> list[int]:
    return [positions[name] for name in record.lookups]


_encode = json.JSONEncoder(separators=(",", ":")).encode


def _signature(entry: "Any") -> Signature:
    status, content = entry
    return Signature(Stat(*status), content)


def save(root: str, current: Manifest, previous: Manifest) -> Manifest:
    """Write the manifest below a folder, unless it is as `load` has read it. Return it as `load` would read it now.

    If that fails, the next run is slower but correct, so nothing is reported.
    """
    names = _lookups(current, previous.lookups)
    # Lines hold positions in this list.
    known = previous if names[: len(previous.lookups)] == previous.lookups else EMPTY
    positions = {name: position for position, name in enumerate(names)}
    lines = {
        path: known.lines[path] if _is_same(path, current, known) else _line(path, current, positions)
        for path in sorted(current.sources)
    }
    mark = previous.mark
    if [*lines.values()] != [*previous.lines.values()] or current.settled != previous.settled:
        mark = _save(root, current.settled, names, lines.values())
    return current._replace(lookups=names, lines=lines, mark=mark)


def update(root: str, known: Manifest, records: Mapping[str, SourceRecord]) -> None:
    """Write the manifest below a folder again with other records of sources, of which `known` has what was read."""
    try:
        _, settled, names, lines = _read(root)
    except _DAMAGES:
        return
    if names != known.lookups:  # another process has written it meanwhile
        return
    positions = {name: position for position, name in enumerate(names)}
    current = known._replace(sources={**known.sources, **records})
    changed = {known.lines[path]: _line(path, current, positions) for path in records}
    _save(root, settled, names, [changed.get(line, line) for line in lines])


def _save(root: str, settled: str, names: Sequence[str], lines: Iterable[str]) -> bytes:
    """Write the manifest, and return its first line."""
    body = "\n".join([_encode([settled, names]), *lines])
    mark = _key(body.encode())
    write(root, _NAME, f"{mark.decode()}\n{body}")
    return mark


def _is_same(path: str, current: Manifest, known: Manifest) -> bool:
    """Whether the line of a source says what is known now."""
    return (
        path in known.lines
        and current.sources[path] is known.sources[path]
        and current.fresh.get(path) is known.fresh.get(path)
        and current.handlers.get(path) is known.handlers.get(path)
    )


def _lookups(manifest: Manifest, known: Sequence[str]) -> list[str]:
    """The names of the look-ups of a manifest. Those that are known keep their positions, unless too many are not in use."""
    lists = [
        *(record.lookups for record in manifest.fresh.values()),
        *(record.lookups for record in manifest.handlers.values()),
    ]
    used = frozenset[str]().union(*lists)
    names = [*known, *sorted(used.difference(known))]
    return names if len(names) <= _MOST * len(used) else sorted(used)


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
