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
        "added: pyproject.toml: omit in [tool.coverage.run]",
        "added: .gitattributes: *_qten.py linguist-generated merge=union",
        "added: .gitattributes: *_qten.pyi linguist-generated merge=union",
        "added: .gitignore: .qten_cache/",
        "added: .pre-commit-config.yaml: the hook qten-gen",
    ]
    assert tomllib.loads(repository.read("pyproject.toml")) == {
        "tool": {"qten-gen": {"src": ["src"]}, "coverage": {"run": {"omit": ["*_qten.py"]}}}
    }
    assert repository().summary == "2 files written"
    shown = subprocess.run(
        ["git", "check-attr", "linguist-generated", "src/shop/model_qten.py"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert shown.stdout.strip().endswith("linguist-generated: set")


def test_attributes_that_are_set_stay_and_the_others_get_a_line(repository: Command) -> None:
    repository.write(".gitattributes", "*_qten.py linguist-generated\n*_qten.pyi -merge\n")
    repository("init")
    assert repository.read(".gitattributes").splitlines() == [
        "*_qten.py linguist-generated",
        "*_qten.pyi -merge",
        "*_qten.py merge=union",
        "*_qten.pyi linguist-generated",
    ]


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
    assert {"self._one = one", "self._two = two"} <= {
        line.strip() for line in repository.read("src/shop/model_qten.py").splitlines()
    }


@pytest.mark.parametrize("line", [".qten_cache", ".qten_cache/", "/.qten_cache/"])
def test_a_cache_that_is_ignored_already_gets_no_second_line(repository: Command, line: str) -> None:
    repository.write(".gitignore", f"__pycache__/\n{line}")
    repository("init")
    assert repository.read(".gitignore") == f"__pycache__/\n{line}"


def test_a_second_call_changes_nothing(repository: Command) -> None:
    assert repository("init", "--check").status == 1
    repository("init")
    before = repository.times()
    assert repository("init").out == "everything is set up\n"
    assert (repository("init", "--check").status, repository("init", "--diff").out) == (0, "")
    assert repository.times() == before


def test_a_stub_that_hides_a_declaration_is_named(repository: Command) -> None:
    repository("init")
    repository.write("src/shop/model.pyi", "")
    repository.write("src/shop/__init__.pyi", "")
    told = "by hand: src/shop/model.pyi: remove it; type checkers read it in place of src/shop/model.py\n"
    assert repository("init").out == told


PYPROJECT = """\
# a comment
[project]
name = "shop"

[tool.ruff]  # another
line-length = 100

[tool.ruff.lint]
select = ["E"]

[tool.coverage.run]
branch = true
[tool.other]
x = 1"""


def test_lines_that_are_there_stay_and_others_are_added_where_they_belong(repository: Command) -> None:
    (repository.folder / "pyproject.toml").write_text(PYPROJECT)
    repository.write(".gitattributes", "*.png binary")
    repository.write(
        ".pre-commit-config.yaml",
        "default_stages: [pre-commit]\nrepos:\n  - repo: meta\n    hooks:\n      - id: identity\n",
    )
    repository("init")
    text = repository.read("pyproject.toml")
    left = iter(text.splitlines())
    assert all(line in left for line in PYPROJECT.splitlines())
    before, after = tomllib.loads(PYPROJECT)["tool"], tomllib.loads(text)["tool"]
    assert after == {
        **before,
        "ruff": {**before["ruff"], "extend-exclude": ["*_qten.py", "*_qten.pyi"]},
        "coverage": {"run": {"branch": True, "omit": ["*_qten.py"]}},
        "qten-gen": {"src": ["src"]},
    }
    assert repository.read(".gitattributes").startswith("*.png binary\n*_qten.py linguist-generated merge=union\n")
    hooks = repository.read(".pre-commit-config.yaml")
    assert "  - repo: local\n    hooks:\n      - id: qten-gen\n" in hooks and hooks.startswith("default_stages")
    assert repository("init").out == "everything is set up\n"


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        (
            "pyproject.toml",
            "[tool.qten-gen]\n[tool.coverage.run]\nomit = ['a']\n",
            "*_qten.py to omit in [tool.coverage.run]",
        ),
        (
            "pyproject.toml",
            "[tool]\nqten-gen = {}\nruff = { preview = true }\ncoverage.run.omit = ['*_qten.py']\n",
            "*_qten.py, *_qten.pyi to extend-exclude in [tool.ruff]",
        ),
        (
            "pyproject.toml",
            "[tool.ruff]\nextend-exclude = []\n[tool.qten-gen]\n[tool.coverage.run]\nomit = '*_qten.py'\n",
            "*_qten.py, *_qten.pyi to extend-exclude in [tool.ruff]",
        ),
        (
            ".pre-commit-config.yaml",
            "repos:\n- repo: meta\n  hooks: []\nci: {}\n",
            "the hook qten-gen, at the end of repos",
        ),
    ],
)
def test_what_cannot_be_added_safely_is_left_to_the_user(repository: Command, name: str, text: str, said: str) -> None:
    repository.write(name, text)
    repository("init")
    before = repository.times()
    assert f"by hand: {name}: {said}" in repository("init").out.splitlines()
    assert repository.read(name) == text and repository.times() == before


def test_added_lines_end_as_the_lines_of_the_file(repository: Command) -> None:
    folder = Path(repository.folder)
    (folder / "pyproject.toml").write_bytes(b'[project]\r\nname = "x"\r\n\r\n[tool.ruff]\r\nline-length = 99')
    (folder / ".gitattributes").write_bytes(b"x diff\r\n")
    (folder / ".pre-commit-config.yaml").write_bytes(b"repos:\r\n- repo: local\r\n  hooks: []\r\n")
    repository("init")
    for name in ("pyproject.toml", ".gitattributes", ".pre-commit-config.yaml"):
        text = (folder / name).read_bytes()
        assert b"qten" in text and text.count(b"\r\n") == text.count(b"\n")
    assert repository("init").out == "everything is set up\n"


def test_without_a_repository_only_the_settings_are_written(qten_gen: Command) -> None:
    qten_gen("init")
    assert sorted(path.name for path in qten_gen.folder.iterdir()) == ["pyproject.toml"]


def test_a_folder_of_a_repository_gets_what_works_there_and_the_hook_is_left_to_the_user(
    repository: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The configuration of pre-commit is read at the top alone, and belongs to others too."""
    repository.write("tools/sub/model.py", BATCH)
    monkeypatch.chdir(repository.folder / "tools/sub")
    hook = f"by hand: {repository.folder}/.pre-commit-config.yaml: a hook with entry: qten-gen --check tools/sub"
    assert repository("init").out.splitlines()[2:] == [
        "added: .gitattributes: *_qten.py linguist-generated merge=union",
        "added: .gitattributes: *_qten.pyi linguist-generated merge=union",
        "added: .gitignore: .qten_cache/",
        hook,
    ]
    assert repository("init").out.splitlines() == [hook]
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


def test_a_diff_of_what_is_missing_can_be_applied(repository: Command) -> None:
    result = repository("init", "--diff")
    assert result.status == 1
    subprocess.run(["git", "apply", "-p1"], input=result.out.encode(), cwd=repository.folder, check=True)
    assert repository("init").out == "everything is set up\n"


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


def test_init_says_how_it_is_called(qten_gen: Command) -> None:
    assert qten_gen("init", "--help").out.startswith("usage: qten-gen init")
    assert qten_gen("init", "here").status == 2
    qten_gen.write("pyproject.toml", "[tool.qten-gen]\nx = 1\n")
    assert (qten_gen("init").status, qten_gen.read("pyproject.toml")) == (2, "[tool.qten-gen]\nx = 1\n")
