"""`qten-gen init`, and the hooks for pre-commit."""

import re
import shlex
import subprocess
import tomllib
from pathlib import Path

import pytest

import qten_gen as package
from tests.command import BATCH, Command

ROOT = Path(package.__file__).parents[1]


@pytest.fixture(autouse=True)
def written(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """Write no stubs, which takes a second, but where a test is about them."""
    if "stubs" not in request.node.name:
        monkeypatch.setattr("qten_gen.cli.init.write_stubs", lambda *_: (0, False))


@pytest.fixture
def repository(qten_gen: Command) -> Command:
    """A git repository with a package in `src`."""
    subprocess.run(["git", "init", "-q"], cwd=qten_gen.folder, check=True)
    qten_gen.write("src/shop/__init__.py", "")
    qten_gen.write("src/shop/model.py", BATCH)
    return qten_gen


def test_a_project_is_set_up_from_nothing(repository: Command) -> None:
    result = repository("init")
    assert (result.status, result.err) == (0, "")
    assert result.out.splitlines() == [
        "added: pyproject.toml: the section [tool.qten-gen]",
        "added: pyproject.toml: the section [tool.mypy]",
        "added: .gitattributes: *_qten.py linguist-generated merge=union",
        "added: .gitattributes: *_qten.pyi linguist-generated merge=union",
        "added: .gitattributes: typings/torch/** linguist-generated",
        "added: .gitignore: .qten_cache/",
        "added: .pre-commit-config.yaml: the hook qten-gen",
    ]
    assert tomllib.loads(repository.read("pyproject.toml")) == {
        "tool": {"qten-gen": {"src": ["src"], "stubs": ["torch.nn"]}, "mypy": {"mypy_path": "typings"}}
    }
    assert repository().summary == "2 files written"
    shown = subprocess.run(
        ["git", "check-attr", "linguist-generated", "src/shop/model_qten.py"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert shown.stdout.strip().endswith("linguist-generated: set")


def test_the_stubs_of_layers_are_written_and_read_by_checkers(repository: Command) -> None:
    assert " stubs of torch " in repository("init").out.splitlines()[-1]
    assert "class Linear(Module):" in repository.read("typings/torch/nn/modules/linear.pyi")
    assert repository("stubs", "--check").status == 0
    repository.write("mypy.ini", "[mypy]\nstrict = true\n")
    assert "paste into mypy.ini:\n[mypy]\nmypy_path = typings\n" in repository("init").out


def test_two_branches_that_each_add_a_field_merge_and_the_next_run_repairs(repository: Command) -> None:
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b.c"]

    def commit(*arguments: str) -> None:
        for line in (["add", "--all"], ["commit", "-q", "-m", "x"], ["checkout", "-q", *arguments]):
            subprocess.run([*git, *line], cwd=repository.folder, check=True)

    fields = "".join(f"    {name}: Tensor\n" for name in "abcdefgh")
    before = BATCH.replace("    x: Tensor\n", fields)
    repository("init")
    for text, branch in (
        (before, ["-b", "first"]),
        (before.replace("    a: Tensor\n", "    a: Tensor\n    one: Tensor\n"), ["-b", "second", "HEAD~1"]),
        (before.replace("    h: Tensor\n", "    h: Tensor\n    two: Tensor\n"), ["second"]),
    ):
        repository.write("src/shop/model.py", text)
        assert repository().status == 0
        commit(*branch)
    subprocess.run([*git, "merge", "-q", "--no-edit", "first"], cwd=repository.folder, check=True)
    checked = repository("--check")
    assert (checked.status, "help: run qten-gen, and commit what it writes\n" in checked.out) == (1, True)
    repository()
    assert repository("--check").status == 0
    assert {"one: _Tensor,", "two: _Tensor,"} <= {
        line.strip() for line in repository.read("src/shop/model_qten.py").splitlines()
    }


@pytest.mark.parametrize("line", [".qten_cache", ".qten_cache/", "/.qten_cache/"])
def test_a_cache_that_is_ignored_already_gets_no_second_line(repository: Command, line: str) -> None:
    repository.write(".gitignore", f"__pycache__/\n{line}")
    repository("init")
    assert repository.read(".gitignore") == f"__pycache__/\n{line}"


def test_a_second_call_changes_nothing(repository: Command) -> None:
    repository("init")
    before = repository.times()
    assert repository("init").out == "everything is set up\n"
    assert repository.times() == before


def test_a_stub_that_hides_a_declaration_is_named(repository: Command) -> None:
    repository("init")
    repository.write("src/shop/model.pyi", "")
    repository.write("src/shop/__init__.pyi", "")
    told = "remove: src/shop/model.pyi: type checkers read it in place of src/shop/model.py\n"
    assert repository("init").out == told


def test_lines_that_are_there_stay_and_those_of_other_sections_are_printed(repository: Command) -> None:
    settings = (
        '[project]\nname = "shop"\n\n[tool.ruff]  # another\nline-length = 100\n\n[tool.coverage.run]\nbranch = true'
    )
    hooks = "repos:\n  - repo: meta\n    hooks:\n      - id: identity\n"
    (repository.folder / "pyproject.toml").write_text(settings)
    repository.write(".gitattributes", "*.png binary\n*_qten.py -merge\n")
    repository.write(".pre-commit-config.yaml", hooks)
    out = repository("init").out
    sections = '[tool.qten-gen]\nsrc = ["src"]\nstubs = ["torch.nn"]\n\n[tool.mypy]\nmypy_path = "typings"\n'
    assert repository.read("pyproject.toml") == f"{settings}\n\n{sections}"
    assert repository.read(".gitattributes").splitlines()[2:3] == ["*_qten.pyi linguist-generated merge=union"]
    assert repository.read(".pre-commit-config.yaml") == hooks
    assert 'paste into pyproject.toml:\n[tool.ruff]\nextend-exclude = ["*_qten.py", "*_qten.pyi"]\n' in out
    assert 'paste into pyproject.toml:\n[tool.coverage.run]\nomit = ["*_qten.py"]\n' in out
    assert "paste into .pre-commit-config.yaml:\n- repo: local\n  hooks:\n    - id: qten-gen\n" in out


def test_a_section_that_cannot_be_appended_is_refused(repository: Command) -> None:
    repository.write("pyproject.toml", "tool = { ruff = {} }\n")
    result = repository("init")
    assert (result.status, "add it by hand" in result.err) == (2, True)
    assert repository.read("pyproject.toml") == "tool = { ruff = {} }\n"


def test_added_lines_end_as_the_lines_of_the_file(repository: Command) -> None:
    for name, text in (("pyproject.toml", b'[project]\r\nname = "x"'), (".gitattributes", b"x diff\r\n")):
        (repository.folder / name).write_bytes(text)
    repository("init")
    for name in ("pyproject.toml", ".gitattributes"):
        text = (repository.folder / name).read_bytes()
        assert b"qten" in text and text.count(b"\r\n") == text.count(b"\n")
    assert repository("init").out == "everything is set up\n"


def test_without_a_repository_only_the_settings_are_written(qten_gen: Command) -> None:
    qten_gen("init")
    assert sorted(path.name for path in qten_gen.folder.iterdir()) == ["pyproject.toml"]


def test_a_folder_of_a_repository_gets_what_works_there_and_the_hook_of_the_top_is_printed(
    repository: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The configuration of pre-commit is read at the top alone, and belongs to others too."""
    repository.write("tools/sub/model.py", BATCH)
    monkeypatch.chdir(repository.folder / "tools/sub")
    first, *others = repository("init").out.splitlines()
    assert first == "added: pyproject.toml: the section [tool.qten-gen]"
    assert f"paste into {repository.folder}/.pre-commit-config.yaml:" in others
    assert "      entry: qten-gen --check tools/sub" in others
    repository.write(".pre-commit-config.yaml", "repos: []  # entry: qten-gen --check tools/sub")
    assert repository("init").out == "everything is set up\n"


def test_a_call_in_a_subfolder_names_the_files_of_the_project(
    qten_gen: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = qten_gen.write("pyproject.toml", "[project]\nname = 'shop'\n")
    qten_gen.write("services/search/model.py", BATCH)
    monkeypatch.chdir(qten_gen.folder / "services" / "search")
    assert qten_gen("init").out.splitlines()[0] == f"added: {settings}: the section [tool.qten-gen]"
    assert "[tool.qten-gen]" in settings.read_text() and not qten_gen.exists("services/search/pyproject.toml")


def entries(text: str) -> dict[str, str]:
    """The command of each hook in a file of pre-commit."""
    return dict(re.findall(r"- id: (\S+)\n(?:.*\n)*?\s*entry: (.*)\n", text))


def test_the_hooks_of_this_repository_write_and_refuse(repository: Command) -> None:
    hooks = entries((ROOT / ".pre-commit-hooks.yaml").read_text())
    assert hooks.keys() == {"qten-gen", "qten-gen-check"}
    command = {name: shlex.split(entry) for name, entry in hooks.items()}
    assert all(words[0] == "qten-gen" for words in command.values())
    assert repository(*command["qten-gen-check"][1:]).status == 1
    assert not repository.exists("src/shop/model_qten.py")
    assert repository(*command["qten-gen"][1:]).status == 0
    assert repository(*command["qten-gen-check"][1:]).status == 0


def test_the_hook_that_init_writes_refuses_a_stale_file(repository: Command) -> None:
    repository("init")
    (entry,) = entries(repository.read(".pre-commit-config.yaml")).values()
    words = shlex.split(entry)[1:]
    assert repository(*words).status == 1
    repository()
    assert repository(*words).status == 0
    repository.write("src/shop/model.py", f"{BATCH}    mask: Tensor\n")
    assert repository(*words).status == 1
