"""Checks whether the outputs of a file can be written and imported, whatever the file declares."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from keyword import iskeyword
from os.path import basename, dirname, join
from unicodedata import normalize

from ..common.header import read_header
from ..model.diagnostics import FOREIGN_OUTPUT, IMPLICIT_NAMESPACE_PACKAGE, INVALID_MODULE_NAME, Diagnostic
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
