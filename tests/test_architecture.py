"""The structure of the package: which part may import which, and the lists that have to agree with each other.

Imports are read from the text, so that a forbidden one is found even where it is never executed. `docs/architecture.md` says
what the parts are for.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path
from typing import NamedTuple

import pytest

import qten_gen
from qten_gen.model import PRIVATE_NAMES
from qten_gen.runtime.declaring.declared_class import DeclaredClass
from qten_gen.runtime.declaring.metaclass import DeclarationMeta
from qten_gen.runtime.module.metaclass import ModuleMeta
from qten_gen.runtime.tensorclass.metaclass import TensorClassMeta

REPOSITORY = Path(__file__).parents[1]
PACKAGE = REPOSITORY / "qten_gen"

LONGEST = 450
"""Lines that a file written by hand may have."""

PURE = ("common", "emit", "link", "model", "rules", "project/import_graph")
"""Parts that turn data into data: they know no disk, no libcst and no torch."""


class Import(NamedTuple):
    """An import statement: the file it stands in, the module it names, and whether it runs when the file is imported."""

    file: str
    module: str
    at_once: bool


def imports() -> Iterator[Import]:
    """The imports of the package for run time: those under TYPE_CHECKING are left out."""
    for path in sorted(PACKAGE.rglob("*.py")):
        name = path.relative_to(PACKAGE).with_suffix("").as_posix()
        for module, at_once in _imported(ast.parse(path.read_bytes()).body, ("qten_gen", *name.split("/")[:-1]), True):
            yield Import(name, module, at_once)


def _imported(body: list[ast.stmt], package: tuple[str, ...], at_once: bool) -> Iterator[tuple[str, bool]]:
    for node in body:
        match node:
            case ast.Import(names=aliases):
                yield from ((alias.name, at_once) for alias in aliases)
            case ast.ImportFrom(module=module, names=aliases, level=level):
                parts = (
                    [*package[: len(package) + 1 - level], *([module] if module else [])] if level else [str(module)]
                )
                base = ".".join(parts)
                yield from ((f"{base}.{alias.name}", at_once) for alias in aliases)
            case ast.If(test=ast.Name("TYPE_CHECKING")):
                yield from _imported(node.orelse, package, at_once)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                yield from _imported(node.body, package, False)
            case _:
                for block in ("body", "orelse", "finalbody", "handlers", "cases"):
                    yield from _imported(getattr(node, block, []), package, at_once)


IMPORTS = tuple(imports())


def importers(module: str, files: str = "", at_once: bool = False) -> list[str]:
    """The files, by the start of their names, that import a module or what is in it; `at_once`, at module level."""
    return sorted(
        f"{found.file} imports {found.module}"
        for found in IMPORTS
        if re.match(rf"(?:{module})(?:\.|$)", found.module)
        and re.match(files, found.file)
        and (found.at_once or not at_once)
    )


def in_file(found: str) -> str:
    return found.partition(" ")[0]


def test_imports_are_found_wherever_they_stand() -> None:
    assert {in_file(found) for found in importers("libcst")} >= {"read/module", "generate/plan"}
    assert Import("runtime/tensorclass/tensorclass", "qten_gen.runtime.declaring.fields.field", True) in IMPORTS
    assert Import("cli/command", "qten_gen.cli.run.run", False) in IMPORTS


GENERATOR = r"qten_gen(?!\.(?:runtime|common))"
"""The generator: everything but the runtime and the vocabulary that both share."""


def test_the_runtime_imports_nothing_of_the_generator() -> None:
    assert importers(GENERATOR, files="runtime/", at_once=True) == []


def test_the_runtime_reaches_the_generator_through_one_door() -> None:
    """The generator is loaded when a class statement runs, not before, and no import hides in a string."""
    through = importers(GENERATOR, files="runtime/")
    assert {in_file(found) for found in through} == {"runtime/declaring/generator"}
    text = "".join(path.read_text(encoding="utf-8") for path in sorted((PACKAGE / "runtime").rglob("*.py")))
    assert set(re.findall(r'import_module\("(qten_gen[\w.]*)"\)', text)) == set()


def test_the_rooms_of_modules_stand_on_each_other() -> None:
    """Imports point to earlier rooms only, those under TYPE_CHECKING too, and no two files of a room import each other."""
    rooms = ("declaring", "module/core", "module/fast_paths", "module", "qten_style")
    files = {
        path.relative_to(PACKAGE / "runtime").with_suffix("").as_posix(): place
        for place, room in enumerate(rooms)
        for path in (PACKAGE / "runtime" / room).glob("*.py")
    }
    imported = {file: set(_runtime_imports(file)) & files.keys() - {file} for file in files}
    upwards = [(file, other) for file, others in imported.items() for other in others if files[other] > files[file]]
    assert upwards == []
    list(TopologicalSorter(imported).static_order())  # raises CycleError, which names the files


def _runtime_imports(file: str) -> Iterator[str]:
    """The files of the runtime that a file imports anywhere in it."""
    for node in ast.walk(ast.parse((PACKAGE / "runtime" / f"{file}.py").read_bytes())):
        if isinstance(node, ast.ImportFrom) and node.level:
            home = [*file.split("/")[: -node.level], *(node.module.split(".") if node.module else [])]
            yield "/".join(home)
            yield from ("/".join([*home, alias.name]) for alias in node.names)


@pytest.mark.parametrize("module", ["torch", r"qten_gen\.runtime"])
def test_the_generator_imports_neither_torch_nor_the_runtime(module: str) -> None:
    assert importers(module, files="(?!runtime/)") == []


@pytest.mark.parametrize(
    ("module", "files"),
    [
        ("jinja2", r"generate/render$"),
        # `plan` asks libcst's parser whether a text that this interpreter refuses is newer Python.
        ("libcst", r"read/|generate/plan$"),
        ("rich|mypy", r"$."),
        # Both for those who have them: neither is needed.
        ("tensordict", r"runtime/tensorclass/interop/tensordicts$"),
        ("numpy", r"$."),
        ("tomllib", r"project/config$"),
    ],
)
def test_a_package_is_imported_in_one_place(module: str, files: str) -> None:
    assert [found for found in importers(module) if not re.match(files, in_file(found))] == []


def test_only_apply_the_manifest_and_the_files_of_objects_change_the_disk() -> None:
    writing = re.compile(
        r"""\bos\.(?:replace|unlink|remove|rename|chmod|mkdir|makedirs|rmdir)\(|open\([^)]*"[wxa]b?\""""
    )
    files = {str(path.relative_to(PACKAGE)): path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py")}
    found = {name for name, text in files.items() if writing.search(text)}
    assert found == {"project/apply.py", "project/manifest.py", "runtime/tensorclass/storage/files.py"}


@pytest.mark.parametrize("part", PURE)
def test_a_pure_part_reads_no_disk(part: str) -> None:
    assert importers("os|pathlib|shutil|subprocess", files=rf"{part}(?:/|$)") == []


def test_imports_point_one_way() -> None:
    """Each part imports parts of earlier lines only, apart from what stands in its own folder."""
    lines = [
        {"common"},
        {"model"},
        {"project"},
        {"read"},
        {"link", "reflection", "report"},
        {"rules", "emit"},
        {"generate"},
        {"cli"},
        {"__main__"},
    ]
    height = {part: number for number, parts in enumerate(lines) for part in parts}
    generator = {path.stem for path in PACKAGE.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    assert generator - {"__init__", "runtime"} == set(height)
    against = sorted(
        f"{found.file} imports {found.module}"
        for found in IMPORTS
        if found.module.startswith("qten_gen.") and part(found.file) in height
        for source, target in [(part(found.file), found.module.split(".")[1])]
        if target in height and source != target and height[target] >= height[source]
    )
    assert against == []


def part(file: str) -> str:
    """The part of the package that a file belongs to: its folder, or itself."""
    return file.partition("/")[0]


def test_no_private_name_is_imported_from_another_module() -> None:
    private = [found for found in IMPORTS if re.match(r"qten_gen\..*\._(?!_)\w+$", found.module)]
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
    """Once for checkers, once for the first use, once for `from qten_gen import *`."""
    tree = ast.parse((PACKAGE / "__init__.py").read_bytes())
    checked = {
        alias.name: node.module
        for block in tree.body
        if isinstance(block, ast.If)
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.name == alias.asname
    }
    homes = vars(qten_gen)["_HOMES"]
    assert checked == homes
    assert list(homes) == sorted(homes)
    assert sorted(qten_gen.__all__) == sorted(homes)
    assert all(getattr(qten_gen, name) is not None for name in homes)


def test_the_private_names_are_those_that_classes_have() -> None:
    """`storage` gives way to these names, so that a field called `map` does not hide the primitive `_map`."""
    text = "".join((REPOSITORY / "templates" / name).read_text() for name in ("tensorclass.py.j2",))
    emitted = (PACKAGE / "emit" / "tensorclass.py").read_text(encoding="utf-8")
    generated = {
        *re.findall(r"(?:self|out|part)\.(_\w+)", text),
        *re.findall(r"def (_\w+)", text),
        *re.findall(r"""["'](_\w+) = """, emitted),
    }
    inherited = {name for cls in qten_gen.TensorClass.__mro__[:-1] for name in vars(cls)}
    metaclass = {name for meta in (DeclaredClass, TensorClassMeta) for name in meta.__annotations__}
    private = {name for name in generated | inherited | metaclass if re.fullmatch(r"_[a-z]\w*", name)}
    assert private == PRIVATE_NAMES


def test_methods_of_the_metaclasses_are_called_on_them() -> None:
    """A field `complete` is kept in `_complete`, which hides a method of the metaclass from its class, but not from itself."""
    hooks = {name for meta in (DeclarationMeta, TensorClassMeta, ModuleMeta) for name in vars(meta) if name[:2] != "__"}
    methods = {name for name in hooks if callable(getattr(DeclarationMeta, name, None))}
    text = (PACKAGE / "runtime" / "declaring" / "metaclass.py").read_text(encoding="utf-8")
    assert methods
    assert [name for name in methods if f"cls.{name}(" in text.replace(f"mcls.{name}(", "")] == []
