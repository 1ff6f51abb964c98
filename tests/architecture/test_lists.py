"""The lists that have to agree with each other, the size of files, and what a function says of itself."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator

import qten_gen
from qten_gen.common.naming import PRIVATE_NAMES
from qten_gen.runtime.declaring.declared_class import DeclaredClass
from qten_gen.runtime.declaring.metaclass import DeclarationMeta
from qten_gen.runtime.module.metaclass import ModuleMeta
from qten_gen.runtime.tensorclass.metaclass import TensorClassMeta

from .imports import PACKAGE, REPOSITORY, imports, sources

LONGEST = 450
"""Lines that a file written by hand may have."""


def test_no_private_name_is_imported_from_another_module() -> None:
    private = [found for found in imports() if re.match(r"qten_gen\..*\._(?!_)\w+$", found.module)]
    assert private == []


def test_no_file_is_too_long() -> None:
    files = [
        path
        for folder in ("qten_gen", "templates", "stubs", "tests", "benchmarks", "examples")
        for path in (REPOSITORY / folder).rglob("*")
        if path.suffix in (".py", ".pyi", ".j2") and not path.stem.endswith("_qten")
    ]
    lengths = {str(path.relative_to(REPOSITORY)): len(path.read_bytes().splitlines()) for path in files}
    assert {path: lines for path, lines in lengths.items() if lines > LONGEST} == {}


def test_the_public_names_are_listed_alike() -> None:
    """Once for checkers, and once for the first use and `from qten_gen import *`."""
    tree = ast.parse((PACKAGE / "__init__.pyi").read_bytes())
    checked = {
        alias.name: node.module
        for node in tree.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.name == alias.asname
    }
    listed = next(node.value for node in tree.body if isinstance(node, ast.Assign))
    assert sorted(ast.literal_eval(listed)) == qten_gen.__all__
    homes = vars(qten_gen)["_HOMES"]
    assert checked == homes
    assert list(homes) == sorted(homes)
    assert all(getattr(qten_gen, name) is not None for name in homes)


def annotated(cls: type) -> set[str]:
    """The names that a class statement annotates, without class variables: a metaclass is asked for those."""
    (statement,) = ast.parse(inspect.getsource(cls)).body
    assert isinstance(statement, ast.ClassDef)
    annotations = [node for node in statement.body if isinstance(node, ast.AnnAssign)]
    return {ast.unparse(node.target) for node in annotations if not ast.unparse(node.annotation).startswith("ClassVar")}


def test_the_private_names_are_those_that_classes_have() -> None:
    """`storage` gives way to these names, so that a field called `map` does not hide the primitive `_map`."""
    text = "".join((REPOSITORY / "templates" / name).read_text() for name in ("tensorclass.py.j2",))
    emitted = (PACKAGE / "emit" / "tensorclass.py").read_text(encoding="utf-8")
    generated = {
        *re.findall(r"(?:self|out|part)\.(_\w+)", text),
        *re.findall(r"def (_\w+)", text),
        *re.findall(r"""["'](_\w+) = """, emitted),
    }
    members = [item for cls in qten_gen.TensorClass.__mro__[:-1] for item in vars(cls).items()]
    inherited = {name for name, _ in members}
    metaclass = {name for meta in (DeclaredClass, TensorClassMeta) for name in annotated(meta)}
    private = {name for name in generated | inherited | metaclass if re.fullmatch(r"_[a-z]\w*", name)}
    assert private == PRIVATE_NAMES


def test_methods_of_the_metaclasses_are_called_on_them() -> None:
    """A field `complete` is kept in `_complete`, which hides a method of the metaclass from its class, but not from itself."""
    hooks = {name for meta in (DeclarationMeta, TensorClassMeta, ModuleMeta) for name in vars(meta) if name[:2] != "__"}
    methods = {name for name in hooks if callable(getattr(DeclarationMeta, name, None))}
    text = (PACKAGE / "runtime" / "declaring" / "metaclass.py").read_text(encoding="utf-8")
    assert methods
    assert [name for name in methods if f"cls.{name}(" in text.replace(f"mcls.{name}(", "")] == []


def test_every_long_function_says_what_it_is_for() -> None:
    """A body of more than ten lines needs a docstring.

    The function around a nested one explains it, and Python explains a method like `__init__`.
    """
    silent = [
        f"{source.name}.{function.name}"
        for source in sources()
        for function in _functions(source.tree)
        if ast.get_docstring(function) is None
        and (function.body[-1].end_lineno or 0) - function.body[0].lineno + 1 > 10
        and not function.name.startswith("__")
    ]
    assert silent == []


def _functions(node: ast.Module | ast.stmt) -> Iterator[ast.FunctionDef]:
    """The functions of a module and the methods of its classes, those under `if` included, but no nested functions."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef):
            yield child
        elif isinstance(child, ast.ClassDef | ast.If | ast.Try | ast.With):
            yield from _functions(child)
