"""`qten-gen adopt --verify` takes the old code from git or from a folder.

Each comparison starts two processes that import torch, so what needs none of that is tested in `test_comparing.py`.
"""

from __future__ import annotations

import io
import subprocess
from pathlib import Path

import pytest

from qten_gen.cli.adopt import verify
from qten_gen.tools.verify.verifying import VerifyRequest, old_folder
from qten_gen.tools.verify.worker import Task, run_task

OLD = """
import torch
from torch import nn

class Config:
    def __init__(self, dim: int = 4):
        self.dim = dim

class Net(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.inner = nn.Linear(config.dim, config.dim)

    def forward(self, tokens, x):
        return self.inner(x) + tokens[..., None]
"""

NEW = """
import torch
from torch import nn
from qten_gen import Module, submodule

class Config:
    def __init__(self, dim: int = 4):
        self.dim = dim

class Net(Module):
    config: Config
    inner: nn.Linear = submodule(nn.Linear, "config.dim", "config.dim")

    def forward(self, tokens, x):
        return self.inner(x) + tokens[..., None]
"""


def run(request: VerifyRequest) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    return verify(request, out, err), out.getvalue(), err.getvalue()


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package in a folder of a repository, whose first revision has the old code and whose files have the new one."""
    folder = tmp_path / "repository" / "python"
    (folder / "shop").mkdir(parents=True)
    (folder / "shop" / "__init__.py").touch()
    (folder / "shop" / "model.py").write_text(OLD)
    for arguments in (
        ["init", "-q"],
        ["add", "."],
        ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "1"],
    ):
        subprocess.run(["git", *arguments], cwd=folder, check=True)
    (folder / "shop" / "model.py").write_text(NEW)
    monkeypatch.chdir(folder)
    return folder


def test_the_last_commit_is_compared_with_the_files(shop: Path) -> None:
    status, out, err = run(
        VerifyRequest("shop.model:Net", ("config=Config(dim=6)",), inputs=("tokens: Int[2], x: Float[2, 6]",))
    )
    assert (status, out.rpartition(" in ")[0], err) == (
        0,
        "shop.model:Net: equal (2 tensors, outputs and gradients)",
        "",
    )


def test_the_current_folder_has_its_counterpart_in_the_old_code(shop: Path) -> None:
    with old_folder(VerifyRequest("shop.model:Net", old=str(shop))) as folder:
        assert folder == shop
    with old_folder(VerifyRequest("shop.model:Net")) as folder:
        assert (folder / "shop" / "model.py").read_text() == OLD
    assert not folder.exists()


@pytest.mark.parametrize(
    ("request_", "said"),
    [
        (VerifyRequest("shop.model:Net", against="nowhere"), "--against nowhere: git says: "),
        (VerifyRequest("shop.model:Net", old="nowhere"), "--old nowhere: there is no such folder"),
    ],
)
def test_old_code_that_does_not_exist_is_misuse(shop: Path, request_: VerifyRequest, said: str) -> None:
    status, out, err = run(request_)
    assert (status, out) == (2, "")
    assert err.startswith(f"error: {said}")


def test_what_is_wrong_with_the_new_code_is_said(tmp_path: Path) -> None:
    task = Task("no_such_module:Net", (), None, 0, (), str(tmp_path / "inputs"), True)
    found = run_task(task)
    assert found.record is None
    assert found.problems[0].startswith("there is no module no_such_module")
