"""A repository of several projects: each is generated alone, with its own settings and cache."""

import pytest

from tests.command import BATCH, Command

SERVICE = '[tool.qten-gen]\nsource-roots = ["python", "../../libraries/core/src"]\n'
CHILD = "from core.models import Batch\n\nclass Child(Batch):\n    y: str\n"


@pytest.fixture
def repository(qten_gen: Command) -> Command:
    """Two projects, one of which uses the other, and files that belong to the repository itself."""
    for path, text in {
        "shared/__init__.py": BATCH,
        "libraries/core/pyproject.toml": '[project]\nname = "core"\n[tool.qten-gen]\n',
        "libraries/core/src/core/__init__.py": "",
        "libraries/core/src/core/models.py": BATCH,
        "services/search/pyproject.toml": SERVICE,
        "services/search/python/search/models.py": CHILD,
        "services/search/python/search/more.py": "from .models import Child\n\nclass More(Child):\n    z: str\n",
    }.items():
        qten_gen.write(path, text)
    return qten_gen


def caches(repository: Command) -> set[str]:
    return {str(path.parent.relative_to(repository.folder)) for path in repository.folder.rglob(".qten_cache")}


def test_each_project_is_generated_with_its_own_settings_and_cache(repository: Command) -> None:
    assert repository("services/search").summary == "4 files written"
    assert "x: " in repository.read("services/search/python/search/more_qten.py")
    assert repository("libraries/core").summary == "2 files written"
    assert caches(repository) == {"libraries/core", "services/search"}
    assert repository("--check", "services/search/python/search/more.py").summary == "2 files up to date"


def test_a_project_inside_another_is_named_unless_it_is_excluded(repository: Command) -> None:
    repository.write("pyproject.toml", "[tool.qten-gen]\n")
    result = repository(".")
    said = "it is a project of its own; run qten-gen for it alone, or list it in exclude"
    assert (result.status, result.err.splitlines()) == (
        2,
        [f"error: libraries/core: {said}", f"error: services/search: {said}"],
    )
    repository.write("pyproject.toml", '[tool.qten-gen]\nexclude = ["libraries/core", "services/search"]\n')
    assert (repository(".").summary, caches(repository)) == ("2 files up to date", {"."})


def test_paths_of_several_projects_are_refused(repository: Command) -> None:
    result = repository("libraries/core", "services/search")
    assert (result.status, result.err) == (
        2,
        "error: these paths belong to several projects: libraries/core and services/search; run qten-gen for one at a time\n",
    )
    assert caches(repository) == set()


def test_paths_without_settings_share_the_folder_around_them(qten_gen: Command) -> None:
    for name in ("a", "b"):
        qten_gen.write(f"{name}/pyproject.toml", "[project]\n")
        qten_gen.write(f"{name}/src/models.py", BATCH)
    assert qten_gen("a").summary == "2 files written"
    assert qten_gen("a", "b").summary == "2 files up to date, 2 written"
    assert caches(qten_gen) == {"a", "."}


def test_a_namespace_package_may_lie_in_two_source_roots(qten_gen: Command) -> None:
    qten_gen.write("pyproject.toml", '[tool.qten-gen]\nsource-roots = ["a/src", "b/src"]\n')
    qten_gen.write("a/src/shop/base.py", BATCH)
    for name, module in {"absolute": "shop.base", "relative": ".base"}.items():
        qten_gen.write(
            f"b/src/shop/{name}.py", f"from {module} import Batch\nclass Child(Batch):\n    y: int | None = None\n"
        )
    assert qten_gen("a", "b").summary.startswith("6 files written")
