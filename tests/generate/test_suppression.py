"""Comments that suppress diagnostics, for the command and for class statements."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from qten_gen import rules
from qten_gen.generate.plan import plan
from qten_gen.model.diagnostics import DeclarationError
from qten_gen.read.suppressions import suppressions
from qten_gen.rules.rule import bad
from tests.rules.marked import case

HEAD = """\
from torch import Tensor, nn
from qten_gen import Module, TensorClass, field, submodule
"""
SUPPRESSIBLE = [
    rule
    for rule in rules.RULES
    if rule.kind.is_suppressible and rule not in (*rules.RAISED_ELSEWHERE, *rules.PLAIN_RULES)
]


def found(body: str) -> list[str]:
    """The codes and lines of what a run says about a file, below two lines of imports."""
    made = plan({"model.py": (HEAD + body).encode()}, {})
    return [f"{item.code}:{item.span.line}" for item in made.diagnostics]


@pytest.mark.parametrize("rule", SUPPRESSIBLE, ids=lambda rule: rule.kind.name)
@pytest.mark.parametrize("by_name", [False, True], ids=["code", "name"])
def test_a_comment_in_its_line_suppresses_the_bad_example_of_a_rule(rule: rules.Rule, by_name: bool) -> None:
    marked = case(bad(rule.example))
    lines = marked.text.splitlines()
    lines[marked.line - 1] += f"  # qten-gen: ignore[{rule.kind.name if by_name else rule.kind.code}] known"
    text = "\n".join(lines) + "\n"
    sources = {"model.py": text.encode()}
    heads = [number for number, line in enumerate(lines) if line.startswith("# ") and line.endswith(".py")]
    if heads:
        ends = [*heads[1:], len(lines)]
        sources = {
            lines[start][2:]: ("\n" * start + "\n".join(lines[start:end]) + "\n").encode()
            for start, end in zip(heads, ends, strict=True)
        }
    made = plan(sources, {})
    assert made.diagnostics == ()
    assert made.outputs and not made.crashes


@pytest.mark.parametrize("rule", rules.DECLARATION_RULES, ids=lambda rule: rule.kind.name)
def test_no_comment_suppresses_why_a_class_cannot_be_generated(rule: rules.Rule) -> None:
    if rule.kind.is_suppressible:
        return
    marked = case(bad(rule.example))
    lines = marked.text.splitlines()
    lines[marked.line - 1] += f"  # qten-gen: ignore[{rule.kind.code}]"
    made = plan({"model.py": "\n".join(lines).encode()}, {})
    assert {item.code for item in made.diagnostics} == {rule.kind.code, "QG010"}
    assert made.outputs == {}


@pytest.mark.parametrize(
    "body",
    [
        "class A(TensorClass):\n    w: float  # qten-gen: ignore[QG210]\n",
        "class A(TensorClass):\n    w: float  # noqa: X # qten-gen: ignore[QG210] a reason\n",
        "class A(TensorClass):\n    w: float  #qten-gen:ignore[QG999x, QG210]\n",
        "class A(TensorClass):\n    w: float = field(  # qten-gen: ignore[QG210]\n        default=1.0\n    )\n",
        "class A(TensorClass):\n    w: float = field(\n        default=1.0\n    )  # qten-gen: ignore[QG210]\n",
        "class A(TensorClass):\n    w: (\n        float  # qten-gen: ignore[QG210]\n    ) = 1.0\n",
        "class A(TensorClass):\n    v: Tensor; w: float  # qten-gen: ignore[QG210]\n",
    ],
)
def test_a_comment_counts_in_its_line_and_where_its_statement_begins_and_ends(body: str) -> None:
    assert [item for item in found(body) if "QG210" in item] == []
    assert [item for item in found(body) if "QG009" in item] == []


@pytest.mark.parametrize(
    "body",
    [
        "class A(TensorClass):\n    # qten-gen: ignore[QG210]\n    w: float\n",
        "class A(TensorClass):  # qten-gen: ignore[QG210]\n    w: float\n",
        "class A(TensorClass):\n    v: Tensor  # qten-gen: ignore[QG210]\n    w: float\n",
        "class A(TensorClass):\n    w: float = field(\n        default=1.0,  # qten-gen: ignore[QG210]\n    )\n",
    ],
)
def test_a_comment_elsewhere_suppresses_nothing_and_is_reported(body: str) -> None:
    assert sorted(item.split(":")[0] for item in found(body)) == ["QG009", "QG210"]


def test_a_string_that_looks_like_a_comment_is_none() -> None:
    assert found('class A(TensorClass):\n    """# qten-gen: ignore[QG210]"""\n    w: float\n') == ["QG210:5"]


@pytest.mark.parametrize(
    ("comment", "message"),
    [
        ("ignore", "the comment names no code"),
        ("ignore[]", "the comment names no code"),
        ("ingore[QG210]", "unknown comment 'ingore'"),
        ("ignore[QG999]", "unknown diagnostic QG999"),
        ("ignore[implicit-tensor-conversio]", "unknown diagnostic implicit-tensor-conversio"),
        ("ignore[QG206]", "QG206 cannot be suppressed, because the class cannot be generated"),
        ("ignore[QG006]", "QG006 does not belong to a line, so a comment cannot suppress it"),
        ("ignore[QG010]", "QG010 does not belong to a line, so a comment cannot suppress it"),
        ("ignore[QG210]", "QG210 [implicit-tensor-conversion] is not reported here"),
    ],
)
def test_a_comment_that_does_nothing_is_reported_with_its_place(comment: str, message: str) -> None:
    text = f"{HEAD}class A(TensorClass):\n    x: Tensor  # qten-gen: {comment}\n"
    (item,) = plan({"model.py": text.encode()}, {}).diagnostics
    assert (item.message, item.kind.severity, bool(item.help)) == (message, "warning", True)
    assert item.span.line == 4
    marked = item.span.text and item.span.text[item.span.column - 1 : item.span.end_column - 1]
    assert marked is not None and (marked in message or marked == f"# qten-gen: {comment}" or "comment" in message)


def test_each_code_of_a_comment_stands_for_itself() -> None:
    body = "class A(TensorClass):\n    w: float  # qten-gen: ignore[QG210, QG216]\n"
    assert found(body) == ["QG009:4"]


def test_a_file_that_depends_on_a_suppressed_error_is_generated() -> None:
    base = "class A(Module):\n    act: nn.ReLU = submodule(nn.ReLU, inplac=True){}\n"
    child = "from base import A\nclass B(A):\n    more: str\n"
    for comment, outputs in (("  # qten-gen: ignore[QG320]", 4), ("", 0)):
        sources = {"base.py": (HEAD + base.format(comment)).encode(), "child.py": child.encode()}
        assert len(plan(sources, {}).outputs) == outputs


@pytest.mark.parametrize(
    "text", ["", "x = 1\n", "(", "'''", "# qten-gen: ignore[", "\\", "\tx\n y # qten-gen: ignore[A]"]
)
def test_reading_comments_never_raises(text: str) -> None:
    assert all(item.line >= 1 for item in suppressions(text + "# qten-gen: ignore[QG210]"))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder that modules are imported from, and forgotten afterwards."""
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    for path in tmp_path.glob("*.py"):
        sys.modules.pop(path.stem, None)


REFUSED_WHEN_RUN = {"invalid-submodule-argument", "uncacheable-tensor"}
"""The other rules need the text, and say nothing at a class statement."""
ERRORS = [rule for rule in SUPPRESSIBLE if rule.kind.severity == "error"]


@pytest.mark.parametrize("rule", ERRORS, ids=lambda rule: rule.kind.name)
def test_a_class_statement_accepts_what_a_comment_suppresses_and_refuses_it_without(
    rule: rules.Rule, folder: Path
) -> None:
    marked = case(bad(rule.example))
    lines = marked.text.splitlines()
    name = rule.kind.name.replace("-", "_")
    (folder / f"refused_{name}.py").write_text(marked.text)
    lines[marked.line - 1] += f"  # qten-gen: ignore[{rule.kind.code}]"
    (folder / f"accepted_{name}.py").write_text("\n".join(lines) + "\n")
    if rule.kind.name in REFUSED_WHEN_RUN:
        with pytest.raises(DeclarationError, match=rule.kind.code):
            importlib.import_module(f"refused_{name}")
    else:
        importlib.import_module(f"refused_{name}")
    importlib.import_module(f"accepted_{name}")


LOCAL = """\
def make():
    class Net(Module):
        act: nn.ReLU = submodule(nn.ReLU, inplac=True){}
    return Net
"""


def test_a_comment_counts_in_a_class_of_a_function_too(folder: Path) -> None:
    (folder / "local_plain.py").write_text(HEAD + LOCAL.format(""))
    (folder / "local_known.py").write_text(HEAD + LOCAL.format("  # qten-gen: ignore[QG320]"))
    with pytest.raises(DeclarationError, match="QG320"):
        importlib.import_module("local_plain").make()
    assert importlib.import_module("local_known").make()


def test_a_comment_for_the_check_of_plain_classes_is_not_reported() -> None:
    assert found("class Plain:\n    x = 1  # qten-gen: ignore[QG501] made by load()\n") == []
