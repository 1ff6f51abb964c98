"""Tells that there is nothing to do although sources have changed: they say what they said, as after an edit of a comment.

The last run must have left nothing to do (see `settled_by`). Then a change of a source can only matter if its scan or its content
differs, on which the graph and all keys depend (see `keys`). So no other file is looked at, and no graph is made.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from ..common.digests import digest
from ..project import manifest
from ..project.manifest import FreshRecord, Manifest, SourceRecord
from ..project.output_names import is_output, source_of
from ..project.paths import read_output, read_regular, relative_to
from ..project.scan import Origin, scan
from ..project.statuses import NO_STAT, Signature, folder_numbers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..project.stale import ProjectState


def settled_by(state: ProjectState, fresh: Mapping[str, FreshRecord], paths: Sequence[str]) -> str:
    """Identifies a run that left nothing to do: by its paths, by its files, and by what the next run says.

    It is also identified by its folders. One that is put in the place of another, and back, leaves the status of its files as it
    was, so they do not count as changed although the manifest knows what the other one held. A link to a file may be set to
    another file and back in the same way, so nothing identifies a run over one.
    """
    listings = state.files.listings
    if any(entry.is_symlink() for seen in listings.values() for entry in seen if entry.name.endswith((".py", ".pyi"))):
        return ""
    folders = folder_numbers(listings)
    if not folders:
        return ""
    made = [(path, *record.outputs, *map(repr, record.warnings)) for path, record in sorted(fresh.items())]
    files = [*state.files.sources, *sorted(state.files.unlisted)]
    return digest(repr((os.getcwd(), paths, folders, files, made)).encode("utf-8", "surrogateescape"))


def is_unaffected(root: str, settled: str, changed: Mapping[str, Sequence[int]]) -> bool:
    """Whether changed sources and outputs still say what the manifest has of them.

    Args:
        root: The folder that holds the manifest.
        settled: What identifies a run that left nothing to do, or nothing. If another one wrote the manifest, nothing is known.
        changed: The paths, each with the numbers of a `Stat`.
    """
    if not settled:
        return False
    names = {path: relative_to(path, root) for path in changed}
    known = manifest.load(root, {source_of(name) if is_output(name) else name for name in names.values()})
    if known.settled != settled:
        return False
    records: dict[str, SourceRecord] = {}
    for path, name in names.items():
        try:
            if is_output(name):
                record = known.fresh[source_of(name)].outputs[os.path.basename(name)]
                if digest(read_output(path)) != record.digest:
                    return False
            else:
                data = read_regular(path)
                if digest(data) != known.sources[name].signature.digest:
                    if not _says_the_same(data, name, known):
                        return False
                    # The status that was seen may not be that of the bytes that were read.
                    records[name] = known.sources[name]._replace(signature=Signature(NO_STAT, digest(data)))
        except (KeyError, OSError):
            return False
    if records:
        manifest.update(root, known, records)
    return True


def _says_the_same(data: bytes, name: str, known: Manifest) -> bool:
    """Whether a source says what it said, so far as that can be told from its text alone."""
    record = known.sources[name]
    has_warnings = name in known.fresh and known.fresh[name].warnings  # which have places
    if has_warnings:
        return False
    is_package = os.path.basename(name) == "__init__.py" and record.module.rpartition(".")[2] != "__init__"
    origin = Origin("", record.module, is_package)
    if scan(data, origin) != record.scan:
        return False
    if not record.content:  # nobody has asked for it
        return True
    from ..generate.single_reading import content_of

    return content_of(data, name, origin) == record.content
