"""What declarations say of the tensors of a model: the dimensions of a parameter, or the layer that holds it."""

from __future__ import annotations

from torch import nn

from ...model import Argument, BufferDecl, Dim, ModuleDecl, ParameterDecl, SubmoduleDecl, Value
from ...model.dimensions import in_words
from ...runtime.declaring.declared_class import DeclaredClass


def spelled(model: nn.Module) -> dict[str, str]:
    """What is declared of each tensor by its path: `[3*width, width]`, or `Linear(width, 3*width)`."""
    declared: dict[str, str] = {}
    own: dict[str, ModuleDecl | None] = {}
    for path, module in model.named_modules():
        own[path] = declaration_of(type(module))
        for field in getattr(own[path], "fields", ()):
            name = f"{path}.{field.name}".lstrip(".")
            if isinstance(field, ParameterDecl | BufferDecl) and (isinstance(field, BufferDecl) or field.tie is None):
                declared[name] = f"[{', '.join(map(in_words, field.dims))}]"
            elif isinstance(field, SubmoduleDecl):
                declared[name] = _call(field)
    names = [name for name, _ in (*model.named_parameters(), *model.named_buffers())]
    return {name: found for name in names if (found := _nearest(name, declared, own))}


def declaration_of(cls: type[nn.Module]) -> ModuleDecl | None:
    """The declaration of a Module; None of any other class."""
    found = getattr(cls, "_declaration", None) if isinstance(cls, DeclaredClass) else None
    return found if isinstance(found, ModuleDecl) else None


def _nearest(name: str, declared: dict[str, str], own: dict[str, ModuleDecl | None]) -> str:
    """What is declared of a tensor itself, or else of the modules around it up to a declared one, whose field it would be."""
    while name:
        if name in declared:
            return "" if own.get(name) is not None else declared[name]
        if own.get(name) is not None:
            return ""
        name = name.rpartition(".")[0]
    return ""


def _call(field: SubmoduleDecl) -> str:
    """The call that makes a child: `Linear(width, 3*width, bias=False)`."""
    arguments = (_argument(argument) for argument in field.arguments)
    return f"{field.made.rpartition('.')[2]}({', '.join(arguments)})"


def _argument(argument: Argument) -> str:
    value = argument.value
    text = in_words(value) if isinstance(value, Dim) else value.text if isinstance(value, Value) else argument.text
    text = " ".join((text or "...").split())
    return text if argument.keyword is None else f"{argument.keyword}={text}"
