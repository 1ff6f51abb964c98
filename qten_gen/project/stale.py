"""Finds out which outputs are fresh, stale or orphans: first by stat, then by digest, then by what the files say.

A source is fresh if nothing that its outputs were made from says anything else than in the last run, and the outputs are as it
left them. So an unchanged tree is only listed, a file that was only touched is read but not parsed, and after a change of a
comment one file is parsed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cache
from typing import NamedTuple, Protocol

from ..common.header import digest, read_header
from .cache import Cache, FreshRecord, SourceRecord, Stamp, Stat, load
from .config import Config
from .dependencies import Dependencies
from .files import ProjectFiles, SourceTexts
from .import_graph import Modules, SourceGraph, source_graph
from .output_names import is_ours, name_of, outputs_of, source_of
from .paths import display_path, read_output
from .scan import Origin, scan
from .sources import Failure, Sources


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

    @property
    def fresh_targets(self) -> dict[str, FreshRecord]:
        """The targets whose outputs are fresh."""
        return {path: record for path, record in self.fresh.items() if self.files.sources[path].target}

    @property
    def up_to_date(self) -> int:
        """The number of fresh outputs of targets."""
        return sum(len(record.outputs) for record in self.fresh_targets.values())


Parse = Callable[[bytes, str, Origin], "tuple[str, bytes | None]"]
"""Gives the digest of what a source says, and the parsed source, from its bytes."""


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
        files: The files of the project. Files outside that imports lead to are added.
        root: The folder that holds the cache.
        config: The settings of the project.
        parse: Parses a changed file. Without it, nothing is fresh that depends on one.
        unsaved: Texts of files that differ from those on the disk.
        previous: What to compare with instead of the cache on the disk.
        undeclared: Sources whose outputs are no reason to read them.
        has_same_names: True if the last run listed the same names, and its outcome depended on nothing else.
    """
    sources = Sources(root, load(root) if previous is None else previous, unsaved)
    sources.add(files.sources)
    graph = None
    # The places of files among each other follow from their names and imports. Where both are the same, no graph is made.
    if not (has_same_names and sources.import_the_same()):
        files, graph = _with_dependencies(files, sources, config, undeclared)
        sources.place(graph)
    records = sources.records
    state = ProjectState(
        files,
        sources.names,
        sources.previous,
        records,
        cache(lambda: graph or _graph(files, records, None, undeclared)),
        sources.parsed_before(),
        failures=tuple(sources.unreadable),
        has_same_places=graph is None,
    )
    if parse is not None:
        state = _parsed(state, sources.edited, parse)
    changed = {*_changes(state.previous.sources, sources.by_name())}
    return _with_targets(state, changed, sources.edited, sources.now)


def _with_dependencies(
    files: ProjectFiles, sources: Sources, config: Config, undeclared: Collection[str]
) -> tuple[ProjectFiles, SourceGraph]:
    """Read the files outside the project that imports lead to, directly or not. Return all files, and their graph."""
    dependencies = Dependencies(config)
    while True:
        dependencies.unreadable.update(failure.path for failure in sources.unreadable)
        origins = {path: files.sources[path].origin for path in sources.records}
        scans = {path: record.scan for path, record in sources.records.items()}
        outside = frozenset(path for path in sources.records if files.sources[path].outside)
        modules = Modules.of(origins, outside)
        more = dependencies.missing(origins, scans, modules)
        if not more:
            break
        files = files._replace(sources={**files.sources, **more})
        sources.add(more)
    graph = _graph(files, sources.records, modules, undeclared)
    graph = graph._replace(unresolved=dependencies.unresolved(origins, scans, outside, modules))
    if not config.has_file:  # files elsewhere may import any of these
        graph = graph._replace(imported=frozenset(origins))
    return files, graph


def _graph(
    files: ProjectFiles, records: Mapping[str, SourceRecord], modules: Modules | None, undeclared: Collection[str]
) -> SourceGraph:
    """The graph of the sources that could be read. Its folders are paths that messages can show."""
    origins = {path: files.sources[path].origin for path in records}
    generated = {source_of(path) for path in files.outputs}.difference(undeclared)
    graph = source_graph(origins, {path: record.scan for path, record in records.items()}, generated, modules)
    shown = {path: item._replace(root=display_path(item.root)) for path, item in graph.mismatches.items() if item.root}
    return graph._replace(mismatches={**graph.mismatches, **shown})


def _parsed(state: ProjectState, edited: Mapping[str, bytes], parse: Parse) -> ProjectState:
    """A state whose edited sources are parsed, as far as something depended on what they said."""
    parsed = dict(state.parsed)
    for path in state.relevant:
        before = state.previous.sources.get(state.names[path])
        if path in edited and before is not None and before.content:
            content, data = parse(edited[path], path, state.files.sources[path].origin)
            state.records[path] = state.records[path]._replace(content=content)
            parsed.update({} if data is None else {path: data})
    return state._replace(parsed=parsed)


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
        # A source without a digest of its content was never parsed, so nothing depends on its content.
        if old.content and old.content != new.content:
            yield new.module
    # A package that is new, or gone, decides whether its names are looked up among the files at all.
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


def torn_sources(state: ProjectState, reader: Reader) -> list[str]:
    """The sources that were read with other bytes than their records say: they changed in between.

    A record with the digest of one text and the content of another would call what was made of the other one fresh, for good.
    """
    read = reader.sources.digests if isinstance(reader.sources, SourceTexts) else {}
    return [path for path, found in read.items() if found != state.records[path].stamp.digest]


def cache_after(state: ProjectState, fresh: Mapping[str, FreshRecord], reader: Reader | None) -> Cache:
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
