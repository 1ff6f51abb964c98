"""One answer: the output for a file, and what is found in it, do not depend on the paths that a run is given."""

import io
import json
import os
import random
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from qten_gen.cli.command import main
from qten_gen.project import stale
from qten_gen.project.output_names import is_output
from tests.command import BATCH, Command

law = settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.too_slow], phases=[Phase.generate])

MODULES = ("a", "a.models", "a.deep.net", "b", "b.models", "b.parts", "c.models", "top")
PACKAGES = ("a", "a.deep", "b", "c")
SETTINGS = ("", '[tool.qten-gen]\nsource-roots = ["."]\n', '[tool.qten-gen]\nsrc = ["a"]\n')

HEAD = """\
from __future__ import annotations
from torch import Tensor, nn
from qten_gen import Module, TensorClass, buffer, param, submodule
"""


@dataclass(frozen=True)
class Tree:
    """A project: the texts of its files by path below `folder`, and its `pyproject.toml`."""

    folder: str
    settings: str | None
    files: dict[str, str]


def path_of(module: str) -> str:
    name = module.replace(".", "/")
    return f"{name}/__init__.py" if module in PACKAGES else f"{name}.py"


@st.composite
def trees(draw: st.DrawFn) -> Tree:
    """A project whose modules use each other: bases, fields, aliases, reexports, stars, handlers, cycles, and mistakes."""
    modules = draw(st.lists(st.sampled_from(MODULES), unique=True, min_size=2, max_size=5))
    files = {path_of(package): "" for package in PACKAGES}
    for index, module in enumerate(modules):
        files[path_of(module)] = _text(draw, index, module, modules)
    settings_text = draw(st.sampled_from((*SETTINGS, None)))
    return Tree(draw(st.sampled_from((".", "src"))) if settings_text == "" else ".", settings_text, files)


def _text(draw: st.DrawFn, index: int, module: str, modules: Sequence[str]) -> str:
    """The text of one module. Its classes are called by its number: `Batch3`, `Net3`, `Alias3`."""
    others = [number for number in range(len(modules)) if number != index]
    lines, fields, base = [HEAD], ["x: Tensor"], "TensorClass"
    other = draw(st.sampled_from(others))
    source = modules[other]
    use = draw(
        st.sampled_from(("base", "field", "alias", "star", "reexport", "handler", "nothing", "mistake", "module"))
    )
    if use in ("base", "field", "alias"):
        name = f"Alias{other}" if use == "alias" else f"Batch{other}"
        if draw(st.booleans()):
            lines.append(f"from {source} import {name}")
        else:
            lines.append(f"import {source}")
            name = f"{source}.{name}"
        if use == "base":
            base = name
        else:
            fields.append(f"other{index}: {name} | None = None")
    elif use in ("star", "reexport"):
        name = f"Batch{other}"
        lines.append(f"from {source} import {'*' if use == 'star' else f'{name}, Alias{other}'}")
        if other < index:
            base = name
    elif use == "handler":
        lines += [
            f"from {source} import Batch{other}, Net{other}",
            f"@Net{other}.register(Batch{other})",
            f"def _(net: Net{other}, batch: Batch{other}) -> Batch{other}:\n    return batch",
        ]
    elif use == "module":
        lines.append(f"from {source} import Net{other}")
        lines.append(f"class Outer{index}(Module):\n    net: Net{other} = submodule(n=3)\n")
    elif use == "mistake":
        base = "TensorClass, frozn=True" if draw(st.booleans()) else "TensorClass"
        fields.append("mask: Tenser = 3")
    body = "".join(f"    {field}\n" for field in fields)
    lines += [
        f"Alias{index} = {draw(st.sampled_from(('Tensor', 'str')))}",
        f"class Batch{index}({base}):\n{body}",
        f"class Net{index}(Module):\n    n: int\n    w: nn.Parameter = param('n', initializer=nn.init.zeros_)\n",
    ]
    return "\n".join(lines)


@contextmanager
def written(tree: Tree) -> Iterator[Path]:
    """The project on the disk; its root is the working directory meanwhile."""
    here = os.getcwd()
    with tempfile.TemporaryDirectory() as name:
        root = Path(name).resolve()
        if tree.settings is not None:
            (root / "pyproject.toml").write_text(tree.settings, encoding="utf-8")
        for path, text in tree.files.items():
            target = root / tree.folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
        os.chdir(root)
        try:
            yield root
        finally:
            os.chdir(here)


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


def outputs(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if is_output(path.name)}


def spelled(path: str, root: Path, shuffle: random.Random) -> str:
    """A path in one of the ways to write it."""
    folder = os.path.dirname(path) or "."
    slash = "/" if os.path.isdir(path) else ""
    there = os.path.join(folder, os.path.relpath(".", folder), path)
    return shuffle.choice((path, f"./{path}{slash}", str(root / path), there))


def parts_of(tree: Tree, shuffle: random.Random) -> list[list[str]]:
    """A partition of the files: some as files, those of a folder sometimes as that folder."""
    start = "" if tree.folder == "." else f"{tree.folder}/"
    paths = {start + path for path in tree.files}
    for folder in shuffle.sample(("a/deep", "b", "c"), 2):
        paths = {path for path in paths if not path.startswith(f"{start}{folder}/")} | {start + folder}
    left = sorted(paths)
    shuffle.shuffle(left)
    count = shuffle.randint(1, len(left))
    return [left[number::count] for number in range(count)]


@law
@given(trees(), st.randoms(use_true_random=False), st.booleans())
def test_any_partition_of_the_paths_gives_the_outputs_and_findings_of_the_whole(
    tree: Tree, shuffle: random.Random, cached: bool
) -> None:
    with written(tree) as root:
        whole = run(root, ".")
        expected = outputs(root)
    with written(tree) as root:
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
    with written(tree) as root:
        run(root, ".")
        path = root / tree.folder / shuffle.choice(sorted(path for path, text in tree.files.items() if text))
        path.write_text(path.read_text(encoding="utf-8").replace("    x: Tensor", "    x: str"), encoding="utf-8")
        whole = run(root, "--check", ".")
        found = [run(root, "--check", *part) for part in parts_of(tree, shuffle)]
        assert together(found) == whole


@pytest.mark.parametrize("settings_text", [None, ""])
def test_a_module_that_exists_under_another_name_alone_removes_nothing(
    qten_gen: Command, settings_text: str | None
) -> None:
    """Without `__init__.py` and source roots, `a/models.py` is the module `models`, so `a.models` cannot be followed."""
    if settings_text is not None:
        qten_gen.write("pyproject.toml", settings_text)
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
    for folder in ("a", "b"):
        qten_gen.write(f"{folder}/__init__.py", "")
    qten_gen.write("a/models.py", BATCH)
    qten_gen.write("b/models.py", "from a.models import Batch\n\nclass Child(Batch):\n    y: str\n")
    assert qten_gen("b").summary == "2 files written"
    original = stale.read_source

    def refuse(path: str) -> bytes:
        if path.endswith("a/models.py"):
            raise PermissionError(13, "Permission denied")
        return original(path)

    monkeypatch.setattr(stale, "read_source", refuse)
    for path in ("b", ".", "b/models.py"):
        (qten_gen.folder / "a/models.py").touch()
        assert qten_gen(path).status != 0
    assert qten_gen.exists("b/models_qten.py")
