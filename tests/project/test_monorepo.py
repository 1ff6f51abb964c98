"""A repository of several projects: each path is generated with the settings of its own project."""

import pytest

from tests.command import BATCH, Command

LIBRARY = '[project]\nname = "core"\n[tool.qten-gen]\n'
SERVICE = '[tool.qten-gen]\nsource-roots = ["python", "../../libraries/core/src"]\n'
TOOL = '[tool.qten-gen]\nsource-roots = [".", "../libraries/core/src"]\nexclude = ["legacy"]\n'

CHILD = "from core.models import Batch\n\nclass Child(Batch):\n    y: str\n"


@pytest.fixture
def repository(qten_gen: Command) -> Command:
    """Three projects around a library, and files that belong to the repository itself."""
    for path, text in {
        "pyproject.toml": "[tool.qten-gen]\n",
        "shared/__init__.py": BATCH,
        "libraries/core/pyproject.toml": LIBRARY,
        "libraries/core/src/core/__init__.py": "",
        "libraries/core/src/core/models.py": BATCH,
        "services/search/pyproject.toml": SERVICE,
        "services/search/python/search/models.py": CHILD,
        "services/search/python/search/more.py": "from .models import Child\n\nclass More(Child):\n    z: str\n",
        "services/chat/pyproject.toml": SERVICE,
        "services/chat/python/chat/models.py": CHILD,
        "tools/pyproject.toml": TOOL,
        "tools/train.py": CHILD,
        "tools/legacy/old.py": CHILD,
    }.items():
        qten_gen.write(path, text)
    return qten_gen


OUTPUTS = {
    f"{path}_qten{suffix}"
    for path in (
        "libraries/core/src/core/models",
        "services/search/python/search/models",
        "services/search/python/search/more",
        "services/chat/python/chat/models",
        "tools/train",
    )
    for suffix in (".py", ".pyi")
} | {"shared/_qten.py", "shared/_qten.pyi"}


def outputs(repository: Command) -> dict[str, str]:
    found = (str(path.relative_to(repository.folder)) for path in repository.folder.rglob("*_qten.py*"))
    return {path: repository.read(path) for path in found}


def caches(repository: Command) -> set[str]:
    return {str(path.parent.relative_to(repository.folder)) for path in repository.folder.rglob(".qten_cache")}


ROOTS = {".", "libraries/core", "services/search", "services/chat", "tools"}


def test_one_command_uses_the_settings_and_the_cache_of_each_project(repository: Command) -> None:
    assert repository(".").summary == "12 files written"
    assert outputs(repository).keys() == OUTPUTS
    assert "x: " in repository.read("services/search/python/search/more_qten.py")
    assert caches(repository) == ROOTS
    assert repository(".").summary == "12 files up to date"
    assert repository("--check", "services", "tools", "libraries/core", "shared").summary == "12 files up to date"


@pytest.mark.parametrize(
    "order",
    [
        ("tools", "services/chat", "libraries", "services", ".", "shared"),
        ("libraries/core/src/core/models.py", "services/search/python/search/more.py", "services/search", "."),
        (".", "services/search", "services", "libraries/core/src", "tools/train.py"),
    ],
)
def test_runs_over_parts_agree_with_the_run_over_all(repository: Command, order: tuple[str, ...]) -> None:
    repository(".")
    expected = outputs(repository)
    for path in expected:
        (repository.folder / path).unlink()
    for path in order:
        result = repository(path)
        assert (result.status, result.err) == (0, "")
        assert "orphan" not in result.out and "removed" not in result.out
    assert outputs(repository) == expected
    for path in order:
        assert repository("--check", path).status == 0


@pytest.mark.parametrize("folder", ["services/search", "services/search/python/search", "libraries", "tools/legacy"])
def test_a_run_inside_a_project_agrees(repository: Command, folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    repository(".")
    before = outputs(repository)
    monkeypatch.chdir(folder)
    assert repository("--check", str(repository.folder)).summary == "12 files up to date"
    repository("--check", ".")
    assert repository(str(repository.folder)).summary == "12 files up to date"
    assert outputs(repository) == before


def test_a_mistake_in_the_settings_of_a_project_stops_only_runs_with_it(repository: Command) -> None:
    repository.write("tools/pyproject.toml", "[tool.qten-gen]\nexlude = []\n")
    result = repository(".")
    assert (result.status, result.out) == (2, "")
    assert result.err.startswith("tools/pyproject.toml:2: error QG004")
    assert outputs(repository) == {}
    assert repository("services/chat", "shared").summary == "4 files written"


def test_members_without_settings_belong_to_the_project_around_them(qten_gen: Command) -> None:
    qten_gen.write("pyproject.toml", "[tool.qten-gen]\n")
    qten_gen.write("packages/core/pyproject.toml", "[project]\n")
    qten_gen.write("packages/core/src/core/models.py", BATCH)
    qten_gen.write("packages/app/pyproject.toml", "[project]\n")
    qten_gen.write("packages/app/src/app/models.py", CHILD)
    assert qten_gen("packages/app").summary == "2 files written"
    assert qten_gen(".").summary == "2 files up to date, 2 written"
    assert caches(qten_gen) == {"."}


def test_projects_without_any_settings_are_apart(qten_gen: Command) -> None:
    for name in ("a", "b"):
        qten_gen.write(f"{name}/pyproject.toml", "[project]\n")
        qten_gen.write(f"{name}/src/models.py", BATCH)
    assert qten_gen("a").summary == "2 files written"
    assert qten_gen(".").summary == "2 files up to date, 2 written"
    assert caches(qten_gen) == {"a", "b"}


def test_a_missing_path_stops_the_run_before_anything_is_written(repository: Command) -> None:
    assert repository("tools", "services/nowhere").status == 2
    assert outputs(repository) == {}
