"""Generated modules: what stands around their classes, and the views of these."""

from __future__ import annotations

import builtins
from collections.abc import Collection, Iterable, Iterator
from types import MappingProxyType
from typing import NamedTuple

from ..model import (
    Declaration,
    FieldDecl,
    FieldKind,
    FileDecl,
    ImportedName,
    ModuleDecl,
    SourceFile,
    TensorClassDecl,
    home,
)
from . import layout, module, tensorclass
from .constructor import Siblings
from .module import ModuleView, own_name
from .names import NestedNames, beside, nested_names, statement, statements
from .tensorclass import TensorClassView


class PythonFileView(NamedTuple):
    """The input of the template of a generated module."""

    summary: str
    imports: tuple[tuple[str, ...], ...]
    """The statements, in groups with a blank line between them."""
    classes: tuple[TensorClassView | ModuleView, ...]
    has_tensorclasses: bool
    checking: tuple[str, ...]
    """The statements under TYPE_CHECKING: imports for the names in annotations."""
    is_checked: bool
    """True if checkers and formatters see it."""


def python_file(file: FileDecl) -> PythonFileView:
    """The generated module of a source file."""
    classes = _python_classes(file.declarations, file.type_variables, _siblings(file))
    aliases = _used(classes, "annotations", "_rt", "_t")
    return PythonFileView(
        summary=f"Concrete classes for the declarations in `{source_name(file)}`.",
        imports=statements(aliases),
        classes=classes,
        has_tensorclasses=_has_tensorclasses(file.declarations),
        checking=annotation_imports(file, aliases),
        is_checked=True,
    )


class StubFileView(NamedTuple):
    """The input of the template of a stub, which gives the declared classes under the names of the generated ones."""

    summary: str
    imports: tuple[str, ...]


def stub_file(file: FileDecl) -> StubFileView:
    """The stub of a source file's generated module."""
    module = _source_module(file)
    return StubFileView(
        summary=f"The classes declared in `{source_name(file)}`, where programs import them from.",
        imports=tuple(f"from {module} import {each.name} as {each.name}" for each in file.declarations),
    )


def python_class(declaration: Declaration) -> PythonFileView:
    """A module of one class that is run and never checked, for a declaration that no file was generated for."""
    classes = _python_classes((declaration,))
    return PythonFileView(
        summary=f"Concrete class for the declaration `{declaration.name}`, rendered in memory.",
        imports=statements(_used(classes, "annotations", "_rt", "_t")),
        classes=classes,
        has_tensorclasses=_has_tensorclasses((declaration,)),
        checking=("pass",),
        is_checked=False,
    )


def _python_classes(
    declarations: tuple[Declaration, ...], variables: Collection[str] = (), siblings: Siblings = MappingProxyType({})
) -> tuple[TensorClassView | ModuleView, ...]:
    names = nested_names(declarations)
    return tuple(_python_class(declaration, names, variables, siblings) for declaration in declarations)


def _python_class(
    declaration: Declaration, names: NestedNames, variables: Collection[str], siblings: Siblings
) -> TensorClassView | ModuleView:
    match declaration:
        case TensorClassDecl():
            return tensorclass.view(declaration, names, variables)
        case ModuleDecl():
            return module.view(declaration, siblings, variables)


def _siblings(file: FileDecl) -> Siblings:
    """The Modules of the file that take a device and a dtype, and that their names stand for: a decorator may return another."""
    decorated = {cls.qualname for cls in file.source.classes if cls.decorators}
    return {
        f"{declaration.module}.{declaration.name}": declaration.name
        for declaration in file.declarations
        if isinstance(declaration, ModuleDecl) and not declaration.custom_init and declaration.name not in decorated
    }


def _used(classes: Iterable[TensorClassView | ModuleView], *always: str) -> frozenset[str]:
    """The names that a file has to import, for its classes and for its template."""
    return frozenset(always).union(*(cls.imports for cls in classes))


def _has_tensorclasses(declarations: tuple[Declaration, ...]) -> bool:
    return any(isinstance(declaration, TensorClassDecl) for declaration in declarations)


def source_name(file: FileDecl) -> str:
    """The file name of the source, without folders."""
    return file.source.path.replace("\\", "/").rpartition("/")[2]


def annotation_imports(file: FileDecl, bound: Collection[str]) -> tuple[str, ...]:
    """The imports for the names that the annotations of a generated module take over from its sources.

    `bound` are names that the module imports by itself.
    """
    imports = file.source.imports
    mentioned = {name.partition(".")[0] for name in _mentioned(file)}.difference(bound)
    lines = [statement(name, imports[name]) for name in sorted(mentioned) if name in imports]
    lines += sorted({*_nested_imports(file), *_own_globals(file)})
    local = {name for name in mentioned if _is_local(name, file.source)}
    declared = {each.name for each in file.declarations}
    return (*lines, _own_import(_source_module(file), sorted(local | declared)))


def _is_local(name: str, source: SourceFile) -> bool:
    """True if a file defines a name itself, or takes it over by a star import."""
    return name not in source.imports and (
        name in source.names or (source.has_star_import and name not in dir(builtins))
    )


def _own_import(module: str, names: list[str]) -> str:
    """The import of the source's own names, in parentheses where it takes several lines."""
    line = f"from {module} import {', '.join(names)}"
    return line if len(line) + 4 <= layout.WIDTH else layout.stacked(f"from {module} import (", names, ")", 4)


def _mentioned(file: FileDecl) -> Iterator[str]:
    """The names in the annotations of its own file, which a generated module repeats."""
    for declaration in file.declarations:
        for field in declaration.fields:
            match field:
                case FieldDecl(kind=FieldKind.TENSOR | FieldKind.NUMBER | FieldKind.NESTED | FieldKind.RAGGED):
                    pass
                # A `Literal` is written `Any`.
                case _ if home(field) == file.source.module and "typing.Literal" not in field.type.mentioned:
                    yield from field.type.names


def _nested_imports(file: FileDecl) -> Iterator[str]:
    """Imports for the classes of nested fields that are declared elsewhere, or go by another name."""
    for qualified, name in nested_names(file.declarations).items():
        owner, _, cls = qualified.rpartition(".")
        if qualified in file.nested:
            yield _inner_import(name, qualified, file)
        elif owner != file.source.module:
            yield statement(name, ImportedName(_from(file, owner), cls))
        elif name != cls:
            yield statement(name, ImportedName(_source_module(file), cls))


def _inner_import(name: str, qualified: str, file: FileDecl) -> str:
    """The import of a class inside a class, which only the class around it has."""
    module = qualified.rpartition(".")[0]
    while module != file.source.module and module not in file.packages:
        module = module.rpartition(".")[0]
    outer, _, rest = qualified.removeprefix(f"{module}.").partition(".")
    home = _source_module(file) if module == file.source.module else _from(file, module)
    return f"from {home} import {outer} as _{outer}\n    {name} = _{outer}.{rest}"


def _own_globals(file: FileDecl) -> Iterator[str]:
    """Imports for the classes whose generated code calls them by their second global."""
    for declaration in file.declarations:
        if isinstance(declaration, ModuleDecl) and own_name(declaration) != declaration.name:
            yield statement(own_name(declaration), ImportedName(_source_module(file), declaration.name))


def _from(file: FileDecl, home: str) -> str:
    """Another source as the generated module imports it."""
    return beside(home, file.source.module) if "." in file.source.module else home


def _source_module(file: FileDecl) -> str:
    """The source as the generated module beside it imports it."""
    stem = source_name(file).removesuffix(".py")
    in_package = "." in file.source.module or file.source.is_package
    return "." if stem == "__init__" else f".{stem}" if in_package else stem
