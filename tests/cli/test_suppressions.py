"""Comments and settings that suppress findings, from one run to the next."""

import json
import os
import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.command import Command, Result

HEAD = "from torch import Tensor\nfrom qten_gen import TensorClass\n\n"
NUMBER = f"{HEAD}class Batch(TensorClass):\n    w: float{{}}\n"
IGNORE = "  # qten-gen: ignore[QG210] known"


def test_a_comment_that_comes_and_goes_is_seen_by_the_next_run(qten_gen: Command) -> None:
    for comment, warnings in (
        ("", 1),
        (IGNORE, 0),
        (IGNORE.replace("210", "215"), 2),
        ("", 1),
        (IGNORE, 0),
        ("  # x", 1),
    ):
        qten_gen.write("src/model.py", NUMBER.format(comment))
        for _ in range(2):
            assert qten_gen("src").out.count("warning QG") == warnings


def test_a_comment_in_a_base_decides_whether_its_children_are_generated(qten_gen: Command) -> None:
    base = HEAD + "class Base(TensorClass):\n    x: Tensor\n    def __postinit__(self) -> None: ...{}\n"
    qten_gen.write("src/child.py", "from base import Base\n\nclass Child(Base):\n    more: str\n")
    qten_gen.write("src/base.py", base.format("  # qten-gen: ignore[QG112]"))
    assert qten_gen("src").summary == "4 files written"
    qten_gen.write("src/base.py", base.format(""))
    assert qten_gen("src").summary == "1 error in 1 file, 1 file held back; nothing written"
    qten_gen.write("src/base.py", base.format("  # qten-gen: ignore[QG112]"))
    assert qten_gen("src").summary == "4 files up to date"


BODIES = st.lists(
    st.sampled_from(
        [
            "    x: Tensor\n",
            "    w: float\n",
            f"    w: float{IGNORE}\n",
            "    w: float = (\n        1.0\n    )  # qten-gen: ignore[QG210]\n",
            "    w: float = (  # qten-gen: ignore[QG210]\n        1.0\n    )\n",
            "    w: float = (\n        1.0  # qten-gen: ignore[QG210]\n    )\n",
            "    y: Tensor  # qten-gen: ignore[QG210]\n",
            "    def __postinit__(self) -> None: ...\n",
            "    def __postinit__(self) -> None: ...  # qten-gen: ignore[QG112]\n",
            "    # a comment\n",
        ]
    ),
    max_size=3,
)
TOPS = st.sampled_from(["", "\n", "# above\n", "import os\n", "# qten-gen: ignore[QG210]\n"])


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(st.lists(st.tuples(TOPS, BODIES, TOPS), min_size=2, max_size=5))
def test_each_run_says_what_a_run_without_a_cache_says(
    qten_gen: Command, edits: list[tuple[str, list[str], str]]
) -> None:
    """The children are in another file, which depends on the comments of the first."""
    shutil.rmtree("src", ignore_errors=True)
    shutil.rmtree("cold", ignore_errors=True)
    for top, body, between in edits:
        base = f"{HEAD}{top}class Base(TensorClass):\n    a: Tensor\n"
        texts = {
            "base.py": base + "".join(body) + between,
            "child.py": "from base import Base\nclass Child(Base): ...\n",
        }
        for name, text in texts.items():
            qten_gen.write(f"src/{name}", text)
            qten_gen.write(f"cold/{name}", text)
        shutil.rmtree("cold/.qten_cache", ignore_errors=True)
        warm, cold = qten_gen("--output-format", "json", "src"), qten_gen("--output-format", "json", "cold")
        assert warm.out.replace("src/", "cold/") == cold.out
        assert warm.status == cold.status
        assert written("src") == written("cold")


def written(folder: str) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in Path(folder).glob("*_qten.py*")}


def with_settings(qten_gen: Command, text: str) -> Result:
    qten_gen.write("pyproject.toml", f"[tool.qten-gen]\n{text}")
    return qten_gen("--output-format", "json", "src")


def reported(result: Result) -> list[tuple[str, str, str]]:
    found = json.loads(result.out)["diagnostics"]
    return [(item["path"].removeprefix("src" + os.sep), item["code"], item["severity"]) for item in found]


def test_settings_change_what_is_reported_and_not_what_is_generated(qten_gen: Command) -> None:
    qten_gen.write("src/new.py", NUMBER.format(""))
    qten_gen.write("src/legacy/old.py", NUMBER.format(""))
    both = [("legacy/old.py", "QG210", "warning"), ("new.py", "QG210", "warning")]
    for text, status, expected in [
        ("", 0, both),
        ('severity = { QG210 = "off" }\n', 0, []),
        ('severity = { QG210 = "error" }\n', 1, [(path, code, "error") for path, code, _ in both]),
        ('severity = { QG210 = "warning" }\n', 0, both),
        ('per-file-ignores = { "src/legacy/*" = ["QG210"] }\n', 0, both[1:]),
        ('per-file-ignores = { legacy = "QG210" }\n', 0, both[1:]),
        ('per-file-ignores = { "old.py" = ["QG210"] }\n', 0, both[1:]),
        ('per-file-ignores = { "*.py" = ["QG215"] }\n', 0, both),
        ('severity = { QG210 = "error" }\nper-file-ignores = { "*.py" = ["QG210"] }\n', 0, []),
    ]:
        for _ in range(2):
            result = with_settings(qten_gen, text)
            assert (result.status, reported(result)) == (status, expected), text
        assert qten_gen.exists("src/new_qten.py") and qten_gen.exists("src/legacy/old_qten.py")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "[tool.qten-gen.severity]\nQG999 = 'off'\n",
            "pyproject.toml:2: error QG004 [unknown-setting]: severity names 'QG999'",
        ),
        (
            "[tool.qten-gen.severity]\nQG206 = 'off'\n",
            "which is an error: nothing can be generated where it is reported",
        ),
        ("[tool.qten-gen.severity]\nQG210 = 'on'\n", "severity of QG210 must be one of error, warning, off, got 'on'"),
        (
            "[tool.qten-gen]\nseverity = 'off'\n",
            "pyproject.toml:2: error QG004 [unknown-setting]: severity must be a table",
        ),
        (
            "[tool.qten-gen.per-file-ignores]\n'*' = [\n'QG21',\n]\n",
            "pyproject.toml:3: error QG004 [unknown-setting]: per-file-ignores names 'QG21', which is not a diagnostic; "
            "did you mean QG21",
        ),
        ("[tool.qten-gen.per-file-ignores]\n'*' = 3\n", "* must be a list of strings, got an integer"),
    ],
)
def test_settings_that_mean_nothing_are_refused(qten_gen: Command, text: str, message: str) -> None:
    qten_gen.write("pyproject.toml", text)
    result = qten_gen(".")
    assert result.status == 2
    assert message in result.err
