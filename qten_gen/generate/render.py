"""Views → text. The only module that imports jinja2."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from ..emit import file as emit_file
from ..emit import module as emit_module
from ..emit import module_stub, tensorclass_stub
from ..emit import tensorclass as emit_tensorclass
from ..emit.nested_names import NestedNames, nested_names
from ..emit.stub_names import StubNames
from ..model import FORMAT, Declaration, FileDecl, ModuleDecl, TensorClassDecl
from ..project.header import with_marker

_FOLDERS = (Path(__file__).parents[1] / "_templates", Path(__file__).parents[2] / "templates")
"""Where the templates are: in a wheel, and in a checkout."""

_STUB_IMPORTS = {
    "_OrderedDict[": "from collections import OrderedDict as _OrderedDict",
    "_torch.": "import torch as _torch",
    "index: _Index": "from qten_gen.runtime.tensorclass.methods.indexing import Index as _Index",
    "tuple[_Key,": "from qten_gen.runtime.tensorclass.core.lookup import Key as _Key",
    "_NamesLike": "from qten_gen.runtime.tensorclass.core.names import NamesLike as _NamesLike",
    "_BatchSize": "from qten_gen.runtime.tensorclass.core.checks import BatchSize as _BatchSize",
    "_DeviceLike": "from qten_gen.runtime.tensorclass.core.checks import DeviceLike as _DeviceLike",
    "_Array": "from qten_gen.runtime.tensorclass.interop.arrays import Array as _Array",
    "_Destination,": "from qten_gen_typing import Destination as _Destination",
    "_Default)": "from qten_gen_typing import Default as _Default",
    "_PerItemInput[": "from qten_gen_typing import PerItemInput as _PerItemInput",
    "_Slot[": "from qten_gen_typing import Slot as _Slot",
}
"""What the stub templates mention, and the import that it takes."""


def render(file: FileDecl) -> dict[str, str]:
    """The generated texts of a source file by suffix, `"py"` and `"pyi"`, markers included."""
    name = emit_file.source_name(file)
    return {
        "py": with_marker(name, FORMAT, _python(file)),
        "pyi": with_marker(name, FORMAT, _stub(file)),
    }


def render_class(declaration: Declaration) -> str:
    """The generated Python of one class, for a declaration that no file was generated for."""
    summary = f"Concrete class for the declaration `{declaration.name}`, rendered in memory."
    return _set_out((declaration,), summary, head=(), checking_imports=("pass",))


def _python(file: FileDecl) -> str:
    summary = f"Concrete classes for the declarations in `{emit_file.source_name(file)}`."
    return _set_out(file.declarations, summary, emit_file.PY_DIRECTIVES, emit_file.checking_imports(file))


def _stub(file: FileDecl) -> str:
    names = StubNames(file)
    classes = [_stub_class(declaration, names, file) for declaration in file.declarations]
    written = "\n".join(classes)
    own = [line for name, line in _STUB_IMPORTS.items() if name in written]
    summary = f"Exact types of the classes declared in `{emit_file.source_name(file)}`."
    return _fill(
        "file.pyi.j2",
        head=emit_file.PYI_DIRECTIVES,
        summary=summary,
        imports=[*own, *names.imports, emit_file.decl_import(file)],
        classes=classes,
    )


def _stub_class(declaration: Declaration, names: StubNames, file: FileDecl) -> str:
    match declaration:
        case TensorClassDecl():
            return _fill("tensorclass.pyi.j2", c=tensorclass_stub.view(declaration, names, file.related))
        case ModuleDecl():
            return _fill("module.pyi.j2", c=module_stub.view(declaration, names, file.related))


def _set_out(
    declarations: tuple[Declaration, ...], summary: str, head: tuple[str, ...], checking_imports: tuple[str, ...]
) -> str:
    names = nested_names(declarations)
    classes = [_class(declaration, names) for declaration in declarations]
    return _fill(
        "file.py.j2",
        head=head,
        summary=summary,
        checking_imports=checking_imports,
        classes=classes,
        tensorclasses=any(isinstance(declaration, TensorClassDecl) for declaration in declarations),
        uses_nn=any("_nn." in text for text in classes),
        uses_repeat=any("_repeat(" in text for text in classes),
        uses_builtins=any("_builtins." in text for text in classes),
    )


def _class(declaration: Declaration, names: NestedNames) -> str:
    match declaration:
        case TensorClassDecl():
            return _fill("tensorclass.py.j2", c=emit_tensorclass.view(declaration, names))
        case ModuleDecl():
            return _fill("module.py.j2", c=emit_module.view(declaration))


def _fill(template: str, **values: object) -> str:
    return _environment().get_template(template).render(values)


@lru_cache(maxsize=1)
def _environment() -> Environment:
    return Environment(
        loader=FileSystemLoader(_FOLDERS),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
        auto_reload=False,
    )
