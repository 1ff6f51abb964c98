"""What a release says in several places is the same in all of them."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import qten_gen

REPOSITORY = Path(__file__).parents[1]
PYPROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
RECIPE = (REPOSITORY / "recipe/recipe.yaml").read_text(encoding="utf-8")


def listed(heading: str) -> list[str]:
    """The entries of a list of the recipe."""
    found = re.search(rf"^( *){heading}:\n((?:\1  +- .*\n)+)", RECIPE, re.MULTILINE)
    assert found is not None
    return re.findall(r"- (.*)", found[2])


def given(key: str) -> str:
    """A value in the recipe."""
    found = re.search(rf'^ *{key}: "?(.*?)"?$', RECIPE, re.MULTILINE)
    assert found is not None
    return found[1]


def without_spaces(requirements: list[str]) -> list[str]:
    return sorted(requirement.replace(" ", "") for requirement in requirements)


def test_the_version_is_the_same_everywhere() -> None:
    citation = (REPOSITORY / "CITATION.cff").read_text(encoding="utf-8")
    changelog = (REPOSITORY / "CHANGELOG.md").read_text(encoding="utf-8")
    last = re.search(r"^## \[(.*?)\]", changelog, re.MULTILINE)
    assert last is not None
    said = {given("version"), *re.findall(r"^version: (.*)$", citation, re.MULTILINE), last[1]}
    assert said == {qten_gen.__version__}


def test_the_recipe_of_conda_forge_needs_what_the_package_needs() -> None:
    project = PYPROJECT["project"]
    assert given("python_min") == project["requires-python"].removeprefix(">=")
    python, *needed = listed("run")
    assert python == "python >=${{ python_min }}"
    assert without_spaces(needed) == without_spaces(
        [requirement.replace("torch", "pytorch") for requirement in project["dependencies"]]
    )
    assert without_spaces(listed("host")) == without_spaces(
        ["python ${{ python_min }}.*", "pip", *PYPROJECT["build-system"]["requires"]]
    )


def test_the_recipe_of_conda_forge_has_the_command_and_the_summary_of_the_package() -> None:
    project = PYPROJECT["project"]
    assert listed("entry_points") == [f"{name} = {place}" for name, place in project["scripts"].items()]
    assert (given("summary"), given("license")) == (project["description"], project["license"])
