"""What the last run found, kept in `.qten_cache/`, so that an unchanged tree needs no parsing and hardly any reading.

Nothing depends on it but time: it is checked before it is believed, and a manifest that is missing, damaged or of another
generator counts as empty. It holds for each source its size, time and digest and what a look at its bytes told, and for each
source whose outputs were as they should be, the digest of all that they were made from, and the outputs themselves.

Paths in it are relative to the folder that holds `.qten_cache/`, with forward slashes.
"""

import hashlib
import json
import os
import sys
from collections.abc import Iterator
from typing import NamedTuple

from .. import __version__
from ..common.format_number import FORMAT
from .scan import Scan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..model.diagnostics import Diagnostic

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
"""The folder of `qten_gen`."""

FOLDER = ".qten_cache"
_NAME = "manifest.json"
_TAG = "Signature: 8a477f597d28d172789f06886806bc55\n# This folder is a cache of qten-gen and can be deleted.\n"

Signature = tuple[int, int, str]
"""Size, modification time in nanoseconds, and digest of a file. A time of -1 is not believed: the file is hashed again."""


class SourceRecord(NamedTuple):
    """A source as it was read: its signature, the module it was taken for, and the scan of its bytes."""

    signature: Signature
    module: str
    scan: Scan


class FreshRecord(NamedTuple):
    """A source whose outputs are right while `key`, the digest of all that was linked with it, and the outputs stay the same.

    The warnings about it are shown again while it is fresh. They have spans and source lines, but neither a path, which depends
    on the working directory, nor a place in a syntax tree.
    """

    key: str
    outputs: dict[str, Signature]
    warnings: "tuple[Diagnostic, ...]" = ()


class Manifest(NamedTuple):
    """The sources that were read, and those whose outputs are right, by path."""

    sources: dict[str, SourceRecord]
    fresh: dict[str, FreshRecord]


def digest(data: bytes) -> str:
    """The digest by which two contents are told apart."""
    return hashlib.sha256(data).hexdigest()


def generator(package: str = PACKAGE) -> str:
    """The key of the manifest: a digest of the generator itself.

    It covers the version, the format number and the Python version, and, for those who work on the generator, the size and
    time of every module of `package` and of the templates beside it.
    """
    folders = [package, os.path.join(os.path.dirname(package), "templates")]
    state = [f"{__version__} {FORMAT} {sys.version_info[:2]}", *(line for folder in folders for line in _state(folder))]
    return digest("\n".join(state).encode("utf-8", "surrogateescape"))


def _state(folder: str) -> Iterator[str]:
    """Name, size and time of every file below a folder that takes part in generating."""
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        if entry.is_dir():
            # The runtime is what generated code calls; it does not take part in generating.
            if entry.name not in ("__pycache__", "runtime"):
                yield from _state(entry.path)
        elif not entry.name.endswith(".pyc"):
            status = entry.stat()
            yield f"{entry.name} {status.st_size} {status.st_mtime_ns}"


def load(root: str) -> Manifest:
    """The manifest below a folder; empty where there is none to be trusted."""
    try:
        with open(os.path.join(root, FOLDER, _NAME), "rb") as file:
            document = json.load(file)
        if document["generator"] != generator():
            return Manifest({}, {})
        return Manifest(
            {path: _source_record(entry) for path, entry in document["sources"].items()},
            {path: _fresh_record(entry) for path, entry in document["fresh"].items()},
        )
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return Manifest({}, {})


def _source_record(entry: object) -> SourceRecord:
    signature, module, mentions, derives, registers, aliases, imports, bases, binds, relative = _items(entry)
    flags = mentions is True, derives is True, registers is True, aliases is True
    found = Scan(*flags, _texts(imports), _texts(bases), _texts(binds), relative is True)
    return SourceRecord(_signature(signature), _text(module), found)


def _fresh_record(entry: object) -> FreshRecord:
    key, outputs, warnings = _items(entry)
    if not isinstance(outputs, dict):
        raise TypeError("outputs")
    signatures = {path: _signature(item) for path, item in outputs.items()}
    return FreshRecord(_text(key), signatures, tuple(map(_warning, _items(warnings))))


def _warning(entry: object) -> "Diagnostic":
    """A warning as it was recorded. Only trees with warnings pay for the model."""
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


def _fresh_entry(fresh: FreshRecord) -> list[object]:
    """A record as JSON has it; `_fresh_record` reads it back."""
    warnings = [
        [item.kind.code, item.kind.name, item.message, item.help, item.notes, item.span] for item in fresh.warnings
    ]
    return [fresh.key, fresh.outputs, warnings]


def _signature(entry: object) -> Signature:
    size, time, content = _items(entry)
    return _number(size), _number(time), _text(content)


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
    """Write the manifest below a folder. Where it cannot be written, the next run works as this one did."""
    document = {
        "generator": generator(),
        "sources": {path: [item.signature, item.module, *item.scan] for path, item in sorted(manifest.sources.items())},
        "fresh": {path: _fresh_entry(fresh) for path, fresh in sorted(manifest.fresh.items())},
    }
    folder = os.path.join(root, FOLDER)
    try:
        if os.path.islink(folder):
            return
        if not os.path.isdir(folder):
            os.mkdir(folder)
        for name, text in (("CACHEDIR.TAG", _TAG), (".gitignore", "*\n")):
            if not os.path.exists(os.path.join(folder, name)):
                _write(folder, name, text)
        _write(folder, _NAME, json.dumps(document, separators=(",", ":")))
    except OSError:
        return


def _write(folder: str, name: str, text: str) -> None:
    """Write a file by way of another name, so that two runs at once leave one of two whole manifests."""
    temporary = os.path.join(folder, f".{name}.{os.getpid()}")
    with open(temporary, "w", encoding="utf-8", newline="\n") as file:
        file.write(text)
    os.replace(temporary, os.path.join(folder, name))
