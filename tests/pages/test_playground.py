"""What the playground of the site is made of, without a browser. `tests/playground` opens it in one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

from docs.site import playground
from qten_gen.generate.plan import plan

EXAMPLES = sorted((playground.SITE / "static" / "playground" / "examples").glob("*.py"))


@pytest.mark.parametrize("example", EXAMPLES, ids=[path.stem for path in EXAMPLES])
def test_an_example_is_generated_without_a_finding(example: Path) -> None:
    made = plan({"model.py": example.read_bytes()}, {})
    assert (sorted(made.outputs), made.diagnostics) == (["model_qten.py", "model_qten.pyi"], ())


def test_the_page_offers_every_example() -> None:
    page = (playground.REPOSITORY / "docs/playground.md").read_text(encoding="utf-8")
    assert [path.stem for path in EXAMPLES if f'value="{path.stem}"' not in page] == []
    assert page.count("<option") == len(EXAMPLES)


def test_the_archive_is_all_that_the_generator_needs(tmp_path: Path) -> None:
    playground.archive(tmp_path / "generator.zip")
    ZipFile(tmp_path / "generator.zip").extractall(tmp_path / "unpacked")
    program = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from entry import generate\n"
        "print(generate(open(sys.argv[2]).read()), end='')\n"
        "print([name for name in sys.modules if name.startswith('torch')])"
    )
    command = [sys.executable, "-I", "-S", "-c", program, str(tmp_path / "unpacked"), str(EXAMPLES[0])]
    done = subprocess.run(command, text=True, capture_output=True)
    assert done.stderr == ""
    assert done.stdout.endswith('"findings": [], "crash": ""}[]\n')


def test_a_machine_without_npm_builds_the_site_without_the_playground(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(RuntimeError, match="^npm is missing$"):
        playground.runtime(tmp_path / "playground")
