"""Opens the files of a project: from their bytes to what the levels know, with the classes that an adoption is about."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace

from ...common.field_kinds import is_tensor, members_of
from ...common.progress import counted
from ...generate.readings import Readings
from ...link.bases import Root
from ...link.program import Program
from ...model import ClassSource, SourceFile
from ...model.diagnostics import Diagnostic
from ...project.import_graph import closure, importers_of, source_graph
from ...project.scan import Origin, Scan, scan
from ...read.bindings import dotted, exported
from ...read.dotted_names import Scope
from ...read.positions import node_at
from ...read.syntax import decode, tree_of
from .files import OpenFile, Project, Text
from .records import FoundClass, Kind, Options

NN_MODULE = frozenset({"torch.nn.Module", "torch.nn.modules.Module", "torch.nn.modules.module.Module"})
TENSORCLASS_BASES = frozenset(
    {"tensordict.TensorClass", "tensordict.tensorclass.TensorClass", "tensordict.tensorclass._TensorClass"}
)
TENSORCLASS_DECORATORS = frozenset(
    {"tensordict.tensorclass", "tensordict.prototype.tensorclass", "tensordict.tensorclass.tensorclass"}
)
DATACLASS_DECORATORS = frozenset({"dataclasses.dataclass"})

_LEADING = (b"torch", b"tensordict", b"lightning", b"qten_gen", b"transformers", b"mmcv", b"mmengine")
"""A file that mentions none of these, and imports no file that does, has no class to adopt."""

_LAYER = re.compile(r"torch\.(?:ao\.)?nn\.(?:modules\.\w+\.)?(?P<name>[A-Z]\w*)")
_NO_LAYERS = frozenset({"Module", "Parameter", "Buffer", "UninitializedParameter", "UninitializedBuffer"})
_OF_LIBRARIES = frozenset(
    "lightning.LightningModule lightning.pytorch.LightningModule pytorch_lightning.LightningModule "
    "transformers.PreTrainedModel transformers.modeling_utils.PreTrainedModel diffusers.ModelMixin "
    "diffusers.models.modeling_utils.ModelMixin mmcv.runner.BaseModule mmengine.model.BaseModule fairseq.models.BaseFairseqModel "
    "tensordict.nn.TensorDictModuleBase tensordict.nn.TensorDictModule torch.jit.ScriptModule".split()
)
"""Classes of other libraries that are known to derive from nn.Module."""


@dataclass(frozen=True, slots=True)
class Sources:
    """The files of a project as text, and which of them are below the given paths."""

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
    """The open files of a project, and what reads them all."""

    project: Project
    readings: Readings
    problems: tuple[Diagnostic, ...]
    """Why some files cannot be read."""
    paths: tuple[str, ...]
    """The files below the given paths that mention torch or import a file that does: levels change no others."""
    used: Mapping[str, frozenset[str]]
    """For each module, what other files imported from it before the first level."""


def open_project(
    sources: Sources, options: Options, before: Opened | None = None, *, heads_only: bool = False
) -> Opened:
    """Open the files that may have classes to adopt, `heads_only` without bodies. Those read `before` are not read again."""
    used: Mapping[str, frozenset[str]]
    if before is None:
        graph = source_graph(sources.origins, sources.scans, sources.origins)  # every file is relevant
        leading = {path for path, data in sources.texts.items() if any(word in data for word in _LEADING)}
        reached = closure(leading, importers_of(graph.imports).__getitem__)
        paths, used = tuple(sorted(reached & sources.targets)), _imported_names(sources)
        same: set[str] = set()
    else:  # levels add imports of libraries alone
        graph = before.readings.graph._replace(scans=sources.scans)
        paths, used = before.paths, before.used
        old = before.readings.sources
        same = {path for path, data in sources.texts.items() if old.get(path) is data}
    readings = Readings(sources.texts, graph, heads_only=heads_only)
    if before is not None:
        readings.take_over(before.readings, same)
    files: dict[str, OpenFile] = {}
    unreadable: list[Diagnostic] = []
    for path in counted(paths, "reading"):
        known = before.project.files.get(path) if before is not None and path in same else None
        opened = _open(path, sources.texts[path], readings, used, known)
        if opened is not None:
            files[path] = opened
        unreadable += readings.problems.get(path, ())
    families = {
        name
        for file in files.values()
        for each in file.classes.values()
        if each.kind is Kind.DATACLASS and each.holds_tensors
        for name in (each.qualified, *each.ancestors)
    }
    for path, file in files.items():
        plain = [
            name
            for name, each in file.classes.items()
            if each.kind is Kind.DATACLASS and each.qualified not in families
        ]
        files[path] = file.without(plain) if plain else file
    programs = {path: readings.program(path) for path in files}
    return Opened(Project(files, programs, options), readings, tuple(unreadable), paths, used)


def _open(
    path: str, data: bytes, readings: Readings, used: Mapping[str, frozenset[str]], known: OpenFile | None
) -> OpenFile | None:
    """A file with its classes; None for one that cannot be read. `known` is the same file, opened before."""
    program, origin = readings.program(path), readings.graph.origins[path]
    file = program.find(origin.module)
    content = decode(data, path)
    if file is None or file.path != path or path in readings.unread or not isinstance(content, str):
        return None
    tree = tree_of(content) if known is None else known.tree
    text = Text(content) if known is None else known.text
    scope = replace(_scope_of(file), lines=text.lines)
    found = list(_found_classes(path, file, tree, scope, program))
    return OpenFile(
        path,
        file.module,
        text,
        tree,
        scope,
        {each.name: each for each in found if not each.is_inner},
        tuple(each for each in found if each.is_inner),
        frozenset({*(exported(tree.body) or ()), *used.get(file.module, ()), *(("*",) if file.is_package else ())}),
    )


def _imported_names(sources: Sources) -> dict[str, frozenset[str]]:
    """For each module, what other files may import from it: `*` for all."""
    found: dict[str, set[str]] = {}
    for path, scanned in sources.scans.items():
        starred = "*" in scanned.binds
        for name in scanned.imports:
            module, _, last = name.rpartition(".")
            if sources.origins[path].module != module:
                found.setdefault(module, set()).add(last)
            if starred:
                found.setdefault(name, set()).add("*")
    return {module: frozenset(names) for module, names in found.items()}


def is_module_of_a_library(name: str) -> bool:
    """True if a qualified name is a class of torch or another library that derives from nn.Module.

    >>> [is_module_of_a_library(name) for name in ("torch.nn.Linear", "torch.nn.Parameter", "torch.nn.functional.relu")]
    [True, False, False]
    """
    return name in _OF_LIBRARIES or is_layer_of_torch(name)


def is_layer_of_torch(name: str) -> bool:
    """True if a qualified name is a class of torch.nn that derives from nn.Module."""
    layer = _LAYER.fullmatch(name)
    return layer is not None and layer["name"] not in _NO_LAYERS


def _scope_of(file: SourceFile) -> Scope:
    """The meanings of the names at the top level of a file."""
    classes = frozenset(cls.name for cls in file.classes)
    return Scope(file.module, file.is_package, file.imports, file.names, classes)


def _found_classes(
    path: str, file: SourceFile, tree: ast.Module, scope: Scope, program: Program
) -> Iterator[FoundClass]:
    """The classes of a file that an adoption is about, in their order."""
    placed: set[ast.ClassDef] = set()
    for cls in file.classes:
        qualified = f"{file.module}.{cls.name}"
        node = node_at(tree, cls.place)
        if not isinstance(node, ast.ClassDef):
            continue
        placed.add(node)
        ancestors = program.ancestry.mro(qualified)[1:]
        root = program.ancestry.root(qualified)
        kind = _kind({name for name, _ in cls.decorators}, ancestors, root)
        if kind is not None:
            yield FoundClass(path, file.module, cls.name, kind, node.lineno, ancestors, node, root is not None)
        elif _is_dataclass(cls):
            has = _holds_tensors(cls, ancestors, program)
            yield FoundClass(
                path, file.module, cls.name, Kind.DATACLASS, node.lineno, ancestors, node, holds_tensors=has
            )
    has_inner = any(line[:1].isspace() and line.lstrip().startswith("class ") for line in scope.lines)
    for node, outer in _inner_classes(tree) if has_inner else ():
        bases = tuple(program.names.resolve(scope.resolve(_name(base))) for base in node.bases)
        lineage = tuple(dict.fromkeys(name for base in bases if base for name in program.ancestry.mro(base)))
        root = next((root for root in Root if root.value in lineage), None)
        kind = _kind({scope.resolve(_name(decorator)) for decorator in node.decorator_list}, lineage, root)
        if kind is not None and node not in placed:
            name = f"{outer}.{node.name}"
            yield FoundClass(path, file.module, name, kind, node.lineno, lineage, node, root is not None, is_inner=True)


def _kind(decorators: Collection[str], ancestors: Collection[str], root: Root | None) -> Kind | None:
    """The kind of a class with such decorators and ancestors; None if it is neither a module nor a class of tensordict."""
    if (
        not TENSORCLASS_DECORATORS.isdisjoint(decorators)
        or not TENSORCLASS_BASES.isdisjoint(ancestors)
        or root is Root.TENSORCLASS
    ):
        return Kind.TENSORCLASS
    if root is Root.MODULE or any(name in NN_MODULE or is_module_of_a_library(name) for name in ancestors):
        return Kind.MODULE
    return None


def _is_dataclass(cls: ClassSource) -> bool:
    return any(name in DATACLASS_DECORATORS for name, _ in cls.decorators)


def _holds_tensors(cls: ClassSource, ancestors: Collection[str], program: Program) -> bool:
    """True if a dataclass, or one that it derives from, has a field for tensors."""
    bases = (base[1] for name in ancestors if (base := program.names.class_of(name)) is not None)
    fields = (field.annotation for each in (cls, *filter(_is_dataclass, bases)) for field in each.fields)
    types = (program.names.expand(annotation) for annotation in fields if annotation is not None)
    return any(is_tensor(member) for type in types for member in members_of(type))


def _name(expression: ast.expr) -> str:
    """The dotted name at the head of a base or decorator: `TensorClass` in `TensorClass["nocast"]`."""
    while isinstance(expression, ast.Call | ast.Subscript):
        expression = expression.func if isinstance(expression, ast.Call) else expression.value
    return dotted(expression) or ""


def _inner_classes(tree: ast.Module) -> Iterator[tuple[ast.ClassDef, str]]:
    """The classes inside classes and functions, each with the name of what it stands in."""
    waiting: list[tuple[ast.AST, str]] = [(tree, "")]
    while waiting:
        node, outer = waiting.pop()
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                continue
            inner = outer
            if isinstance(child, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                inner = f"{outer}.{child.name}".lstrip(".")
                if isinstance(child, ast.ClassDef) and outer:
                    yield child, outer
            waiting.append((child, inner))
