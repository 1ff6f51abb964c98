"""`class Act(nn.Module): slope: float = 0.1` → `class Act(Module, init=False)`, which keeps the constructor that the class has.

Without the flag, an annotation in a class without an `__init__` declares an argument of the constructor.
"""

from __future__ import annotations

from ....model import INIT, ClassSource, MethodSource
from ....model.written_init import is_attribute_only
from ..adoption import FoundClass
from ..finding import NN_MODULE, is_layer_of_torch
from ..opened import OpenFile, Project

FLAG = f"{INIT}=False"


def needs_flag(found: FoundClass, file: OpenFile, project: Project) -> bool:
    """Whether a class has to say that it keeps its constructor.

    That is so where a class that writes no `__init__` would get one from annotations: from its own when it runs, and from those
    of its bases too in the eyes of type checkers. Below a layer of torch, checkers would see a constructor without its arguments.
    """
    program = project.programs[file.path]
    source = program.names.class_of(found.qualified)
    if source is None or _init(source[1]) is not None or any(keyword.arg == INIT for keyword in found.node.keywords):
        return False
    if any(map(is_layer_of_torch, found.ancestors)) and NN_MODULE.isdisjoint(found.ancestors):
        return True
    modules = [name for name in found.ancestors if not NN_MODULE.isdisjoint(program.ancestry.mro(name))]
    bases = [base[1] for name in modules if (base := program.names.class_of(name)) is not None]
    written = next((init for cls in bases if (init := _init(cls)) is not None), None)
    if written is not None and written.signature.parameters:
        return True
    fields = [field for cls in (source[1], *bases) for field in cls.fields]
    return bool(fields) and (written is not None or all(map(is_attribute_only, fields)))


def _init(cls: ClassSource) -> MethodSource | None:
    return next((method for method in cls.methods if method.name == "__init__"), None)
