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
from . import module, tensorclass
from .constructor import Siblings
from .module import ModuleView, own_name
from .names import IMPORTS, beside, combined, nested_names, runtime_imports
from .tensorclass import TensorClassView


class PythonFileView(NamedTuple):
    """The input of the template of a generated module."""

    summary: str
    classes: tuple[TensorClassView | ModuleView, ...]
    checking: tuple[str, ...]
    """The statements under TYPE_CHECKING: imports for the names in annotations."""
    is_checked: bool
    """True if checkers and formatters see it."""

    @property
    def has_tensorclasses(self) -> bool:
        return any(isinstance(cls, TensorClassView) for cls in self.classes)

    def imports(self, classes: Iterable[str]) -> tuple[tuple[str, ...], ...]:
        """The imports that the texts of the classes and the template need when the module runs, in groups."""
        return runtime_imports(classes, "annotations", "_rt", "_t", *(["_torch"] if self.has_tensorclasses else []))


def python_file(file: FileDecl) -> PythonFileView:
    """The generated module of a source file."""
    classes = _python_classes(file.declarations, file.type_variables, _siblings(file))
    return PythonFileView(
        summary=f"Constructors and properties of the classes in `{source_name(file)}`.",
        classes=classes,
        checking=annotation_imports(file),
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
        summary=f"Constructor and properties of `{declaration.name}`, rendered in memory.",
        classes=classes,
        checking=("pass",),
        is_checked=False,
    )


def _python_classes(
    declarations: tuple[Declaration, ...], variables: Collection[str] = (), siblings: Siblings = MappingProxyType({})
) -> tuple[TensorClassView | ModuleView, ...]:
    names = nested_names(declarations)
    return tuple(
        tensorclass.view(declaration, names, variables)
        if isinstance(declaration, TensorClassDecl)
        else module.view(declaration, siblings, variables)
        for declaration in declarations
    )


def _siblings(file: FileDecl) -> Siblings:
    """The Modules of the file that take a device and a dtype, and that their names stand for: a decorator may return another."""
    decorated = {cls.qualname for cls in file.source.classes if cls.decorators}
    return {
        f"{declaration.module}.{declaration.name}": declaration.name
        for declaration in file.declarations
        if isinstance(declaration, ModuleDecl) and not declaration.custom_init and declaration.name not in decorated
    }


def source_name(file: FileDecl) -> str:
    """The file name of the source, without folders."""
    return file.source.path.replace("\\", "/").rpartition("/")[2]


def annotation_imports(file: FileDecl) -> tuple[str, ...]:
    """The imports for the names that the annotations of a generated module take over from its sources."""
    imports = file.source.imports
    mentioned = {name.partition(".")[0] for name in _mentioned(file)}.difference(IMPORTS)
    own = {name for name in mentioned if _is_local(name, file.source)}.union(each.name for each in file.declarations)
    found = {name: imports[name] for name in mentioned if name in imports}
    found |= {name: ImportedName(_source_module(file), name) for name in own}
    found.update((*_nested_imports(file), *_own_globals(file)))
    inner = sorted(
        _inner_import(name, qualified, file) for qualified, name in _nested(file) if qualified in file.nested
    )
    return (*combined(found), *inner)


def _is_local(name: str, source: SourceFile) -> bool:
    """True if a file defines a name itself, or takes it over by a star import."""
    return name not in source.imports and (
        name in source.names or (source.has_star_import and name not in dir(builtins))
    )


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


def _nested(file: FileDecl) -> Iterable[tuple[str, str]]:
    """The classes of nested fields by qualified name, and the globals that hold them."""
    return nested_names(file.declarations).items()


def _nested_imports(file: FileDecl) -> Iterator[tuple[str, ImportedName]]:
    """Imports for the classes of nested fields that are declared elsewhere, or go by another name."""
    for qualified, name in _nested(file):
        owner, _, cls = qualified.rpartition(".")
        if qualified in file.nested:
            continue  # it stands in another class
        if owner != file.source.module:
            yield name, ImportedName(_from(file, owner), cls)
        elif name != cls:
            yield name, ImportedName(_source_module(file), cls)


def _inner_import(name: str, qualified: str, file: FileDecl) -> str:
    """The import of a class inside a class, which only the class around it has."""
    module = qualified.rpartition(".")[0]
    while module != file.source.module and module not in file.packages:
        module = module.rpartition(".")[0]
    outer, _, rest = qualified.removeprefix(f"{module}.").partition(".")
    home = _source_module(file) if module == file.source.module else _from(file, module)
    return f"from {home} import {outer} as _{outer}\n    {name} = _{outer}.{rest}"


def _own_globals(file: FileDecl) -> Iterator[tuple[str, ImportedName]]:
    """Imports for the classes whose generated code calls them by their second global."""
    for declaration in file.declarations:
        if isinstance(declaration, ModuleDecl) and own_name(declaration) != declaration.name:
            yield own_name(declaration), ImportedName(_source_module(file), declaration.name)


def _from(file: FileDecl, home: str) -> str:
    """Another source as the generated module imports it."""
    return beside(home, file.source.module) if "." in file.source.module else home


def _source_module(file: FileDecl) -> str:
    """The source as the generated module beside it imports it."""
    stem = source_name(file).removesuffix(".py")
    in_package = "." in file.source.module or file.source.is_package
    return "." if stem == "__init__" else f".{stem}" if in_package else stem
