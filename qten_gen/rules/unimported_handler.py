"""A handler is in a file that no other file imports.

The generated stub promises the handler to every caller, but in a program that does not import the file, the call would run
`forward` or the handler of a base class, with an object that it was not written for. Import the file in the `__init__.py` of
the package, for example.

The rule reports handlers in modules of a package that no other file of the project imports. It does not report the owner's own
file, an `__init__.py`, a file that contains `"__main__"`, or a file of tests. An import under `TYPE_CHECKING` counts as an
import. An import by a computed name is not seen. Without a `pyproject.toml`, nothing says where the project ends, and the rule
reports nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..model import FileDecl, ModuleDecl, SourceFile
from ..model.diagnostics import Diagnostic, Kind
from .rule_input import Project

KIND = Kind("QG403", "unimported-handler", "warning")

EXAMPLE = """
 # shop/__init__.py
+from . import handlers
 from .encoder import Encoder

 # shop/encoder.py
 from qten_gen import Module
 from torch import Tensor


 class Encoder(Module):
     def forward(self, x: Tensor) -> Tensor:
         return x


 # shop/handlers.py
 from .encoder import Encoder


 @Encoder.register(str)
-                  ^^^
 def encode_text(encoder: Encoder, text: str) -> int:
     return len(text)
"""


def check_file(file: FileDecl, project: Project) -> Iterator[Diagnostic]:
    source = file.source
    if source.path not in project.unimported or _needs_no_import(source):
        return
    for declaration in project.declarations.values():
        if not isinstance(declaration, ModuleDecl) or declaration.module == source.module:
            continue
        first = next((found for found in declaration.registrations if found.module == source.module), None)
        if first is not None:
            message = f"nothing imports {source.module}, so its handlers for {declaration.name} are not registered"
            package = source.module.rpartition(".")[0]
            yield Diagnostic(
                KIND, message, first.type.place, f"import it where {declaration.name} is used, or in {package}"
            )


def _needs_no_import(source: SourceFile) -> bool:
    """Whether a file is run as a program, or is imported without being named, as an `__init__.py` is."""
    name = source.module.rpartition(".")[2]
    is_test = name.startswith("test_") or name.endswith("_test") or name == "conftest"
    return "." not in source.module or source.is_package or source.is_program or name == "__main__" or is_test
