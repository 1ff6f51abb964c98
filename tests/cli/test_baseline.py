"""`--baseline` and `--write-baseline`: the warnings that a repository begins with are not reported again."""

from __future__ import annotations

import pytest

from tests.command import Command

TWO = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.mask = torch.ones(3)
        self.layers = [nn.Linear(3, 3)]

    def forward(self, x):
        return self.layers[0](x) * self.mask
"""


def test_a_baseline_has_a_line_for_each_warning_without_its_line_number(qten_gen: Command) -> None:
    qten_gen.write("src/net.py", TWO)
    assert qten_gen("check", "--write-baseline", "known.txt", "src").status == 0
    assert qten_gen.read("known.txt").splitlines() == [
        "src/net.py QG323 the modules in self.layers are not registered: it is an ordinary container",
        "src/net.py QG323 the tensor self.mask is not registered, so .to() does not move it",
    ]


def test_warnings_in_the_baseline_are_not_reported_wherever_they_move(qten_gen: Command) -> None:
    qten_gen.write("src/net.py", TWO)
    qten_gen("check", "--write-baseline", "known.txt", "src")
    qten_gen.write("src/net.py", f'"""A net."""\n{TWO}')
    done = qten_gen("check", "--baseline", "known.txt", "src")
    assert (done.status, done.summary) == (0, "0 findings in 1 module of 1 file")


def test_a_second_warning_with_the_same_words_is_reported(qten_gen: Command) -> None:
    qten_gen.write("src/net.py", TWO)
    qten_gen("check", "--write-baseline", "known.txt", "src")
    qten_gen.write("src/net.py", TWO + TWO.replace("class Net", "class Other"))
    done = qten_gen("check", "--baseline", "known.txt", "src")
    assert (done.status, done.summary) == (1, "2 findings in 2 modules of 1 file")


def test_a_baseline_means_the_same_from_every_folder(qten_gen: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    qten_gen.write("src/net.py", TWO)
    qten_gen("check", "--write-baseline", "known.txt", "src")
    monkeypatch.chdir(qten_gen.folder / "src")
    assert qten_gen("check", "--baseline", "../known.txt", ".").status == 0


def test_a_baseline_that_is_not_there_is_a_mistake(qten_gen: Command) -> None:
    qten_gen.write("src/net.py", TWO)
    done = qten_gen("check", "--baseline", "known.txt", "src")
    said = "error: cannot use the baseline known.txt: No such file or directory; --write-baseline writes it\n"
    assert (done.status, done.err) == (2, said)
