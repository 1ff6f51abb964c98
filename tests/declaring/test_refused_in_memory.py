"""What is refused in memory, and that every command which a message advises helps."""

import re
import shlex
import sys
import types
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from torch import Tensor, nn

from qten_gen import DeclarationError, Module, TensorClass, buffer, param, submodule
from qten_gen.cli.command import main
from qten_gen.project import libraries
from tests.conftest import Project
from tests.project.installed import MODEL, NETS, Environment


class State(TensorClass):
    """A parent with a field."""

    state: Tensor


def called(specifier: Callable[..., Any], *args: object, **kwargs: object) -> Any:
    """A specifier with arguments that type checkers refuse."""
    return specifier(*args, **kwargs)


@pytest.mark.parametrize("text", ["nn.Linear |", "int:\n print(1)\n x: int"])
def test_a_quoted_type_that_is_no_expression_is_refused(text: str) -> None:
    namespace = {"__annotations__": {"dim": "int", "child": text}, "child": called(submodule, nn.Linear, "dim", "dim")}
    with pytest.raises(DeclarationError, match="QG208"):
        types.new_class("Net", (Module,), exec_body=lambda body: body.update(namespace))


def test_a_finding_names_its_field() -> None:
    with pytest.raises(DeclarationError) as caught:

        class Scale(Module):
            dim: int
            weight: nn.Parameter = param("3 dim", initializer=nn.init.ones_)
            offset: Tensor = called(buffer, (3, "dim"), persistent=1, initializer=nn.init.zeros_)

    assert str(caught.value) == (
        "Scale cannot be generated\n"
        "  weight: error QG301 [invalid-dimension]: '3 dim' is not an expression: an operator is missing before 'dim'\n"
        "  offset: error QG305 [invalid-specifier-argument]: a dimension must be an integer or a string, got (3, 'dim')\n"
        '    help: write an integer, or an expression over config fields such as "3*dim"\n'
        "  offset: error QG305 [invalid-specifier-argument]: persistent must be True or False, got 1\n"
        "    help: write persistent=True or persistent=False"
    )


def test_the_traceback_of_a_mistake_ends_at_the_class_statement() -> None:
    with pytest.raises(DeclarationError) as caught:

        class Net(Module):
            dim: int
            head: nn.Linear = submodule(nn.Linear, "dmi", 2)

    files = [Path(entry.path).name for entry in caught.traceback]
    assert files == [Path(__file__).name]


BATCH = "from torch import Tensor\nfrom qten_gen import TensorClass\n\nclass Batch(TensorClass):\n    x: Tensor\n"
CHILD = "from {} import Batch\n\nclass Child(Batch):\n    y: str\n"


@pytest.fixture(autouse=True)
def off(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is built in memory, so that a class works only if the advice has helped."""
    monkeypatch.setenv("QTEN_GEN_JIT", "off")


def run(command: str) -> int:
    """Run a command as a shell would, with nothing but its words."""
    program, *arguments = shlex.split(command)
    assert program == "qten-gen"
    return main(arguments)


def forget(root: Path) -> None:
    """Forget all modules below a folder, as a new process does."""
    for name, module in sys.modules.copy().items():
        file = getattr(module, "__file__", None) or ""
        if file.startswith(str(root)) or ("qten" in name and getattr(module, "__spec__", None) is None and not file):
            sys.modules.pop(name)


def follow(load: Callable[[], ModuleType], root: Path) -> ModuleType:
    """Load a module, and do what each error says, until there is none."""
    for _ in range(4):
        forget(root)
        try:
            return load()
        except ImportError as error:
            (command,) = re.findall(r"Run: (.*)", str(error))
            assert run(command) == 0
    raise AssertionError("the advice does not help")


LAYOUTS = {
    "packages": {
        "a/__init__.py": "",
        "a/models.py": BATCH,
        "b/__init__.py": "",
        "b/models.py": CHILD.format("a.models"),
    },
    "scripts": {"models.py": BATCH, "b/__init__.py": "", "b/models.py": CHILD.format("models")},
    "a project": {
        "pyproject.toml": '[tool.qten-gen]\nsource-roots = ["."]\n',
        "a/models.py": BATCH,
        "b/models.py": CHILD.format("a.models"),
    },
}


def write(root: Path, files: dict[str, str]) -> None:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_command_in_an_error_makes_a_program_run(project: Project, layout: str) -> None:
    write(project.root, LAYOUTS[layout])
    child = follow(lambda: project.load("b.models"), project.root).Child
    assert set(child.__annotations__) == {"y"}
    base = "a/models.py" if "a/models.py" in LAYOUTS[layout] else "models.py"
    write(project.root, {base: BATCH.replace("x:", "more: Tensor\n    x:")})
    assert hasattr(follow(lambda: project.load("b.models"), project.root).Child, "more")
    assert main(["--check", "."]) == 0


def test_the_command_helps_where_the_library_is_installed(
    project: Project, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    environment = Environment(tmp_path_factory.mktemp("environment"))
    environment.install()
    monkeypatch.syspath_prepend(str(environment.site))
    project.write(app__model=MODEL)
    monkeypatch.setattr(libraries, "search_path", lambda: [str(environment.site)])
    write(project.root, {"pyproject.toml": '[tool.qten-gen]\nsource-roots = ["."]\n'})
    assert main([str(environment.site / "shop_models")]) == 0

    def load() -> ModuleType:
        forget(environment.folder)
        return project.load("app.model")

    assert hasattr(follow(load, project.root).Box, "corner")
    environment.write("shop_models/nets.py", NETS.replace("xy: Tensor", "xy: Tensor\n        z: Tensor"))
    assert hasattr(follow(load, project.root).Box, "z")


def test_the_command_in_the_header_writes_a_file_that_was_edited(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.write(shop__model=BATCH)
    main(["."])
    output = project.root / "shop/model_qten.py"
    before = output.read_text(encoding="utf-8")
    (command,) = re.findall(r"Do not edit; run: (.*)", before)
    output.write_text(before + "edited = 1\n", encoding="utf-8")
    monkeypatch.chdir("shop")
    assert run(command) == 0
    assert output.read_text(encoding="utf-8") == before


@pytest.mark.parametrize("filename", ["<ipython-input-1>", "<string>", "model.plugin", "gone.py", "model_qten.py"])
def test_no_command_is_advised_where_none_helps(project: Project, filename: str) -> None:
    if filename.startswith("model"):
        write(project.root, {filename: BATCH})
    with pytest.raises(ImportError, match=r"Declare it in a module, a file of its own") as caught:
        exec(compile(BATCH, filename, "exec"), {"__name__": "cell"})
    assert "Run:" not in str(caught.value)


def test_a_path_is_quoted_as_a_shell_needs_it(project: Project) -> None:
    write(project.root, {"my models/-model.py": BATCH, "my models/model.py": BATCH})
    path = project.root / "my models/model.py"
    with pytest.raises(ImportError) as caught:
        exec(compile(BATCH, str(path), "exec"), {"__name__": "model"})
    (command,) = re.findall(r"Run: (.*)", str(caught.value))
    assert run(command) == 0
