"""Applies the rules to the plain modules of a project: the rules about plain classes, and two about what methods do."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import NamedTuple

from ...common.progress import counted
from ...common.records import replace as replace_record
from ...generate.suppression import unsuppressed
from ...link.program import Program
from ...model import AttributeChange, BaseDecl, ClassSource, MethodSource, ModuleDecl, NodePath
from ...model.diagnostics import UNUSED_SUPPRESSION, Diagnostic, Span, ordered
from ...project.import_graph import Modules, closure, importers_of
from ...read.classes import constructors
from ...read.own_state import registered_state
from ...read.positions import locate, node_at
from ...read.syntax import keeping_trees
from ...rules import PLAIN_RULES, UNREGISTERED_STATE
from ...rules import Facts as Declared
from ...rules.plain_classes import Finding, PlainClass, attribute_of, stays_where_it_is
from ...rules.rule_input import RuleContext
from ..adopt.files import OpenFile, Project, method_of
from ..adopt.opening import NN_MODULE, Sources, open_project
from ..adopt.records import FoundClass, Kind, Options

_WITHOUT_ATTRIBUTES = frozenset(
    {"object", "builtins.object", "abc.ABC", "typing.Generic", "typing.Protocol", *NN_MODULE}
)
"""Ancestors outside the project whose attributes are known."""


class Checked(NamedTuple):
    """The findings in the classes of a project."""

    findings: tuple[Diagnostic, ...]
    classes: int
    files: int


def check(sources: Sources) -> Checked:
    """Check the plain modules in the files of a run. Files that may have some and cannot be read are among the findings."""
    targets = sources.targets & _with_modules(sources)
    with keeping_trees():
        opened = open_project(replace(sources, targets=targets), Options(), heads_only=True)
    hierarchy = _Hierarchy(opened.project, sources.texts)
    found = list(opened.problems)
    number = files = 0
    for path, file in counted(opened.project.files.items(), "checking"):
        modules = [each for each in file.all_classes if each.kind is Kind.MODULE and not each.is_adopted]
        number, files = number + len(modules), files + bool(modules)
        of_file: list[Diagnostic] = []
        for each in modules:
            cls = hierarchy.plain(each, file)
            of_file += _of_plain_rules(cls, file)
            if not each.is_inner:
                of_file += _of_unregistered_state(each, cls, file, hierarchy, opened.project.programs[path])
        kept = unsuppressed(of_file, path, sources.texts[path])
        # Comments may be about what the generator reports.
        found += locate((item for item in kept if item.kind != UNUSED_SUPPRESSION), {path: sources.texts[path]})
    return Checked(ordered(found), number, files)


_HOMES = re.compile(
    r"torch(?:\.(?:ao\.)?nn\b.*|\.jit\b.*)?|tensordict\.nn\b.*"
    r"|(?:(?:pytorch_)?lightning|transformers|diffusers|mmcv|mmengine|fairseq)\b.*"
)
"""The modules of libraries that classes derived from nn.Module come from."""
_NAMES = re.compile(rb"\bnn\b|Module|Model")
_ALIAS = re.compile(rb"=\s*[\w.]*Module\b")
"""An assignment that gives nn.Module another name."""


def _with_modules(sources: Sources) -> set[str]:
    """The files that may have a class derived from nn.Module, by their imports alone: most others are not parsed."""
    scans, origins, modules = sources.scans, sources.origins, Modules.of(sources.origins)
    deriving = {path for path, scanned in scans.items() if scanned.derives}
    bases = {path: {*modules.find(origins[path], scans[path].bases)} for path in deriving}
    importers = importers_of({path: modules.find(origins[path], each.imports) for path, each in scans.items()})
    near = {path for path, each in scans.items() if any(map(_HOMES.fullmatch, each.imports))}
    near = {path for path in near if _NAMES.search(sources.texts[path])}
    naming = {path for path in near if _ALIAS.search(sources.texts[path])}
    found = deriving & naming | {path for path in deriving if any(map(_HOMES.fullmatch, scans[path].bases))}
    starred = {path for path, each in scans.items() if "*" in each.binds}
    # Files that hand on a name of another file, which a class of this file derives from.
    passing = {path: {*modules.passing(origins[path], scans[path].bases, scans)} for path in deriving}
    passing.update(
        {path: bases[path] if path in starred else passing[path] | bases[path] & starred for path in deriving}
    )
    size = -1
    while len(found) > size:  # a level of ancestors each time
        size = len(found)
        leading = closure(found | naming, importers.__getitem__) | near
        found |= {path for path in deriving if bases[path] & (found | naming) or passing[path] & leading}
    return found


def _of_plain_rules(cls: PlainClass, file: OpenFile) -> Iterator[Diagnostic]:
    for rule in PLAIN_RULES:
        for finding in rule.of_plain(cls):
            yield Diagnostic(rule.kind, finding.message, help=finding.help, path=file.path, span=_span(finding, file))


def _span(finding: Finding, file: OpenFile) -> Span:
    """Where a finding is: of a function its name, of another statement its first line."""
    node, text = finding.node, file.text
    start, end = text.span(node)
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        start = text.content.index(node.name, start + len("def"))
        end = start + len(node.name)
    line = text.content.count("\n", 0, start) + 1
    first = text.offset(line, 0)
    whole = text.lines[line - 1]
    return Span(line, start - first + 1, line, min(end - first, len(whole)) + 1, whole)


def _of_unregistered_state(
    found: FoundClass, cls: PlainClass, file: OpenFile, hierarchy: _Hierarchy, program: Program
) -> Iterator[Diagnostic]:
    """The findings of a rule about declared classes, as far as they are mistakes in any class."""
    read = program.names.class_of(found.qualified)
    methods = () if read is None else tuple(_constructors(found, read[1].place, file, program))
    if read is None or not any(change.makes for method in methods for change in method.changes):
        return
    source = replace_record(read[1], methods=methods)
    bases = tuple(BaseDecl(base.name, base.text, declared=False) for base in source.bases)
    declaration = ModuleDecl(found.name, (), (), custom_init=True, module=file.module, bases=bases)
    classes = {found.qualified: source, **_classes(found.ancestors, program)}
    context = RuleContext(declaration, source, read[0], Declared(classes=classes))
    for item in UNREGISTERED_STATE.of_declaration(context):
        node = node_at(file.tree, item.place)
        # Asked only here, because few classes get here.
        if isinstance(node, ast.Attribute) and node.attr in hierarchy.registered(found):
            continue
        made = list(_assigned(node, cls)) if isinstance(node, ast.Attribute) else []
        # `torch.zeros(3, requires_grad=True)` is made to be trained.
        if isinstance(node, ast.Attribute) and any("requires_grad=True" in ast.unparse(each) for each in made):
            message = f"the tensor self.{node.attr} requires a gradient and is not registered: parameters() lacks it"
            yield replace(item, path=file.path, message=message, help="write nn.Parameter(...)")
        elif not isinstance(node, ast.Attribute) or not (
            node.attr in hierarchy.moved or _is_harmless(item, node.attr, made, cls)
        ):
            yield replace(item, path=file.path)


def _constructors(found: FoundClass, place: NodePath, file: OpenFile, program: Program) -> Iterator[MethodSource]:
    """What the constructors of a class do to its objects, where other files may reexport the functions that they call."""
    for method in constructors(found.node, place, file.scope):
        yield replace_record(method, changes=tuple(_resolved(change, program) for change in method.changes))


def _resolved(change: AttributeChange, program: Program) -> AttributeChange:
    """A change, with the functions by the names of their definitions."""
    if all(name.startswith("torch.") for name in change.makes):
        return change
    return replace_record(change, makes=tuple(map(program.names.resolve, change.makes)))


def _assigned(node: ast.Attribute, cls: PlainClass) -> Iterator[ast.expr]:
    """The values that the family of a class assigns to an attribute."""
    for each in (cls, *cls.ancestors, *cls.descendants):
        for statement in ast.walk(each.node):
            value = statement.value if isinstance(statement, ast.Assign | ast.AnnAssign) else None
            if value is not None and any(attribute_of(part, "self") == node.attr for part in ast.walk(statement)):
                yield value


def _is_harmless(item: Diagnostic, name: str, made: Sequence[ast.expr], cls: PlainClass) -> bool:
    """True if a tensor is not registered, and that does no harm.

    Nobody uses it, or what uses it replaces or moves it. And torch takes a number on the CPU together with tensors of any device.
    """
    if "is not a parameter" in item.message:
        # `nn.Parameter(...).to(dtype)` is the parameter itself where it has that dtype already.
        return not any(re.search(r"\.cuda\(|\.to\([^)]*(?:device|cuda)", ast.unparse(each)) for each in made)
    if not item.message.startswith(("the tensor ", "the tensors ")):
        return False
    if not stays_where_it_is(name, [cls, *cls.ancestors, *cls.descendants]):
        return True
    parts = (part for each in made for part in ast.walk(each))
    is_number = any(_is_number(part, cls) or isinstance(part, ast.List) for part in parts)
    return is_number and item.message.startswith("the tensor ")


def _is_number(node: ast.AST, cls: PlainClass) -> bool:
    """True if a node is a tensor of one number: `torch.tensor(1.0)`."""
    if not isinstance(node, ast.Call) or not node.args:
        return False
    makes = cls.meaning(node.func) in ("torch.tensor", "torch.as_tensor")
    return makes and isinstance(node.args[0], ast.Constant | ast.Attribute | ast.Name | ast.IfExp)


def _classes(names: tuple[str, ...], program: Program) -> dict[str, ClassSource]:
    """The class statements of those names that the project has."""
    found = ((name, program.names.class_of(name)) for name in names if name)
    return {name: read[1] for name, read in found if read is not None}


class _Hierarchy:
    """The modules of a project as the rules see them, each with its ancestors and descendants."""

    def __init__(self, project: Project, texts: Mapping[str, bytes]) -> None:
        self._project = project
        self._texts = texts
        self._is_mentioned = cache(partial(self._has, pattern=_MENTIONED))
        self._is_written = cache(partial(self._has, pattern=_WRITTEN))
        self._is_known_word = cache(lambda word: any(word.encode() in text for text in texts.values()))
        applying = (method_of(each.node, "_apply") for file in project.files.values() for each in file.all_classes)
        nodes = (node for method in applying if method is not None for node in ast.walk(method))
        self.moved = {
            node.attr for node in nodes if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
        }
        """The attributes that an `_apply` of some class moves, its own or an inner object's."""

    def registered(self, found: FoundClass) -> set[str]:
        """The attributes that the constructors of a class and of its bases register as tensors."""
        family = self._project.lineage(found)
        states = (registered_state(cls.node.body, home.scope) for cls, home in family)
        return {each.name for state in states for each in state if each.is_tensor}

    def plain(self, found: FoundClass, file: OpenFile) -> PlainClass:
        """A class with the classes around it."""
        above = [self._alone(cls, home) for cls, home in self._project.lineage(found) if cls is not found]
        heirs = self._project.heirs.get(found.qualified, ())
        below = [self._alone(cls, self._project.files[cls.path]) for cls in heirs]
        return replace(self._alone(found, file), ancestors=above, descendants=below)

    def _alone(self, found: FoundClass, file: OpenFile) -> PlainClass:
        outside = {name for name in found.ancestors if self._project.class_named(name) is None}
        return PlainClass(
            found.node,
            lambda expression: self._project.meaning(file, expression),
            is_whole=not found.is_inner and outside <= _WITHOUT_ATTRIBUTES and bool(outside & NN_MODULE),
            is_mentioned=self._is_mentioned,
            is_written=self._is_written,
            is_known_word=self._is_known_word,
        )

    def _has(self, name: str, pattern: bytes) -> bool:
        """True if some file has a pattern with this name in it."""
        word = name.encode()  # found ten times faster than the pattern
        found = re.compile(pattern.replace(b"NAME", re.escape(word)))
        return any(word in text and found.search(text) is not None for text in self._texts.values())


_MENTIONED = rb"\.NAME\s*(?:=[^=]|:[^\n]*=|,[^\n]*=[^=])|[\"']NAME[\"']"
"""An assignment to an attribute, or its name in quotes."""

_WRITTEN = rb"\w_\(\s*(?!self\.)[\w.]+\.NAME\b|\b(?!self\.)[\w.]+\.NAME(?:\.\w+_\(|\s*=[^=])"
"""What a class may do to another's buffer: `init.copy_(module.NAME, ...)`, `module.NAME.copy_(...)` or `module.NAME = ...`."""
