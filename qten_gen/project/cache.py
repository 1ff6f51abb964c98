"""Saves what a run has found in `.qten_cache/`, so that the next one reads and links only what has changed.

The cache only saves time. Its entries are compared with the files before they are used, and one that is missing, damaged or
written by another version of the generator counts as empty. It is one file, of four parts:

* the snapshot of the last run, with its digest; empty if its outcome depends on more than what it listed;
* a digest of the generator and of the index;
* the index, a line of JSON: the record of each source (`SourceRecord`), and of each source with fresh outputs (`FreshRecord`);
* the parsed sources, each as bytes of its own that `generate.parsed` reads when something asks for them.

So an unchanged run reads one line. A run that finds something to do reads the rest, of which the parsed sources stay bytes.

Paths in the index are relative to the folder of `.qten_cache/`, with forward slashes.
"""

from __future__ import annotations

import json
import os
import stat
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from typing import NamedTuple, Self

from .. import __version__
from ..common.header import FORMAT, digest
from .scan import Scan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..model.diagnostics import Diagnostic

FOLDER = ".qten_cache"
NAME = "sources"
"""The name of the file in `FOLDER`."""

COARSE_CLOCK = 2_000_000_000
"""Nanoseconds within which two changes may get the same modification time."""

_DIGEST = 32
_DAMAGES = (OSError, ValueError, TypeError, LookupError, AttributeError, RecursionError, MemoryError)
"""The exceptions of reading a damaged file."""

_TAG = "Signature: 8a477f597d28d172789f06886806bc55\n# This folder is a cache of qten-gen and can be deleted.\n"
_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_AS_IT_IS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
"""How a file of the cache is opened: a link is an error, and a pipe is not waited for."""


class Stat(NamedTuple):
    """The status of a file, which shows whether it has changed. Times are in nanoseconds.

    Size and modification time do not suffice: `cp -p`, rsync and archives give an edited file the time that it had elsewhere.
    """

    size: int
    modified: int
    changed: int
    """The last change of the status, which no program can set; on Windows, when the file was made."""
    inode: int

    @classmethod
    def of(cls, status: os.stat_result) -> Self:
        return cls(status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)


class Stamp(NamedTuple):
    """A file as it was read. A modification time of -1 never matches, so the file is hashed again."""

    stat: Stat
    digest: str

    @classmethod
    def of(cls, status: Stat, digest: str, now: int) -> Self:
        """The stamp of a file. If it changed just before `now`, its time is -1, as it may not show a further change."""
        is_old = status.modified < now - COARSE_CLOCK
        return cls(status if is_old else status._replace(modified=-1), digest)


NO_STAT = Stat(-1, -1, -1, -1)
"""The status of a missing file."""
NO_FILE = Stamp(NO_STAT, "")
"""The stamp of a missing file."""


class SourceRecord(NamedTuple):
    """A source as it was read: its stamp, its module name, and the scan of its bytes."""

    stamp: Stamp
    module: str
    scan: Scan
    content: str = ""
    """The digest of what it says; empty if it has not been parsed."""
    place: str = ""
    """Its place among the other sources, as far as anything depends on it."""

    @property
    def is_relevant(self) -> bool:
        """True if it can affect a declaration: then its place begins with `*`."""
        return self.place.startswith("*")


class FreshRecord(NamedTuple):
    """A source whose outputs are fresh as long as they stay the same, and nothing else is found by the `lookups`.

    Runs print its warnings again while it is fresh. The warnings have spans and source lines. They do not have a path, which
    depends on the working directory, or a place in a syntax tree.
    """

    lookups: tuple[str, ...]
    outputs: Mapping[str, Stamp]
    fingerprint: str = ""
    """The digest of what the outputs were rendered from."""
    warnings: tuple[Diagnostic, ...] = ()


class Cache(NamedTuple):
    """What a run has found, by path."""

    sources: Mapping[str, SourceRecord] = {}
    fresh: Mapping[str, FreshRecord] = {}
    parsed: Mapping[str, bytes] = {}
    """The parsed sources."""
    lines: tuple[bytes, bytes] = (b"", b"")
    """The snapshot and the index as they are in the file."""


class Snapshot(NamedTuple):
    """The files that a run listed, and its outcome. If the next run lists the same, it has the same outcome."""

    names: str
    """A digest of the names that it listed, and of its arguments and settings (see `files.Listed`)."""
    files: str
    """A digest of the names and the status of files; empty if it left something to do."""
    up_to_date: int
    warnings: Mapping[str, tuple[Diagnostic, ...]]
    """The warnings that it printed, by file."""
    surroundings: Mapping[str, Stat]
    """The status of files and folders elsewhere that libraries are found by."""


def last_snapshot(root: str, names: str) -> Snapshot | None:
    """The snapshot of the last run.

    None if it listed other names, if its outcome depends on more than what it listed, or if something elsewhere has changed.
    """
    try:
        line = _read(root, first=True).removesuffix(b"\n")
        listed, files, up_to_date, warnings, surroundings = json.loads(line[_DIGEST:])
        if listed != names:
            return None
        found = {path: tuple(map(_warning, items)) for path, items in warnings.items()}
        around = {path: Stat(*status) for path, status in surroundings.items()}
    except _DAMAGES:
        return None
    is_whole = line[:_DIGEST] == digest(line[_DIGEST:]).encode()
    if not is_whole or any(status_of(path) != status for path, status in around.items()):
        return None
    return Snapshot(names, files, up_to_date, found, around)


def status_of(path: str) -> Stat:
    """The status of a file or folder, which may be missing."""
    try:
        return Stat.of(os.stat(path))
    except (OSError, ValueError):
        return NO_STAT


def looked_up(fresh: Mapping[str, FreshRecord]) -> frozenset[str]:
    """All look-ups of records."""
    return frozenset[str]().union(*(record.lookups for record in fresh.values()))


def load(root: str) -> Cache:
    """Read the cache below a folder; an empty one if there is none that can be used."""
    try:
        snapshot, mark, index, data = _read(root).split(b"\n", 3)
        if mark != _mark(index):
            return Cache()
        names, entries = json.loads(index)
        sources: dict[str, SourceRecord] = {}
        fresh: dict[str, FreshRecord] = {}
        parsed: dict[str, bytes] = {}
        start = 0
        for path, source, target, size in entries:
            sources[path] = _source_record(source)
            if target is not None:
                fresh[path] = _fresh_record(target, names)
            if size:
                parsed[path] = data[start : start + size]
                start += size
        return Cache(sources, fresh, parsed, (snapshot, index))
    except _DAMAGES:
        return Cache()


def _source_record(entry: Any) -> SourceRecord:
    stamp, module, scan, content, place = entry
    mentions, derives, calls, aliases, imports, bases, binds, relative = scan
    scanned = Scan(mentions, derives, calls, aliases, tuple(imports), tuple(bases), tuple(binds), relative)
    return SourceRecord(_stamp(stamp), module, scanned, content, place)


def _fresh_record(entry: Any, names: list[str]) -> FreshRecord:
    lookups, outputs, fingerprint, warnings = entry
    stamps = {path: _stamp(stamp) for path, stamp in outputs.items()}
    return FreshRecord(tuple([names[i] for i in lookups]), stamps, fingerprint, tuple(map(_warning, warnings)))


def _stamp(entry: Any) -> Stamp:
    status, content = entry
    return Stamp(Stat(*status), content)


def _warning(entry: Any) -> Diagnostic:
    """A recorded warning. The model is imported late, because most trees have no warnings."""
    from ..model.diagnostics import Diagnostic, Kind, Span

    code, name, message, help, notes, span = entry
    return Diagnostic(Kind(code, name, "warning"), message, help=help, notes=tuple(notes), span=Span(*span))


def save(root: str, current: Cache, snapshot: Snapshot | None) -> None:
    """Write the cache below a folder, unless what it says is there.

    If that fails, the next run is slower but correct, so nothing is reported.
    """
    names = sorted(looked_up(current.fresh))
    positions = {name: position for position, name in enumerate(names)}
    entries = []
    for path, source in sorted(current.sources.items()):
        target: list[object] | None = None
        if (fresh := current.fresh.get(path)) is not None:
            lookups = [positions[name] for name in fresh.lookups]
            target = [lookups, fresh.outputs, fresh.fingerprint, [*map(_warning_entry, fresh.warnings)]]
        entries.append([path, source, target, len(current.parsed.get(path, b""))])
    line = b""
    if snapshot is not None:
        warnings = {path: [*map(_warning_entry, items)] for path, items in snapshot.warnings.items()}
        listed, files, up_to_date, _, surroundings = snapshot
        line = _encode([listed, files, up_to_date, warnings, surroundings]).encode()
        line = digest(line).encode() + line
    index = _encode([names, entries]).encode()
    if (line, index) != current.lines and (entries or current.lines[1]):
        parsed = b"".join([current.parsed[path] for path in sorted(current.sources) if path in current.parsed])
        _write_cache(root, b"\n".join([line, _mark(index), index, parsed]))


def _warning_entry(item: Diagnostic) -> list[object]:
    """A warning as JSON, without its path. `_warning` reads it back."""
    return [item.kind.code, item.kind.name, item.message, item.help, item.notes, item.span]


_encode = json.JSONEncoder(separators=(",", ":")).encode


def _mark(index: bytes) -> bytes:
    """The second line. It says that this generator wrote the index, which is not examined again."""
    return digest(generator().encode() + index).encode()


@cache
def generator() -> str:
    """A digest of the generator that runs: of its version, the format number and the version of Python.

    For people who work on the generator, it also has the size and time of all its files and of the templates.
    """
    folders = [_PACKAGE, os.path.join(os.path.dirname(_PACKAGE), "templates")]
    lines = [f"{__version__} {FORMAT} {sys.version_info[:2]}", *(line for folder in folders for line in _files(folder))]
    return digest("\n".join(lines).encode("utf-8", "surrogateescape"))


def _files(folder: str) -> Iterator[str]:
    """Name, size and time of every file of the generator below a folder."""
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        if entry.is_dir():
            # Generated code calls the runtime, but the generator does not use it.
            if entry.name not in ("__pycache__", "runtime", "large_models"):
                yield from _files(entry.path)
        elif not entry.name.endswith(".pyc"):
            status = entry.stat()
            yield f"{entry.name} {status.st_size} {status.st_mtime_ns}"


def _read(root: str, first: bool = False) -> bytes:
    """The bytes of the cache below a folder, or its first line.

    A checkout may hold a link there, even to a device.

    Raises:
        OSError: It cannot be read, or is not a regular file.
    """
    descriptor = os.open(os.path.join(root, FOLDER, NAME), _AS_IT_IS)
    with open(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(0, "it is not a regular file")
        return file.readline() if first else file.read()


def _write_cache(root: str, data: bytes) -> None:
    """Write the cache below a folder, if that is possible."""
    folder = os.path.join(root, FOLDER)
    try:
        if os.path.islink(folder):
            return
        if not os.path.isdir(folder):
            os.mkdir(folder)
        for fixed, content in (("CACHEDIR.TAG", _TAG), (".gitignore", "*\n")):
            if not os.path.exists(os.path.join(folder, fixed)):
                _write(folder, fixed, content.encode())
        _write(folder, NAME, data)
    except OSError:
        return


def _write(folder: str, name: str, data: bytes) -> None:
    """Write a file under a temporary name and rename it, so that two parallel runs cannot mix their caches.

    Nobody can guess the name, and a file or link that has it is not written to.
    """
    temporary = os.path.join(folder, f".{name}.{os.urandom(8).hex()}")
    try:
        with open(temporary, "xb") as file:
            file.write(data)
        os.replace(temporary, os.path.join(folder, name))
    except BaseException:
        try:
            os.unlink(temporary)
        except OSError:
            pass
        raise
