"""Checks whether the outputs of a file can be written and imported, whatever the file declares."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from keyword import iskeyword
from os.path import basename, dirname, join
from unicodedata import normalize

from ..common.header import read_header
from ..common.naming import generated_class
from ..model import ClassSource, Declaration, FileDecl
from ..model.diagnostics import (
    FOREIGN_OUTPUT,
    IMPLICIT_NAMESPACE_PACKAGE,
    INVALID_MODULE_NAME,
    UNRESOLVED_IMPORT,
    Diagnostic,
)
from ..model.field_kinds import members_of
from ..project.import_graph import ImportMismatch
from ..project.output_names import NO_OUTPUT, outputs_of
from ..project.scan import Origin


def obstacles(path: str, existing: Mapping[str, bytes]) -> Iterator[Diagnostic]:
    """Errors for a file with declarations whose output would overwrite a foreign file, or could not be imported."""
    for output in outputs_of(path):
        if existing.get(output) and read_header(existing[output]) is None:  # an empty one was cut off
            is_file = existing[output] != NO_OUTPUT
            problem = (
                "was not written by qten-gen; it would be overwritten" if is_file else "is a link, or cannot be read"
            )
            yield Diagnostic(
                FOREIGN_OUTPUT,
                f"{basename(output)} exists and {problem}",
                help=f"rename or delete {output}",
                path=path,
            )
    stem = basename(path).removesuffix(".py")
    if not stem.isidentifier() or iskeyword(stem) or normalize("NFKC", stem) != stem:  # as import statements read it
        yield Diagnostic(
            INVALID_MODULE_NAME,
            f"{stem!r} is not a valid module name, so the generated module could not be imported",
            help="rename the file; use letters, digits and underscores, and do not start with a digit",
            path=path,
        )


def unknown_root(path: str, origin: Origin, mismatch: ImportMismatch) -> Diagnostic:
    """The warning that a file belongs to a package, of which a folder has no `__init__.py`."""
    folder = dirname(path)
    for _ in range(len(origin.module.split(".")) - (not origin.is_package)):
        folder = dirname(folder)
    folder = folder or "."
    root = f'"{mismatch.root}"' if mismatch.root else f"the folder above {folder}"
    return Diagnostic(
        IMPLICIT_NAMESPACE_PACKAGE,
        f"{mismatch.evidence}; there is no {join(folder, '__init__.py')}, so it is read as the module {origin.module}",
        help=f"create that file, or set source-roots = [{root}] in [tool.qten-gen]",
        path=path,
    )


_HELP = "run qten-gen where {0} is installed, or set source-roots in [tool.qten-gen] so that it is found"
_DELETED = "define it there again, or import the class from where it is now; what was generated stays until then"
_COPIES = "leave the copies out with exclude in [tool.qten-gen], or import it under a name that only one of them has"


def unresolved_imports(
    file: FileDecl,
    ancestors: Callable[[str], Iterable[str]],
    unresolved: Collection[str],
    places: Callable[[str], Sequence[str]],
    generated: bytes,
) -> Iterator[Diagnostic]:
    """Errors for the classes of a file.

    `ancestors` are the resolved names of the ancestors of a class, `unresolved` the modules, `places` the files with declarations
    that a module may be, and `generated` the module that was generated for the file before.
    """
    declarations = {declaration.name: declaration for declaration in file.declarations}
    for cls in file.source.classes:
        if cls.name in declarations:
            yield from _field_types(file, declarations[cls.name], unresolved, places, generated)
        else:
            yield from _bases(file, cls, ancestors, unresolved, places, generated)


def was_generated(name: str, generated: bytes) -> bool:
    """True if a generated module has a class for the one of this name."""
    return re.search(rb"(?m)^class %s\b" % re.escape(generated_class(name).encode()), generated) is not None


def _bases(
    file: FileDecl,
    cls: ClassSource,
    ancestors: Callable[[str], Iterable[str]],
    unresolved: Collection[str],
    places: Callable[[str], Sequence[str]],
    generated: bytes,
) -> Iterator[Diagnostic]:
    """The error for a class that may be a declaration: it uses specifiers, something was generated for it, or its base is one."""
    may_be_declared = was_generated(cls.name, generated) or any(
        field.specifier and not field.specifier.of_dataclasses for field in cls.fields
    )
    for base in cls.bases:
        for name in (base.name, *ancestors(base.name)):
            module = _module(name, unresolved)
            if module and (may_be_declared or places(module)):
                problem, help = _lost(module, places(module), file.source.module)
                message = f"the module {module} of the base {name.rpartition('.')[2]} {problem}"
                message = f"{message}, so it is not known whether {cls.name} is a declaration"
                yield Diagnostic(UNRESOLVED_IMPORT, message, base.place, help, path=file.source.path)
                return  # one error for each class


def _lost(module: str, places: Sequence[str], importing: str) -> tuple[str, str]:
    """Why it is not known which file a module is, which another imports, and what helps."""
    if not places:
        package, dot, _ = module.partition(".")
        is_own = dot and package == importing.partition(".")[0]
        return "cannot be found", _DELETED if is_own else _HELP.format(package)
    return f"is found in several places, {' and '.join(places[:3])}", _COPIES


def _field_types(
    file: FileDecl,
    declaration: Declaration,
    unresolved: Collection[str],
    places: Callable[[str], Sequence[str]],
    generated: bytes,
) -> Iterator[Diagnostic]:
    """The errors for fields whose class was a TensorClass or Module when the file was generated, or is one in several places."""
    for field in declaration.fields:
        for member in members_of(field.type):
            module = _module(member.name, unresolved)
            last = member.name.rpartition(".")[2]
            # `_nested` of a generated class holds `.base:Point`.
            if module and (f":{last}".encode() in generated or places(module)):
                problem, help = _lost(module, places(module), file.source.module)
                message = f"the module {module} of {last}, the type of {field.name}, {problem}"
                yield Diagnostic(UNRESOLVED_IMPORT, message, declaration.place, help, path=file.source.path)


def _module(name: str, unresolved: Collection[str]) -> str:
    """The module that a qualified name is in, if that is one of those not found; otherwise empty."""
    parts = name.split(".")
    return next((start for end in range(1, len(parts)) if (start := ".".join(parts[:end])) in unresolved), "")
