"""One answer: the output for a file, and what is found in it, do not depend on the paths that a run is given."""

import io
import json
import os
import random
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from qten_gen.cli.command import main
from qten_gen.project import paths, sources
from tests.cli.test_run_laws import folder, outputs, write
from tests.command import BATCH, Command
from tests.generate.random_projects import Project, projects

law = settings(max_examples=10, phases=[Phase.generate])

SETTINGS = ("", '[tool.qten-gen]\nsource-roots = ["."]\n', '[tool.qten-gen]\nsrc = ["shop"]\n', None)


class Tree(NamedTuple):
    """A project: the texts of its files by path, and its `pyproject.toml`, if it has one."""

    files: Project
    settings: str | None


@st.composite
def trees(draw: st.DrawFn) -> Tree:
    """A project in its folder or below `src`."""
    chosen = draw(st.sampled_from(SETTINGS))
    start = draw(st.sampled_from(("", "src/"))) if chosen == "" else ""
    return Tree({f"{start}{path}": text for path, text in draw(projects()).items()}, chosen)


class Finding(NamedTuple):
    """A finding, without its position in the line."""

    path: str
    code: str
    message: str
    line: int


class Run(NamedTuple):
    """What a run found, the outputs that it printed as out of date, and the files that it held back."""

    findings: set[Finding]
    changes: set[str]
    held_back: set[str]


def run(root: Path, *arguments: str) -> Run:
    """Run the command. Paths in its answer are relative to the project."""
    out, err = io.StringIO(), io.StringIO()
    status = main(["--output-format=json", *arguments], out, err)
    assert status in (0, 1), err.getvalue()

    def shown(path: str) -> str:
        return os.path.relpath(path, root)

    found = json.loads(out.getvalue())["diagnostics"]
    lines = [line.split(" (")[0].partition(": ") for line in err.getvalue().splitlines() if ": " in line]
    return Run(
        {Finding(shown(item["path"]), item["code"], item["message"], item["line"]) for item in found},
        {f"{kind}: {shown(path)}" for kind, _, path in lines if kind not in ("held back", "help")},
        {shown(path) for kind, _, path in lines if kind == "held back"},
    )


def together(runs: list[Run]) -> Run:
    """What several runs found."""
    return Run(
        {finding for item in runs for finding in item.findings},
        {change for item in runs for change in item.changes},
        {path for item in runs for path in item.held_back},
    )


def spelled(path: str, root: Path, shuffle: random.Random) -> str:
    """A path in one of the ways to write it."""
    folder = os.path.dirname(path) or "."
    slash = "/" if os.path.isdir(path) else ""
    there = os.path.join(folder, os.path.relpath(".", folder), path)
    return shuffle.choice((path, f"./{path}{slash}", str(root / path), there))


def parts_of(tree: Tree, shuffle: random.Random) -> list[list[str]]:
    """A partition of the files: some as files, those of a folder sometimes as that folder."""
    paths = set(tree.files)
    for name in shuffle.sample(sorted({os.path.dirname(path) for path in paths}), 1):
        paths = {path for path in paths if not path.startswith(f"{name}/")} | {name}
    left = sorted(paths)
    shuffle.shuffle(left)
    count = shuffle.randint(1, len(left))
    return [left[number::count] for number in range(count)]


@law
@given(trees(), st.randoms(use_true_random=False), st.booleans())
def test_any_partition_of_the_paths_gives_the_outputs_and_findings_of_the_whole(
    tree: Tree, shuffle: random.Random, cached: bool
) -> None:
    with folder(*tree) as root:
        whole = run(root, ".")
        expected = outputs(root)
    with folder(*tree) as root:
        if cached:
            run(root, "--check", ".")
        parts = [[spelled(path, root, shuffle) for path in part] for part in parts_of(tree, shuffle)]
        found = [run(root, *part) for part in parts]
        assert outputs(root) == expected
        assert together(found)._replace(changes=set()) == whole
        shuffle.shuffle(parts)
        assert [run(root, "--check", *part).changes for part in parts] == [set()] * len(parts)


@law
@given(trees(), st.randoms(use_true_random=False))
def test_check_finds_in_the_parts_what_it_finds_in_the_whole(tree: Tree, shuffle: random.Random) -> None:
    with folder(*tree) as root:
        run(root, ".")
        path = shuffle.choice(sorted(tree.files))
        write(root, {path: tree.files[path].replace(": Tensor", ": str")})
        whole = run(root, "--check", ".")
        found = [run(root, "--check", *part) for part in parts_of(tree, shuffle)]
        assert together(found) == whole


def test_a_module_that_exists_under_another_name_alone_removes_nothing(qten_gen: Command) -> None:
    """Without `__init__.py` and source roots, `a/models.py` is the module `models`, so `a.models` cannot be followed."""
    qten_gen.write("pyproject.toml", "")
    qten_gen.write("a/__init__.py", "")
    qten_gen.write("a/models.py", BATCH)
    qten_gen.write("b/models.py", "from a.models import Batch\n\nclass Child(Batch):\n    y: str\n")
    assert qten_gen("b").summary == "2 files written"
    before = qten_gen.read("b/models_qten.py")
    (qten_gen.folder / "a/__init__.py").unlink()
    for path in ("b", ".", "b/models.py"):
        result = qten_gen("--output-format=concise", path)
        assert (result.status, "b/models.py:3:13: error QG007" in result.out) == (1, True), result
    assert qten_gen.read("b/models_qten.py") == before


@pytest.mark.parametrize("settings_text", [None, ""])
def test_outputs_stay_when_the_base_cannot_be_read(
    qten_gen: Command, settings_text: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    if settings_text is not None:
        qten_gen.write("pyproject.toml", settings_text)
    qten_gen.write("a/__init__.py", "")
    qten_gen.write("b/__init__.py", "")
    qten_gen.write("a/models.py", BATCH)
    qten_gen.write("b/models.py", "from a.models import Batch\n\nclass Child(Batch):\n    y: str\n")
    assert qten_gen("b").summary == "2 files written"
    original = paths.read_regular

    def refuse(path: str) -> bytes:
        if path.endswith("a/models.py"):
            raise PermissionError(13, "Permission denied")
        return original(path)

    monkeypatch.setattr(sources, "read_regular", refuse)
    for path in ("b", ".", "b/models.py"):
        (qten_gen.folder / "a/models.py").touch()
        assert qten_gen(path).status != 0
    assert qten_gen.exists("b/models_qten.py")


def test_a_handler_that_a_file_outside_the_paths_may_import_is_not_reported(qten_gen: Command) -> None:
    """Only a `pyproject.toml` says that the listed files are all there are."""
    qten_gen.write("src/shop/__init__.py", "")
    qten_gen.write("src/shop/net.py", "from qten_gen import Module\nclass Net(Module): ...\n")
    handler = "from shop.net import Net\n@Net.register(str)\ndef handle(net: Net, text: str) -> int: ...\n"
    qten_gen.write("src/shop/more.py", handler)
    qten_gen.write("train.py", "import shop.more\n")
    assert "QG403" not in qten_gen("src").out
    (qten_gen.folder / "train.py").unlink()
    qten_gen.write("pyproject.toml", "")
    assert "QG403" in qten_gen("src").out
