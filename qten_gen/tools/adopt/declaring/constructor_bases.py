"""Which bases and subclasses leave a constructor to a declaration: those that have none of their own, or call it as it is."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ....common.language import INIT, MODULE
from ..adoption import FoundClass, Kind
from ..opened import OpenFile, Project
from .context import Context
from .pieces import Stays
from .proofs import constructor

TAKEN = frozenset(
    "__post_init__ reset_parameters __setattr__ __getattr__ __getattribute__ __new__ __init_subclass__ __setstate__ __getstate__"
    " on_meta migrate version __deepcopy__ __reduce__ __slots__".split()
)
"""The names that decide with a declaration how objects are made."""

RESET = "reset_parameters"
"""The method that a generated constructor calls when everything is registered."""

_WITHOUT_ARGUMENTS = frozenset(
    {"abc.ABC", "torch.nn.Sequential", "typing.Generic", "typing.Protocol", "typing_extensions.Protocol"}
)


def refuse_bases(found: FoundClass, context: Context) -> None:
    """Keep the constructor of a class with bases that have one, or declare something.

    Raises:
        Stays: there is one.
    """
    for base in found.node.bases:
        head = base.value if isinstance(base, ast.Subscript) else base
        qualified = context.project.meaning(context.file, head)
        if qualified == MODULE or qualified in _WITHOUT_ARGUMENTS:
            continue
        if not _is_bare(qualified, context.project):
            raise Stays(_why_not(qualified, context), found.node)


def _why_not(base: str, context: Context) -> str:
    """What stands in the way about a base."""
    cls = context.class_of(base)
    above = [] if cls is None else [cls, *filter(None, map(context.class_of, cls.ancestors))]
    owner = next((each for each in above if constructor(each) is not None), None)
    return "it has bases other than Module" if owner is None else f"its base {owner.name} has a constructor of its own"


def _is_bare(qualified: str, project: Project) -> bool:
    """Whether a class of the project has methods alone, and so do its bases."""
    module, _, name = qualified.rpartition(".")
    for file in project.modules.get(module, ()):
        found = file.classes.get(name)
        if found is not None and found.kind is Kind.MODULE:
            is_plain = not found.node.keywords and not found.node.decorator_list and found.is_adopted
            return is_plain and _has_methods_alone(found.node) and all(_are_bare(file, found.node, project))
    return False


def _are_bare(file: OpenFile, node: ast.ClassDef, project: Project) -> Iterator[bool]:
    for base in node.bases:
        qualified = project.meaning(file, base.value if isinstance(base, ast.Subscript) else base)
        yield qualified == MODULE or qualified in _WITHOUT_ARGUMENTS or _is_bare(qualified, project)


def _has_methods_alone(node: ast.ClassDef) -> bool:
    return all(
        isinstance(each, ast.Expr | ast.Pass | ast.Assign)
        or (isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef) and each.name not in {*TAKEN, "__init__"})
        for each in node.body
    )


def refuse_subclasses(found: FoundClass, project: Project) -> None:
    """Keep the constructor of a class with a subclass that would not get by with a generated one.

    Raises:
        Stays: there is one.
    """
    for file in project.files.values():
        for other in (*file.classes.values(), *file.inner):
            if found.qualified in other.ancestors and not _gets_by(other):
                raise Stays(f"it is a base of {other.qualified}, whose constructor depends on it", found.node)


def _gets_by(other: FoundClass) -> bool:
    """Whether a subclass takes the constructor as it is: it inherits it, or calls it once, and declares nothing."""
    if len(other.node.bases) != 1 or other.is_inner:
        return False
    if any(isinstance(each, ast.AnnAssign) or getattr(each, "name", None) in TAKEN for each in other.node.body):
        return False
    init = constructor(other)
    if init is None:
        return True
    called = [each for each in ast.walk(init) if isinstance(each, ast.Attribute) and each.attr == "__init__"]
    is_once = (
        len(called) == 1 and isinstance(called[0].value, ast.Call) and ast.unparse(called[0].value.func) == "super"
    )
    return is_once and not any(each.arg == INIT for each in other.node.keywords)


def calls_super_init(call: ast.Call) -> bool:
    """Whether a call is one of the constructor of a base."""
    match call.func:
        case ast.Attribute(value=ast.Call(func=ast.Name(id="super")), attr="__init__"):
            return True
        case ast.Attribute(attr="__init__"):
            return ast.unparse(call.func) in ("nn.Module.__init__", "torch.nn.Module.__init__", "Module.__init__")
    return False


def calls_reset(node: ast.stmt) -> bool:
    """Whether a statement is `self.reset_parameters()`."""
    return ast.unparse(node) == f"self.{RESET}()"


def names_of_class(node: ast.ClassDef) -> frozenset[str]:
    """The methods and attributes of a class body; annotations without a value are none."""
    found: set[str] = set()
    for statement in node.body:
        match statement:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                found.add(name)
            case ast.Assign(targets=targets):
                found |= {each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name)}
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr()):
                found.add(name)
    return frozenset(found)
