"""The state while a constructor is taken apart: the values of its names, and the file's spellings of names of qten_gen."""

from __future__ import annotations

import ast
import builtins
import re
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache

from ....read.bound_names import dotted
from ..adoption import FoundClass, Kind, Need
from ..opened import OpenFile, Project
from .pieces import Stays

TORCH_CLASS = ("torch.nn.", "torch.nn.modules.")
CONTAINERS = frozenset({"ModuleList", "ModuleDict", "ParameterList", "ParameterDict", "Sequential"})
PARAMETER = frozenset({"torch.nn.Parameter", "torch.nn.parameter.Parameter"})
BUFFER = frozenset({"torch.nn.Buffer", "torch.nn.parameter.Buffer"})

CLASSES = ("type[", "Type[", "Callable", "typing.Callable")
"""How the type of an argument begins that makes modules."""

_PLAIN_NAMES = ("Config", "Configuration", "Args", "Arguments", "Options", "Params", "Settings", "Spec", "Type")
"""How the name of a class ends that holds plain values, where the class itself is not among the files."""

_NO_MODULES = frozenset({"Parameter", "Buffer", "UninitializedParameter", "UninitializedBuffer"})


_QUOTED = re.compile(r"""["']([^\W\d]\w*)(?=["'])""")
_ASKED_FOR = re.compile(
    r"""(?:hasattr|delattr)\([^"'\n]*["']([^\W\d]\w*)["']"""
    r"""|getattr\([^"'\n]*["']([^\W\d]\w*)["'](?!,\s*None\))|["']([^\W\d]\w*)["']\s+(?:not\s+)?in\s"""
)
_BY_VARIABLE = re.compile(r"(?:hasattr|delattr)\([^\"'\n,]+,\s*(?:f[\"']|[^\W\d]\w*)")


@lru_cache(maxsize=4096)
def _asked_for(content: str) -> frozenset[str]:
    """The names of attributes that a text asks for: those in its `hasattr`, or all between quotes where it asks by a variable."""
    if _BY_VARIABLE.search(content) is not None:
        return frozenset(_QUOTED.findall(content))
    return frozenset(name for names in _ASKED_FOR.findall(content) for name in names if name)


@dataclass(slots=True)
class Context:
    """One class. What is found out about its names grows statement by statement."""

    file: OpenFile
    project: Project
    found: FoundClass
    types: dict[str, str | None] = field(default_factory=dict)
    """The fields that expressions may read, arguments and derived values, with their types as text; None if one is not known."""
    names: dict[str, ast.expr | None] = field(default_factory=dict)
    """The values of local names, as expressions over fields; None for one that no expression gives."""
    kept: set[str] = field(default_factory=set)
    """The local names that `__post_init__` binds too, if it reads them."""
    attributes: dict[str, ast.expr | None] = field(default_factory=dict)
    """The same for attributes of the module."""
    registered: set[str] = field(default_factory=set)
    """The parameters, buffers and children so far."""
    renamed: dict[str, str] = field(default_factory=dict)
    """The arguments whose names mean something else in the class, each with its field."""
    factory: set[str] = field(default_factory=set)
    """The arguments `device` and `dtype`, and local dicts of them, which every declared child gets anyway."""
    inlined: dict[str, ast.expr] = field(default_factory=dict)
    """Local names that hold modules, with what makes them, until the one place that registers them."""
    reads: Counter[str] = field(default_factory=Counter)
    """How often the constructor reads each local name."""
    plain: set[str] = field(default_factory=set)
    """Arguments that are used as no module could be."""
    inferred: list[str] = field(default_factory=list)
    """The types of arguments without annotations, each with what says so."""
    needs: dict[Need, None] = field(default_factory=dict)
    resets: bool = False
    """Whether the class has a method `reset_parameters`, which runs in place of the initialisers of its fields."""
    annotated: dict[str, str] = field(default_factory=dict)
    """The names that the class body annotates, and that `__post_init__` annotates in its place, with the annotations."""

    def spell(self, name: str, module: str = "qten_gen") -> str:
        """How the file writes a name, which it has to import then."""
        spelling = self.file.spell(module, name)
        self.needs.update(dict.fromkeys(spelling.needs))
        return spelling.text

    def meaning(self, expression: ast.expr) -> str:
        """The qualified name that an expression means; empty for one that is not a name of the file's top level."""
        name = dotted(expression)
        if name is None or name.partition(".")[0] in {"self", *self.names, *self.types, *self.inlined}:
            return ""
        return self.project.meaning(self.file, expression)

    def field_of(self, name: str) -> str | None:
        """The field that a name of the constructor stands for; None if it stands for none, or for an expression."""
        if name not in self.names:
            return name if name in self.types else None
        found = self.names[name]
        return found.id if isinstance(found, ast.Name) and found.id in self.types else None

    def is_module_class(self, qualified: str) -> bool:
        """Whether a name is certainly a class of modules: one of torch, or one of the run."""
        module, _, name = qualified.rpartition(".")
        if qualified.startswith(TORCH_CLASS):
            lowers = [
                part for part in module.split(".") if part in ("functional", "init", "utils", "parallel", "parameter")
            ]
            return name[:1].isupper() and name not in _NO_MODULES and not lowers
        return self.class_of(qualified) is not None

    def is_class_of_library(self, qualified: str) -> bool:
        """Whether a name seems to be a class of a library."""
        module, _, name = qualified.rpartition(".")
        return name[:1].isupper() and self.project.programs[self.file.path].find(module) is None

    def class_of(self, qualified: str) -> FoundClass | None:
        """The class of modules of that name, in the files of the run."""
        module, _, name = qualified.rpartition(".")
        for file in self.project.modules.get(module, ()):
            if name in file.classes and file.classes[name].kind is Kind.MODULE:
                return file.classes[name]
        return None

    def constructor_of_library(self, qualified: str) -> ast.FunctionDef | None:
        """The constructor of a class of a library, without `self`; None if it is not known what it takes."""
        text = self.project.programs[self.file.path].constructor(qualified)
        function = None if text is None else ast.parse(f"def __init__({text}): ...").body[0]
        return function if isinstance(function, ast.FunctionDef) else None

    def may_be_module(self, name: str) -> bool:
        """Whether an argument or a derived value may be a module: its annotation names one, or an unknown class."""
        kind = self.types.get(name)
        if name in self.plain:
            return False
        if name not in self.types or kind is None:
            return name in self.types
        if any(word in kind for word in ("type[", "Type[", "Callable")):
            return False  # what makes modules is none itself
        if any(word in kind for word in ("Module", "Any", "object")):
            return True
        try:
            parsed = ast.parse(kind, mode="eval").body
        except SyntaxError:
            return True
        names = [each for each in ast.walk(parsed) if isinstance(each, ast.Name | ast.Attribute)]
        inner = {id(each.value) for each in names if isinstance(each, ast.Attribute)}
        return any(self._names_module(each) for each in names if id(each) not in inner)

    def _names_module(self, node: ast.expr) -> bool:
        """Whether a part of an annotation is a class of modules, or may be one, as a class of another library."""
        qualified = self.project.meaning(self.file, node)
        module, _, last = qualified.rpartition(".")
        if not module:
            return False  # a builtin, or a name that is not bound at the top level
        if self.is_module_class(qualified):
            return True
        if module.partition(".")[0] in sys.stdlib_module_names or qualified.startswith("torch."):
            return False
        is_plain = last.endswith(_PLAIN_NAMES) or self.project.programs[self.file.path].find(module) is not None
        return not is_plain

    def attribute_type(self, argument: str, attribute: str) -> str | None:
        """The type of an attribute of an argument whose class the file annotates; None if it is not known."""
        kind = (self.types.get(argument) or "").strip("\"'")
        for statement in self.file.tree.body:
            if isinstance(statement, ast.ClassDef) and statement.name == kind:
                for each in statement.body:
                    if isinstance(each, ast.AnnAssign) and ast.unparse(each.target) == attribute:
                        return ast.unparse(each.annotation)
        return None

    def is_asked_for(self, name: str) -> bool:
        """Whether a file with modules mentions an attribute in a string, as `hasattr(block, "norm")` does."""
        return any(name in _asked_for(file.text.content) for file in self.project.files.values())

    def is_bound_above(self, expression: ast.expr) -> bool:
        """Whether a name of the top level is bound before the class statement runs."""
        head = (dotted(expression) or "").partition(".")[0]
        if head in self.file.scope.imports or hasattr(builtins, head):
            return True
        for statement in self.file.tree.body:
            if statement.lineno >= self.found.node.lineno:
                return False
            if head in _binds(statement):
                return True
        return False

    def stays(self, why: str, node: ast.AST) -> Stays:
        """The exception for something at a line."""
        return Stays(why, node)


def _binds(statement: ast.stmt) -> set[str]:
    match statement:
        case ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            return {name}
        case ast.Assign(targets=targets):
            return {target.id for target in targets if isinstance(target, ast.Name)}
        case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr()):
            return {name}
    return set()


def function_of(qualified: str, context: Context) -> tuple[ast.FunctionDef, OpenFile] | None:
    """A function at the top level of a file, or a method of a class of modules, with its file."""
    module, _, name = qualified.rpartition(".")
    for file in context.project.with_functions(module, context.file):
        found = [each for each in file.tree.body if isinstance(each, ast.FunctionDef) and each.name == name]
        if found:
            return found[-1], file
    cls = context.class_of(module)
    methods = [] if cls is None else [each for each in cls.node.body if isinstance(each, ast.FunctionDef)]
    method = next((each for each in methods if each.name == name), None)
    return None if method is None or cls is None else (method, context.project.files[cls.path])


def holds_of(
    qualified: str,
    context: Context,
    known: dict[str, bool],
    holds: Callable[[ast.FunctionDef, OpenFile, Context], bool],
) -> bool:
    """Whether something holds of a function of the project, as far as is `known`; not of one that calls itself."""
    if qualified not in known:
        known[qualified] = False
        found = function_of(qualified, context)
        known[qualified] = found is not None and holds(*found, context)
    return known[qualified]


def is_any(kind: str | None) -> bool:
    """Whether a value of a type may be anything."""
    return kind is None or "Any" in kind or "object" in kind


def self_attribute(node: ast.AST) -> str | None:
    """The name in `self.name`; None for anything else."""
    match node:
        case ast.Attribute(value=ast.Name(id="self"), attr=name):
            return name
    return None


def quoted(text: str) -> str:
    """A text as a string literal, in double quotes where it can be."""
    return f'"{text}"' if '"' not in text and "\\" not in text else repr(text)
