"""Finds out which outputs are fresh, stale or orphans: first by stat, then by digest, then by what the files say.

A source is fresh if nothing that its outputs were made from says anything else than in the last run, and the outputs are as it
left them. So an unchanged tree is only listed, a file that was only touched is read but not parsed, and after a change of a
comment one file is parsed.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cache
from typing import NamedTuple, Protocol

from ..common.header import digest, read_header
from . import cache as caches
from .cache import Cache, FreshRecord, Seen, SourceRecord, Stamp, Stat
from .config import Config
from .dependencies import Dependencies
from .files import ProjectFiles, Source, SourceTexts
from .import_graph import Modules, SourceGraph, source_graph
from .output_names import is_ours, name_of, outputs_of, source_of
from .paths import display_path, read_output, read_regular, relative_to
from .scan import Origin, scan


class Failure(NamedTuple):
    """A file that cannot be read, written or removed."""

    path: str
    problem: str


class Reader(Protocol):
    """A reader of sources that the cache does not answer for."""

    @property
    def contents(self) -> dict[str, str]:
        """The digests of what the files say that were read."""
        ...

    sources: Mapping[str, bytes]
    """The bytes of the files."""
    parsed: dict[str, bytes]
    """The files that are parsed, as they go into the cache."""


class ProjectState(NamedTuple):
    """The state of the files compared with the cache. Sources are identified by the paths that messages show."""

    files: ProjectFiles
    root: str
    """The folder of the cache."""
    names: Mapping[str, str]
    """The paths of the sources as they are in the cache."""
    previous: Cache
    """The cache of the last run."""
    records: dict[str, SourceRecord]
    """The sources as they are now."""
    make_graph: Callable[[], SourceGraph]
    """Gives the graph, which is made when it is first asked for."""
    parsed: Mapping[str, bytes] = {}
    """The sources that are parsed already, as they are in the cache."""
    fresh: Mapping[str, FreshRecord] = {}
    """The sources whose outputs are fresh, targets or not."""
    rendered: Mapping[str, FreshRecord] = {}
    """The stale targets whose outputs are as the last run left them, with what it recorded."""
    stale: tuple[str, ...] = ()
    """Targets whose outputs have to be planned."""
    orphans: Mapping[str, bytes] = {}
    """Generated files that no source has any more."""
    failures: tuple[Failure, ...] = ()
    has_same_places: bool = False
    """True if each source has the place among the others that it had in the last run."""

    @property
    def graph(self) -> SourceGraph:
        """The sources and their imports."""
        return self.make_graph()

    @property
    def relevant(self) -> list[str]:
        """The sources that can affect a declaration, sorted."""
        return sorted(path for path, record in self.records.items() if record.is_relevant)


Parse = Callable[[bytes, str, Origin], "tuple[str, bytes | None]"]
"""Gives the digest of what a source says, and the parsed source, from its bytes."""


def torn_sources(state: ProjectState, reader: Reader) -> list[str]:
    """The sources that were read with other bytes than their records say: they changed in between.

    A record with the digest of one text and the content of another would call what was made of the other one fresh, for good.
    """
    read = reader.sources.digests if isinstance(reader.sources, SourceTexts) else {}
    return [path for path, found in read.items() if found != state.records[path].signature.digest]


def project_state(
    files: ProjectFiles,
    root: str,
    config: Config,
    parse: Parse | None = None,
    unsaved: Mapping[str, bytes] = {},
    previous: Cache | None = None,
    undeclared: Collection[str] = (),
    has_same_names: bool = False,
) -> ProjectState:
    """Read the files that have changed since the last run, and find out which targets are fresh.

    Args:
        files: The files of the project. Those outside that imports lead to are added.
        root: The folder that holds the cache.
        config: The settings of the project.
        parse: Parses a changed file. Without it, nothing is fresh that depends on one.
        unsaved: Texts of files that differ from those on the disk.
        previous: What to compare with instead of the cache on the disk.
        undeclared: Sources whose outputs are no reason to read them.
        has_same_names: Whether the last run listed the same names, and its outcome depended on nothing else.
    """
    previous = caches.load(root) if previous is None else previous
    now = time.time_ns()
    records: dict[str, SourceRecord] = {}
    edited: dict[str, bytes] = {}
    unreadable: list[Failure] = []
    names: dict[str, str] = {}
    dependencies: Dependencies | None = None
    more: Mapping[str, Source] = files.sources
    graph: SourceGraph | None = None
    while more or graph is None:
        names.update(_cached_names(more, root))
        for path, source in more.items():
            try:
                before = previous.sources.get(names[path])
                records[path] = _record(path, source, unsaved.get(path), before, now, edited)
            except FileNotFoundError:
                continue  # it has been removed since it was listed
            except OSError as error:
                unreadable.append(Failure(path, f"cannot read it: {error.strerror}"))
        present = {names[path]: record for path, record in records.items()}
        old = previous.sources
        has_same = has_same_names and not unreadable and present.keys() == old.keys()
        if has_same and all(new is old[name] or new.scan == old[name].scan for name, new in present.items()):
            break  # each has the place that it had
        dependencies = dependencies or Dependencies(config)
        dependencies.unreadable.update(failure.path for failure in unreadable)
        origins = {path: files.sources[path].origin for path in records}
        scans = {path: record.scan for path, record in records.items()}
        outside = frozenset(path for path in records if files.sources[path].outside)
        modules = Modules.of(origins, outside)
        more = dependencies.missing(origins, scans, modules)
        files = files._replace(sources={**files.sources, **more})
        graph = _graph(files, records, modules, undeclared)
        graph = graph._replace(unresolved=dependencies.unresolved(origins, scans, outside, modules))
        if not config.has_file:  # files elsewhere may import any of these
            graph = graph._replace(imported=frozenset(origins))
    made = graph
    parsed = {
        path: previous.parsed[name]
        for path, name in names.items()
        if name in previous.parsed and path in records and path not in edited
    }
    make_graph = cache(lambda: made or _graph(files, records, None, undeclared))
    state = ProjectState(
        files,
        root,
        names,
        previous,
        records,
        make_graph,
        parsed,
        failures=tuple(unreadable),
        has_same_places=graph is None,
    )
    if graph is not None:
        roots = {each: relative_to(each, root) for each in {origin.root for origin in graph.origins.values()}}
        records.update({path: record._replace(place=_place(path, roots, graph)) for path, record in records.items()})
    return _compared(state, edited, now, parse)


def _graph(
    files: ProjectFiles, records: Mapping[str, SourceRecord], modules: Modules | None, undeclared: Collection[str]
) -> SourceGraph:
    """The graph of the sources that could be read. Its folders are paths that messages can show."""
    origins = {path: files.sources[path].origin for path in records}
    generated = {source_of(path) for path in files.outputs}.difference(undeclared)
    graph = source_graph(origins, {path: record.scan for path, record in records.items()}, generated, modules)
    shown = {path: item._replace(root=display_path(item.root)) for path, item in graph.mismatches.items() if item.root}
    return graph._replace(mismatches={**graph.mismatches, **shown})


def _cached_names(paths: Iterable[str], root: str) -> dict[str, str]:
    """The paths as they are in the cache: relative to its folder, with forward slashes."""
    folders: dict[str, str] = {}
    names = {}
    for path in paths:
        folder, name = os.path.split(path)
        if folder not in folders:
            relative = relative_to(folder or ".", root)
            folders[folder] = "" if relative == "." else f"{relative}/"
        names[path] = folders[folder] + name
    return names


def _record(
    path: str, source: Source, data: bytes | None, before: SourceRecord | None, now: int, edited: dict[str, bytes]
) -> SourceRecord:
    """The record of a source. It is read only if its status has changed, and scanned only if its digest has.

    The bytes of one that has changed are added to those of the `edited` ones. `data` are some that are not on the disk.
    """
    origin = source.origin
    if before is not None and before.module != origin.module:
        before = None
    if data is not None:
        found = Stamp(caches.NO_STAT, digest(data))
    elif before is not None and before.signature.stat == source.stat:
        return before
    else:
        data = read_regular(path)
        found = Stamp.of(source.stat, digest(data), now)
    if before is not None and before.signature.digest == found.digest:
        return before._replace(signature=found)
    edited[path] = data
    place = "" if before is None else before.place
    return SourceRecord(found, origin.module, scan(data, origin), place=place)


def _compared(state: ProjectState, edited: Mapping[str, bytes], now: int, parse: Parse | None) -> ProjectState:
    """A state whose files have their places, compared with the cache."""
    names, previous, records = state.names, state.previous, state.records
    parsed = dict(state.parsed)
    for path in state.relevant:
        before = previous.sources.get(names[path])
        if path in edited and before is not None and before.content and parse is not None:
            content, data = parse(edited[path], path, state.files.sources[path].origin)
            records[path] = records[path]._replace(content=content)
            parsed.update({} if data is None else {path: data})
    present = {names[path]: record for path, record in records.items()}
    changed = {*_changes(previous.sources, present)}
    return _with_targets(state._replace(parsed=parsed), changed, edited, now)


def _with_targets(state: ProjectState, changed: set[str], edited: Collection[str], now: int) -> ProjectState:
    """A state with its fresh and stale sources. `changed` are look-ups, and `edited` sources."""
    fresh: dict[str, FreshRecord] = {}
    rendered: dict[str, FreshRecord] = {}
    stale = []
    for path in state.relevant:
        known, is_target = state.previous.fresh.get(state.names[path]), state.files.sources[path].target
        if known is not None and is_target:
            outputs = _verified_outputs(known.outputs, path, state.files.outputs, now)
            known = None if outputs is None else known if outputs == known.outputs else known._replace(outputs=outputs)
        # Warnings say lines, which may have moved.
        has_moved = known is not None and bool(known.warnings) and path in edited
        if known is not None and not has_moved and changed.isdisjoint(known.lookups):
            fresh[path] = known
        elif is_target:
            stale.append(path)
            if known is not None:
                rendered[path] = known
    unlistable = [Failure(display_path(path), problem) for path, problem in state.files.unlistable.items()]
    failures = [*unlistable, *state.failures]
    orphans, shadowed = _orphans(state, fresh, {*stale, *(failure.path for failure in failures)})
    return state._replace(
        fresh=fresh, rendered=rendered, stale=tuple(stale), orphans=orphans, failures=(*failures, *shadowed)
    )


def _place(path: str, roots: Mapping[str, str], graph: SourceGraph) -> str:
    """The place of a source among the others, as far as a declaration depends on it."""
    origin, unresolved = graph.origins[path], graph.unresolved.get(path)
    is_relevant = path in graph.relevant
    found = f"{'*' * is_relevant}{roots[origin.root]} {'package' * origin.is_package}"
    if is_relevant:
        if graph.scans[path].calls and path not in graph.imported:
            found += " not imported"
        if path in graph.mismatches:
            found += f" {graph.mismatches[path]}"
    return found if unresolved is None else f"{found} {sorted(unresolved)}"


def _changes(before: Mapping[str, SourceRecord], now: Mapping[str, SourceRecord]) -> Iterator[str]:
    """The look-ups (see `link.lookups`) that find something else now."""
    for name in before.keys() | now.keys():
        old, new = before.get(name), now.get(name)
        if old is new:
            continue
        if old is None or new is None or (old.module, old.place) != (new.module, new.place):
            for module in {record.module for record in (old, new) if record is not None}:
                yield from (module, f"?{module}")
            continue
        if old.content and old.content != new.content:
            yield new.module
    heads = ({item.module.partition(".")[0] for item in each.values() if item.is_relevant} for each in (before, now))
    first, second = heads
    yield from (f"{head}." for head in first ^ second)


def _verified_outputs(
    recorded: Mapping[str, Stamp], source: str, found: Mapping[str, Stat], now: int
) -> dict[str, Stamp] | None:
    """The recorded outputs with their current times; None if one has changed or is missing."""
    verified = {}
    for output in outputs_of(source):
        name = name_of(output)
        if name in recorded:
            status, expected = found.get(output), recorded[name]
            if status is None:
                return None
            if status != expected.stat:
                if digest(read_output(output)) != expected.digest:
                    return None
                expected = Stamp.of(status, expected.digest, now)
            verified[name] = expected
    return verified if verified.keys() == recorded.keys() else None


def _orphans(
    state: ProjectState, fresh: Mapping[str, FreshRecord], claimed: Collection[str]
) -> tuple[dict[str, bytes], list[Failure]]:
    """Generated files whose source is gone or declares nothing, and failures for declarations under the names of outputs.

    The outputs of `claimed` sources are left to the plan.
    """
    orphans: dict[str, bytes] = {}
    failures: list[Failure] = []
    for path in state.files.outputs:
        source = source_of(path)
        is_claimed = source in claimed or (source in fresh and name_of(path) in fresh[source].outputs)
        # A source that may declare something has an error for what stands in the way of its outputs.
        if is_claimed and (source not in state.records or state.records[source].scan.mentions):
            continue
        data = read_output(path)
        if is_ours(path, data):
            orphans.update({} if is_claimed else {path: data})
        elif path.endswith(".py") and read_header(data) is None:
            found = scan(data, Origin("", ""))
            if found.mentions and found.derives:
                problem = "it contains declarations, but has the name of a generated file; rename it"
                failures.append(Failure(path, problem))
    return orphans, failures


def save(
    state: ProjectState, fresh: Mapping[str, FreshRecord], reader: Reader | None, seen: Seen | None = None
) -> None:
    """Save what a run has found, and what its reader has read. `seen` is for one that left nothing to do."""
    caches.save(state.root, found_now(state, fresh, reader), seen)


def found_now(state: ProjectState, fresh: Mapping[str, FreshRecord], reader: Reader | None) -> Cache:
    """The cache after a run. It leaves out the sources that changed meanwhile, so that all that looks them up is stale."""
    names, records, parsed = state.names, state.records, state.parsed
    if reader is not None:
        parsed = reader.parsed
        said = {path: records[path]._replace(content=content) for path, content in reader.contents.items()}
        torn = {*torn_sources(state, reader)}
        records = {path: record for path, record in {**records, **said}.items() if path not in torn}
    return Cache(
        {names[path]: record for path, record in records.items()},
        {names[path]: record for path, record in fresh.items() if path in records},
        {names[path]: data for path, data in parsed.items() if path in records},
        state.previous.lines,
    )
