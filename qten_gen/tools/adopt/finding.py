"""Finds the classes that an adoption is about, across the files of a project."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ...link.bases import Root
from ...link.program import Program
from ...model import ClassSource, SourceFile
from ...model.field_kinds import is_tensor, members_of
from ...read.bound_names import dotted
from ...read.dotted_names import Scope
from ...read.places import node_at
from .adoption import FoundClass, Kind

NN_MODULE = frozenset({"torch.nn.Module", "torch.nn.modules.Module", "torch.nn.modules.module.Module"})
TENSORCLASS_BASES = frozenset(
    {"tensordict.TensorClass", "tensordict.tensorclass.TensorClass", "tensordict.tensorclass._TensorClass"}
)
TENSORCLASS_DECORATORS = frozenset(
    {"tensordict.tensorclass", "tensordict.prototype.tensorclass", "tensordict.tensorclass.tensorclass"}
)
DATACLASS_DECORATORS = frozenset({"dataclasses.dataclass"})

_LAYER = re.compile(r"torch\.(?:ao\.)?nn\.(?:modules\.\w+\.)?(?P<name>[A-Z]\w*)")
_NO_LAYERS = frozenset({"Parameter", "Buffer", "UninitializedParameter", "UninitializedBuffer"})
_OF_LIBRARIES = frozenset(
    "lightning.LightningModule lightning.pytorch.LightningModule pytorch_lightning.LightningModule "
    "transformers.PreTrainedModel transformers.modeling_utils.PreTrainedModel diffusers.ModelMixin "
    "diffusers.models.modeling_utils.ModelMixin mmcv.runner.BaseModule mmengine.model.BaseModule fairseq.models.BaseFairseqModel "
    "tensordict.nn.TensorDictModuleBase tensordict.nn.TensorDictModule torch.jit.ScriptModule".split()
)
"""Classes of other libraries that are known to derive from nn.Module."""


def is_module_of_a_library(name: str) -> bool:
    """Whether a qualified name is a class of torch or another library that derives from nn.Module.

    >>> [is_module_of_a_library(name) for name in ("torch.nn.Linear", "torch.nn.Parameter", "torch.nn.functional.relu")]
    [True, False, False]
    """
    return name in _OF_LIBRARIES or is_layer_of_torch(name)


def is_layer_of_torch(name: str) -> bool:
    """Whether a qualified name is a class of torch.nn that derives from nn.Module."""
    layer = _LAYER.fullmatch(name)
    return layer is not None and layer["name"] not in {*_NO_LAYERS, "Module"}


def scope_of(file: SourceFile) -> Scope:
    """The meanings of the names at the top level of a file."""
    classes = frozenset(cls.name for cls in file.classes)
    return Scope(file.module, file.is_package, file.imports, file.names, classes)


def found_classes(
    path: str, file: SourceFile, tree: ast.Module, content: str, program: Program
) -> Iterator[FoundClass]:
    """The classes of a file that an adoption is about, in their order."""
    scope = scope_of(file)
    placed: set[ast.ClassDef] = set()
    for cls in file.classes:
        qualified = f"{file.module}.{cls.name}"
        node = node_at(tree, cls.place)
        if not isinstance(node, ast.ClassDef):
            continue
        placed.add(node)
        ancestors = program.ancestry.mro(qualified)[1:]
        root = program.ancestry.root(qualified)
        kind = _kind(cls, file.module, ancestors, root, program)
        if kind is not None:
            yield FoundClass(path, file.module, cls.name, kind, node.lineno, ancestors, node, root is not None)
    for node, outer in _inner_classes(tree, content):
        bases = tuple(program.names.resolve(scope.resolve(_name(base))) for base in node.bases)
        lineage = tuple(dict.fromkeys(name for base in bases if base for name in program.ancestry.mro(base)))
        kind = _kind_of_inner(node, scope, lineage)
        if kind is not None and node not in placed:
            name = f"{outer}.{node.name}"
            adopted = any(root.value in lineage for root in Root)
            yield FoundClass(path, file.module, name, kind, node.lineno, lineage, node, adopted, is_inner=True)


def _kind(
    cls: ClassSource, module: str, ancestors: tuple[str, ...], root: Root | None, program: Program
) -> Kind | None:
    """The kind of a class at the top level of a file; None if an adoption has nothing to do with it."""
    decorators = {name for name, _ in cls.decorators}
    if decorators & TENSORCLASS_DECORATORS or not TENSORCLASS_BASES.isdisjoint(ancestors) or root is Root.TENSORCLASS:
        return Kind.TENSORCLASS
    if root is Root.MODULE or any(name in NN_MODULE or is_module_of_a_library(name) for name in ancestors):
        return Kind.MODULE
    if decorators & DATACLASS_DECORATORS:
        types = [program.names.expand(field.annotation) for field in cls.fields if field.annotation is not None]
        if any(is_tensor(member) for type in types for member in members_of(type)):
            return Kind.DATACLASS
    return None


def _kind_of_inner(node: ast.ClassDef, scope: Scope, lineage: tuple[str, ...]) -> Kind | None:
    decorators = {scope.resolve(_name(decorator)) for decorator in node.decorator_list}
    if decorators & TENSORCLASS_DECORATORS or not TENSORCLASS_BASES.isdisjoint(lineage):
        return Kind.TENSORCLASS
    if any(name in NN_MODULE or is_module_of_a_library(name) for name in lineage) or Root.MODULE.value in lineage:
        return Kind.MODULE
    return Kind.TENSORCLASS if Root.TENSORCLASS.value in lineage else None


def _name(expression: ast.expr) -> str:
    """The dotted name at the head of a base or decorator: `TensorClass` in `TensorClass["nocast"]`."""
    while isinstance(expression, ast.Call | ast.Subscript):
        expression = expression.func if isinstance(expression, ast.Call) else expression.value
    return dotted(expression) or ""


def _inner_classes(tree: ast.Module, content: str) -> Iterator[tuple[ast.ClassDef, str]]:
    """The classes inside classes and functions, each with the name of what it stands in."""
    if _INDENTED.search(content) is None:
        return
    waiting: list[tuple[ast.AST, str]] = [(tree, "")]
    while waiting:
        node, outer = waiting.pop()
        for block in _BLOCKS:
            inside = getattr(node, block, ())
            for child in inside if isinstance(inside, list) else ():
                inner = outer
                if isinstance(child, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                    inner = f"{outer}.{child.name}".lstrip(".")
                    if isinstance(child, ast.ClassDef) and outer:
                        yield child, outer
                waiting.append((child, inner))


_INDENTED = re.compile(r"[\r\n][ \t\f]+class\b")
"""A file where no line begins so has no inner class, and its tree need not be searched."""

_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")
"""The attributes of a statement that hold statements."""
