"""Opens the files of a project: from their bytes to what the levels know."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

from ...generate.readings import Readings
from ...link.program import Program
from ...model.diagnostics import Diagnostic
from ...project.import_graph import SourceGraph, closure, importers_of, source_graph
from ...project.scan import Origin, Scan, scan
from ...read.encoding import decode
from ...read.exported import exported
from ...read.source_lines import lines_of
from ...read.syntax import tree_of
from .adoption import FoundClass, Options
from .finding import NN_MODULE, found_classes, is_module_of_a_library, scope_of
from .opened import OpenFile, Project
from .source_text import Text

_LEADING = (b"torch", b"tensordict", b"lightning", b"qten_gen", b"transformers", b"mmcv", b"mmengine")
"""A file that mentions none of these, and imports no file that does, has no class to adopt."""

_CLASS = re.compile(rb"\bclass[\s\\]+([^\s:(\[\\]+)[\s\\]*(?::|\(([^:]*)\)[\s\\]*:|([(\[]))")
"""A class statement: its name, and its bases; or the bracket behind the name where these are harder to find."""

_NAME = re.compile(rb"[^\W\d][\w.]*|[\x80-\xff]")
_PLAIN = frozenset(
    b"ABC ABCMeta Any Dataset Enum Exception Function Generic IntEnum NamedTuple Optimizer Protocol RuntimeError TestCase "
    b"TypedDict ValueError dict int list metaclass object str tuple type".split()
)
"""Bases that no module has, unless a class of the project has the name."""

_DATACLASS = re.compile(
    rb"^@[\w.]*dataclass\b(?:\([^()]*\))?[^\n]*\n(?:[@#][^\n]*\n)*class\b"
    rb"[^\n]*(?:\n(?:[ \t][^\n]*|\r)?)*?\n[ \t]+\w[^\n]*(?:ensor|Parameter)"
    rb"|\bdataclass[^\S\n]+as\b|^\w+[ \t]*(?::[^=\n]*)?=[^(\n]*ensor\b[^(\n]*$",
    re.MULTILINE,
)
"""A dataclass that mentions tensors, or a name that may be one for them."""

_STAR = re.compile(rb"\bimport\s*\(?\s*\*")


@dataclass(frozen=True, slots=True)
class Sources:
    """The files of a run as text: those of the project, and which of them are below the given paths."""

    texts: Mapping[str, bytes]
    origins: Mapping[str, Origin]
    scans: Mapping[str, Scan]
    targets: frozenset[str]
    outputs: Mapping[str, bytes] = field(default_factory=dict)
    """The files that have the name of an output of a target, whoever wrote them."""
    locked: frozenset[str] = frozenset()
    """The targets that cannot be written."""

    @classmethod
    def of(
        cls,
        texts: Mapping[str, bytes],
        origins: Mapping[str, Origin],
        targets: Collection[str],
        outputs: Mapping[str, bytes] | None = None,
        locked: Collection[str] = (),
    ) -> Sources:
        scans = {path: scan(data, origins[path]) for path, data in texts.items()}
        return cls(texts, origins, scans, frozenset(targets), outputs or {}, frozenset(locked))

    def changed(self, texts: Mapping[str, bytes]) -> Sources:
        """The same files, some of them with other texts."""
        scans = {path: scan(data, self.origins[path]) for path, data in texts.items()}
        return replace(self, texts={**self.texts, **texts}, scans={**self.scans, **scans})


@dataclass(frozen=True, slots=True)
class Opened:
    """The files of a project that have classes to adopt, and what reads them all."""

    project: Project
    readings: Readings
    problems: tuple[Diagnostic, ...]
    """Why some files cannot be read."""
    promising: tuple[str, ...]
    """The files that may have classes to adopt, and so those that levels change."""
    used: Mapping[str, frozenset[str]]
    """For each module, what other files imported from it before the first level."""


def open_project(sources: Sources, options: Options, before: Opened | None = None) -> Opened:
    """Open the files with classes that an adoption is about. Files that are as they were `before` are not read again."""
    used: Mapping[str, frozenset[str]]
    if before is None:
        graph = source_graph(sources.origins, sources.scans, sources.origins)  # every file is relevant
        used, promising = _imported_names(sources), tuple(sorted(_promising(sources, graph)))
    else:  # levels add imports of libraries alone
        graph = before.readings.graph._replace(scans=sources.scans)
        used, promising = before.used, before.promising
    readings = Readings(sources.texts, graph)
    if before is not None:
        old = before.readings.sources
        readings.take_over(before.readings, (path for path, data in sources.texts.items() if old.get(path) is data))
    files: dict[str, OpenFile] = {}
    unreadable: list[Diagnostic] = []
    for path in promising:
        known = before.project.files.get(path) if before is not None and _is_same(path, sources, before) else None
        opened = _open(path, sources.texts[path], readings, used, known)
        if isinstance(opened, OpenFile):
            files[path] = opened
        unreadable += readings.problems.get(path, ())
    programs = {path: readings.program(path) for path in files}
    project = Project(files, programs, options, partial(_opened_helper, readings, programs))
    return Opened(project, readings, tuple(unreadable), promising, used)


def _opened_helper(readings: Readings, programs: dict[str, Program], program: Program, module: str) -> OpenFile | None:
    """A file that has functions and no class to adopt; None for one that the program does not have."""
    file = program.find(module)
    if file is None or file.path not in readings.sources or file.path in readings.unread:
        return None
    content = decode(readings.sources[file.path], file.path)
    if not isinstance(content, str):
        return None
    programs[file.path] = program
    scope = replace(scope_of(file), lines=lines_of(content))
    return OpenFile(file.path, module, file.is_package, Text(content), tree_of(content), scope, {})


def _promising(sources: Sources, graph: SourceGraph) -> Iterator[str]:
    """The files below the given paths that may have classes to adopt: by the names of bases, before anything is parsed."""
    importers = importers_of(graph.imports)
    leading = {path for path, data in sources.texts.items() if any(word in data for word in _LEADING)}
    reached = closure(leading, importers.__getitem__)
    own = {origin.module.partition(".")[0] for origin in sources.origins.values()}
    heads = {path: list(_heads(sources.texts[path], sources.scans[path].imports, own)) for path in reached}
    bases: dict[bytes, set[bytes]] = {}
    for name, names in (head for found in heads.values() for head in found):
        bases.setdefault(name, set()).update(names)
    known = (bases.keys() | _PLAIN) - {b"Module", b"TensorClass"}
    modules = {name for name, names in bases.items() if names - known}
    while more := {name for name, names in bases.items() if name not in modules and not names.isdisjoint(modules)}:
        modules |= more
    for path in reached & sources.targets:
        data = sources.texts[path]
        has_tensors = b"tensorclass" in data or (b"dataclass" in data and _DATACLASS.search(data) is not None)
        if has_tensors or any(name in modules or _is_alias(names, data) for name, names in heads[path]):
            yield path


def _heads(data: bytes, imports: Iterable[str], own: Collection[str]) -> Iterator[tuple[bytes, set[bytes]]]:
    """The names of the classes of a text, each with the last parts of the names in its brackets.

    Those of torch.nn are whole, roots that the file imports from a library begin with a dot, and what else it imports from
    libraries is left out: a class of these is none to adopt.
    """
    foreign = {name.rpartition(".")[2].encode(): name for name in imports if name.partition(".")[0] not in own}
    for name, inside, other in _CLASS.findall(data):
        names = {b"?"} if other else set()
        for each in _NAME.findall(inside):
            first, last = each.partition(b".")[0], each.rpartition(b".")[2]
            if b"nn." in each or (last not in foreign and (first == last or first not in foreign)):
                names.add(each if b"nn." in each else last)
            elif _is_root(foreign.get(last) or each.decode()):
                names.add(b"." + last)
        yield name, names


def _is_root(name: str) -> bool:
    """Whether a name of a library is a class that makes its subclasses ones to adopt, or may be one."""
    return name in NN_MODULE or is_module_of_a_library(name) or name.startswith(("qten_gen", "tensordict"))


def _is_alias(names: Collection[bytes], data: bytes) -> bool:
    """Whether a file may give one of the names another meaning than that of a class."""
    return any(
        re.search(rb"(?m)^[^\S\n]*%b[^\S\n]*=|\bas[^\S\n]+%b\b" % (name, name), data) for name in map(re.escape, names)
    )


def _is_same(path: str, sources: Sources, before: Opened) -> bool:
    return before.readings.sources.get(path) is sources.texts[path]


def _open(
    path: str, data: bytes, readings: Readings, used: Mapping[str, frozenset[str]], known: OpenFile | None
) -> OpenFile | None:
    """A file with its classes; None for one without any, and for one that cannot be read. `known` is what was opened before."""
    program, origin = readings.program(path), readings.graph.origins[path]
    file = program.find(origin.module)
    content = decode(data, path)
    if file is None or file.path != path or path in readings.unread or not isinstance(content, str):
        return None
    tree = tree_of(content) if known is None else known.tree
    found = list(found_classes(path, file, tree, content, program))
    if not found:
        return None
    named = exported(tree.body) or ()
    classes: dict[str, FoundClass] = {each.name: each for each in found if not each.is_inner}
    return OpenFile(
        path,
        file.module,
        file.is_package,
        Text(content) if known is None else known.text,
        tree,
        replace(scope_of(file), lines=lines_of(content)),
        classes,
        tuple(each for each in found if each.is_inner),
        frozenset({*named, *used.get(file.module, ()), *(("*",) if file.is_package else ())}),
    )


def _imported_names(sources: Sources) -> dict[str, frozenset[str]]:
    """For each module, what other files may import from it: `*` for all."""
    found: dict[str, set[str]] = {}
    for path, scanned in sources.scans.items():
        starred = b"*" in sources.texts[path] and _STAR.search(sources.texts[path]) is not None
        for name in scanned.imports:
            module, _, last = name.rpartition(".")
            if sources.origins[path].module != module:
                found.setdefault(module, set()).add(last)
            if starred:
                found.setdefault(name, set()).add("*")
    return {module: frozenset(names) for module, names in found.items()}
