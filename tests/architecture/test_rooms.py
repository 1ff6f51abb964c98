"""Which room of the package may import which. `docs/architecture.md` says what the rooms are for."""

from __future__ import annotations

import ast
import re

import pytest

from .imports import (
    PACKAGE,
    Import,
    arrows,
    circles,
    importers,
    imports,
    in_file,
    mentioned,
    named_modules,
    part,
    part_of,
    sources,
)

ROOMS = {
    "common": set[str](),
    "model": {"common"},
    "read": {"common", "model"},
    "link": {"common", "model", "read"},
    "reflection": {"common", "model", "read"},
    "rules": {"common", "model"},
    "emit": {"common", "model"},
    "report": {"model"},
    "project": {"common", "model"},
    "generate": {"common", "model", "read", "link", "rules", "emit", "project"},
    "run": {"common", "model", "project", "generate"},
    "tools/stubs": {"common", "model", "read", "generate", "project"},
    "tools/inspect": {"common", "project", "report", "runtime", "large_models"},
    "tools/lock": {"common", "model", "project", "runtime", "tools/inspect"},
    "tools/adopt": {"common", "model", "read", "link", "rules", "generate", "project"},
    "tools/check": {"common", "model", "link", "read", "rules", "project", "generate", "tools/adopt"},
    "tools/lsp": {"common", "model", "read", "rules", "project", "generate"},
    "cli": {
        "common",
        "model",
        "rules",
        "report",
        "project",
        "generate",
        "run",
        "tools/stubs",
        "tools/inspect",
        "tools/lock",
        "tools/adopt",
        "tools/check",
        "tools/lsp",
    },
    "building": {"cli"},
    "__main__": {"cli"},
}
"""The rooms of the generator, and those that each may import: only rooms above it in this table, so there is no circle.

`tools/inspect` imports the user's code, and so it may import torch and the runtime. The command imports it when something is
inspected, and never otherwise.
"""

PURE_PROJECT = ("import_graph", "output_names", "scan")
"""The modules of `project` that turn data into data. `generate` may import these and no other: it knows no disk."""

PURE = (
    "common",
    "emit",
    "link",
    "model",
    "read",
    "report",
    "rules",
    "generate/(?!render|templates|in_memory)",
    *(f"project/{module}$" for module in PURE_PROJECT),
)
"""Parts that turn data into data, as patterns of file names: they know no disk and no working directory."""

LEXICAL = "basename|dirname|join|split"
"""The functions of `os.path` that only look at the text of a path."""

GENERATOR = r"qten_gen(?!\.(?:runtime|common|large_models))"
"""The generator: everything but what programs run on, and the vocabulary that both share."""

IMPORTS_TORCH = r"runtime/|large_models/|tools/inspect/|tools/lock/lock_of_target$"
"""The rooms that import torch and the user's code."""

HAND_OVER = {"runtime/module/metaclass", "runtime/qten_style/module"}
"""Where the core hands over to large models: the methods `on_meta` and `materialize`."""


def test_the_core_knows_large_models_by_two_methods_alone() -> None:
    """Each imports its function when it is called; `qten_gen/__init__.py` lists the public names."""
    through = importers(r"qten_gen\.large_models", files="(?!large_models/|tools/)")
    assert {in_file(found) for found in through} == HAND_OVER
    assert importers(r"qten_gen\.large_models", files="(?!large_models/|tools/)", at_once=True) == []


def test_large_models_know_no_development_tool() -> None:
    assert importers(r"qten_gen\.(?:tools|cli)", files="large_models/") == []


def test_the_core_knows_development_tools_by_their_commands_alone() -> None:
    through = importers(r"qten_gen\.tools", files="(?!tools/)")
    assert {part(found) for found in through} == {"cli"}


def test_imports_are_found_wherever_they_stand() -> None:
    assert {in_file(found) for found in importers("ast")} >= {"read/module", "common/python_text"}
    assert Import("runtime/tensorclass/tensorclass", "qten_gen.runtime.declaring.fields.field", True) in imports()
    assert Import("cli/command", "qten_gen.run.run.run", False) in imports()


def test_the_runtime_imports_nothing_of_the_generator() -> None:
    behind = "declaring.(?:by_declaration|generator|in_memory)"
    assert importers(GENERATOR, files="runtime/(?!declaring/generator$)", at_once=True) == []
    assert importers(f"qten_gen.runtime.{behind}", files=f"(?!runtime/{behind}$)", at_once=True) == []


def test_the_runtime_reaches_the_generator_through_one_door() -> None:
    """The generator is loaded when a class statement runs, not before, and no import hides in a string."""
    through = importers(GENERATOR, files="runtime/")
    assert {in_file(found) for found in through} == {"runtime/declaring/generator"}


@pytest.mark.parametrize("module", ["torch", r"qten_gen\.runtime"])
def test_the_generator_imports_neither_torch_nor_the_runtime(module: str) -> None:
    assert importers(module, files=f"(?!{IMPORTS_TORCH})") == []


def test_the_command_imports_the_inspection_in_one_place_and_late() -> None:
    through = importers(r"qten_gen\.tools\.inspect", files="(?!tools/)")
    assert {in_file(found) for found in through} == {"cli/inspect"}
    assert importers(r"qten_gen\.tools\.inspect", files="(?!tools/)", at_once=True) == []


def test_the_command_imports_the_language_server_in_one_place_and_late() -> None:
    through = importers(r"qten_gen\.tools\.lsp", files="(?!tools/)")
    assert {in_file(found) for found in through} == {"cli/lsp"}
    assert importers(r"qten_gen\.cli\.lsp", at_once=True) == []


def test_the_language_server_answers_the_first_request_before_the_generator_is_loaded() -> None:
    assert importers(r"qten_gen\.tools\.lsp\.session", at_once=True) == []
    assert importers(r"qten_gen\.(?:project|run|generate)\b", files=r"cli/lsp$|tools/lsp/protocol$", at_once=True) == []


@pytest.mark.parametrize(
    ("module", "files"),
    [
        ("jinja2", r"generate/templates$"),
        ("libcst", r"generate/codemods$|tools/adopt/rewriting$"),
        ("rich|mypy", r"$."),
        # Both for those who have them: neither is needed.
        (
            "tensordict",
            r"runtime/tensorclass/(?:interop/tensordicts|core/other_libraries)$",
        ),
        ("numpy", r"$."),
        ("tomllib", r"project/config$"),
    ],
)
def test_a_package_is_imported_in_one_place(module: str, files: str) -> None:
    assert [found for found in importers(module) if not re.match(files, in_file(found))] == []


def test_jinja2_is_imported_when_something_is_rendered() -> None:
    assert importers(r"qten_gen\.generate\.templates", at_once=True) == []


def test_libcst_is_imported_when_a_source_is_rewritten() -> None:
    rewriting = r"qten_gen\.(?:generate\.codemods|tools\.adopt\.rewriting)"
    inside = r"(?!generate/codemods$|tools/adopt/rewriting$)"
    assert importers(rewriting, files=inside, at_once=True) == []
    assert importers(rewriting, files=f"(?!tools/adopt/){inside}") == []


def test_only_these_files_change_the_disk() -> None:
    writing = re.compile(
        r"""\bos\.(?:replace|unlink|remove|rename|chmod|mkdir|makedirs|rmdir)\(|open\([^)]*"[wxa]b?\""""
    )
    files = {str(path.relative_to(PACKAGE)): path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py")}
    found = {name for name, text in files.items() if writing.search(text)}
    assert found == {
        "generate/templates.py",  # compiled ones
        "project/apply.py",
        "project/cache.py",
        "runtime/tensorclass/storage/files.py",  # those of objects
        "runtime/tensorclass/storage/safetensors_files.py",
        "runtime/tensorclass/storage/saving.py",
    }


@pytest.mark.parametrize("part", PURE)
def test_a_pure_part_reads_no_disk(part: str) -> None:
    files = [PACKAGE / f"{source.name}.py" for source in sources() if re.match(part, source.name)]
    assert files
    assert importers(rf"os(?!\.path\.(?:{LEXICAL})$)|pathlib|shutil|subprocess|tempfile", files=part) == []
    assert [path for path in files if re.search(r"\bopen\(", path.read_text(encoding="utf-8"))] == []


def generator_imports() -> list[Import]:
    """All imports of the generator, those for checkers and those that name a module in a string included."""
    generator = [source for source in sources() if part(source.name) not in ("runtime", "large_models", "__init__")]
    return [Import(source.name, module, False) for source in generator for module in mentioned(source)]


def test_the_rooms_of_the_generator_are_those_of_the_table() -> None:
    assert {part(source.name) for source in sources()} - {
        "__init__",
        "runtime",
        "large_models",
        "tools",
    } == ROOMS.keys()
    names = list(ROOMS)
    below = {"runtime", "large_models"}
    assert all(allowed - below <= set(names[: names.index(room)]) for room, allowed in ROOMS.items())


def test_a_room_of_the_generator_imports_no_room_but_those_that_it_may() -> None:
    found = [item for item in generator_imports() if re.match(r"qten_gen\.(?!__)", item.module)]
    against = sorted(
        f"{item.file} imports {item.module}"
        for item in found
        if (target := part_of(item.module)) != part(item.file) and target not in ROOMS[part(item.file)]
    )
    assert against == []
    assert {("run", "generate"), ("generate", "read")} <= {(part(i.file), part_of(i.module)) for i in found}


def test_generating_knows_the_pure_parts_of_a_project_only() -> None:
    pure = re.compile(rf"qten_gen\.project\.(?:{'|'.join(PURE_PROJECT)})\.")
    found = [item for item in generator_imports() if item.module.startswith("qten_gen.project")]
    assert [item for item in found if part(item.file) == "generate" and not pure.match(item.module)] == []
    within = [item for item in found if re.match(rf"project/(?:{'|'.join(PURE_PROJECT)})$", item.file)]
    assert [item for item in within if not pure.match(item.module)] == []


def test_an_import_that_hides_in_a_string_or_from_the_interpreter_is_found() -> None:
    text = "if TYPE_CHECKING:\n    from ..generate.plan import Plan\ndef f(): import_module('qten_gen.emit.file')\n"
    found = [module for node in ast.walk(ast.parse(text)) for module in named_modules(node, ("qten_gen", "model"))]
    assert sorted(found) == ["qten_gen.emit.file", "qten_gen.generate.plan.Plan"]


RUNTIME = (
    {"declaring"},
    {"tensorclass", "module"},
    {"qten_style"},
    {"generated", "generated_features"},
)
"""The rooms of the runtime: each imports those of earlier lines. TensorClasses and modules do not know each other."""

LARGE_MODELS = ({"fake"}, {"deferred"}, {"materializing"})
"""The same for the rooms of `large_models`."""

TENSORCLASS = (
    {"core"},
    {"fields"},
    {"methods"},
    {"torch_tools"},
    {"operations"},
    {"interop", "processes", "storage"},
    {"primitives"},
    {"metaclass"},
    {"tensorclass"},
    {"ragged"},
)
"""The same for the rooms of `runtime/tensorclass`."""


def room(file: str, rooms: tuple[set[str], ...], start: str) -> int | None:
    """The line of the room that a file stands in, the innermost one; None for a file of no room."""
    name = file.removeprefix(start)
    inside = [
        (len(found), line)
        for line, names in enumerate(rooms)
        for found in names
        if name == found or name.startswith(f"{found}/")
    ]
    return max(inside)[1] if file.startswith(start) and inside else None


@pytest.mark.parametrize(
    ("rooms", "start"),
    [(RUNTIME, "runtime/"), (TENSORCLASS, "runtime/tensorclass/"), (LARGE_MODELS, "large_models/")],
    ids=["runtime", "tensorclass", "large_models"],
)
def test_a_room_of_the_runtime_imports_those_of_earlier_lines_only(rooms: tuple[set[str], ...], start: str) -> None:
    """Whatever the form of the import; rooms of one line do not import each other."""
    files = [file for file in arrows() if file.startswith(start) and file != f"{start}__init__"]
    assert [file for file in files if room(file, rooms, start) is None] == []
    names = {name for line in rooms for name in line}
    against = []
    for file in files:
        for target in arrows()[file]:
            here, there = room(file, rooms, start), room(target, rooms, start)
            same = any(file.startswith(f"{start}{name}") and target.startswith(f"{start}{name}") for name in names)
            if here is not None and there is not None and (there > here or (there == here and not same)):
                against.append(f"{file} imports {target}")
    assert against == []


def test_no_file_imports_itself_in_a_circle() -> None:
    """Imports under TYPE_CHECKING, inside of functions and in strings count: whoever reads a file has to read those too.

    `qten_gen/__init__.py` is left out: it lists what is public.
    """
    found = {file: targets - {"__init__"} for file, targets in arrows().items() if file != "__init__"}
    assert circles(found) == []


def test_imports_are_found_in_every_form() -> None:
    found = arrows()
    assert "runtime/declaring/fields" in found["runtime/tensorclass/core/stored"], "under TYPE_CHECKING"
    assert "runtime/module/ties" in found["runtime/module/declared_module"], "in a function"
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) == [["a", "b", "c"]]
