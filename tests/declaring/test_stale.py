"""Edited declarations never run code that was generated for what they said before."""

import subprocess
import warnings
from typing import Any

import pytest
import torch

from qten_gen import NotGeneratedError, StaleWarning

BEFORE = """
    from torch import Tensor, nn
    from qten_gen import Module, TensorClass, param

    class Batch(TensorClass):
        tokens: Tensor
        source: str = "train"

    class Scale(Module):
        dim: int
        weight: nn.Parameter = param("dim", initializer=nn.init.ones_)

        def forward(self, x: Tensor) -> Tensor:
            return x * self.weight
"""


def edited(old: str, new: str) -> str:
    """The sample with one edit."""
    assert old in BEFORE
    return BEFORE.replace(old, new)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("source: str", "mask: Tensor | None = None\n        source: str"),
        ("tokens: Tensor", "token_ids: Tensor"),
        ("tokens: Tensor", "tokens: Tensor | None"),
        ('"train"', '"test"'),
        ("class Batch(TensorClass)", "class Batch(TensorClass, frozen=True)"),
        ('param("dim"', 'param("2*dim"'),
        ("nn.init.ones_", "nn.init.zeros_"),
        ("dim: int", "dim: int = 3"),
    ],
)
def test_an_edit_is_seen_and_said_once(project: Any, old: str, new: str) -> None:
    project.write(model=BEFORE)
    project.generate()
    project.write(model=edited(old, new))
    with pytest.warns(StaleWarning) as caught:
        project.load("model")
    assert len(caught) == 1
    assert "Run: qten-gen model.py" in str(caught[0].message)


@pytest.mark.parametrize(
    "old, new", [("return x * self.weight", "return self.weight * x"), ("dim: int", "dim: int  # width")]
)
def test_an_edit_that_changes_no_declaration_is_not_stale(project: Any, old: str, new: str) -> None:
    project.write(model=BEFORE)
    project.generate()
    project.write(model=edited(old, new))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert project.load("model").Batch.__init__.__code__.co_filename.endswith("model_qten.py")


def test_what_runs_is_what_the_source_says_now(project: Any) -> None:
    project.write(model=BEFORE)
    project.generate()
    project.write(model=edited('"train"', '"test"'))
    with pytest.warns(StaleWarning, match="Batch changed after model_qten was generated"):
        model = project.load("model")
    assert model.Batch(torch.ones(2)).source == "test"
    assert project.load("model_qten").Batch is model.Batch


def test_a_class_added_later_is_stale_too(project: Any) -> None:
    project.write(model=BEFORE)
    project.generate()
    project.write(model=BEFORE + "\n    class More(TensorClass):\n        x: Tensor\n")
    with pytest.warns(StaleWarning, match="More was declared after model_qten was generated"):
        project.load("model")


@pytest.mark.parametrize(
    ("old", "new"),
    [("def __init__(", "def other("), ("self._source = source", 'self._source = "edited"')],
)
def test_an_edited_generated_file_does_not_run(project: Any, old: str, new: str) -> None:
    project.write(model=BEFORE)
    project.generate()
    path = project.root / "model_qten.py"
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new, 1))
    with pytest.warns(
        StaleWarning, match="^model_qten was edited by hand, or merged, after it was generated; it is built"
    ):
        model = project.load("model")
    assert model.Batch(torch.ones(2)).source == "train"


def test_a_merge_that_mixes_the_code_of_two_declarations_does_not_run(
    project: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = project.root / "model_qten.py"
    saved = [project.root / f"{name}.txt" for name in ("ours", "base", "theirs")]
    fields = ("\n        ours: Tensor | None = None", "", "\n        theirs: Tensor | None = None")
    for field, copy in zip(fields, saved, strict=True):
        project.write(model=edited("tokens: Tensor", f"tokens: Tensor{field}"))
        project.generate()
        copy.write_bytes(path.read_bytes())
    # The file of declarations is the one of theirs, as after `git checkout --theirs`.
    merged = subprocess.run(["git", "merge-file", "--union", "-p", *saved], capture_output=True, check=True)
    path.write_bytes(merged.stdout)
    monkeypatch.setenv("QTEN_GEN_JIT", "off")
    with pytest.raises(NotGeneratedError, match="model_qten was edited by hand, or merged"):
        project.load("model")


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_line_ends_are_no_edit(project: Any, ends: str) -> None:
    project.write(model=BEFORE)
    project.generate()
    path = project.root / "model_qten.py"
    path.write_bytes(path.read_bytes().replace(b"\n", ends.encode()))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert project.load("model").Batch(torch.ones(2)).source == "train"


def test_a_change_in_a_parent_makes_its_children_stale(project: Any) -> None:
    child = "from model import Batch\n\nclass Child(Batch):\n    pass\n"
    project.write(model=BEFORE, child=child)
    project.generate()
    project.write(model=edited('"train"', '"test"'))
    with pytest.warns(StaleWarning):
        loaded = project.load("child")
    assert loaded.Child(torch.ones(2)).source == "test"


def test_a_broken_generated_file_does_not_stop_the_program(project: Any) -> None:
    project.write(model=BEFORE)
    project.generate()
    path = project.root / "model_qten.py"
    path.write_text(path.read_text() + "\n<<<<<<< ours\n")
    with pytest.warns(StaleWarning, match="model_qten cannot be imported"):
        assert project.load("model").Batch(torch.ones(2)).source == "train"


def test_jit_off_makes_missing_code_an_error_that_names_the_command(
    project: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("QTEN_GEN_JIT", "off")
    project.write(model=BEFORE)
    with pytest.raises(
        ImportError, match=r"nothing was generated for Batch, and QTEN_GEN_JIT=off\. Run: qten-gen model.py"
    ):
        project.load("model")


def test_jit_off_makes_stale_code_an_error_that_names_the_command(
    project: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.write(model=BEFORE)
    project.generate()
    project.write(model=edited('"train"', '"test"'))
    monkeypatch.setenv("QTEN_GEN_JIT", "off")
    with pytest.raises(ImportError, match=r"Batch changed after model_qten was generated.*Run: qten-gen model.py"):
        project.load("model")


def test_jit_off_accepts_fresh_code(project: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QTEN_GEN_JIT", "off")
    project.write(model=BEFORE)
    project.generate()
    assert project.load("model").Batch(torch.ones(2)).source == "train"


def test_an_unknown_jit_setting_is_refused(project: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QTEN_GEN_JIT", "of")
    project.write(model=BEFORE)
    with pytest.raises(ValueError, match="QTEN_GEN_JIT='of' is not known; it can be 'on' or 'off'"):
        project.load("model")
