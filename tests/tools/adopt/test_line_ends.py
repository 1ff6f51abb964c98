"""Line ends of all kinds stay, and what `str.splitlines` takes for one does not move anything."""

from __future__ import annotations

import pytest

from qten_gen.tools.adopt.adoption import Level

from .adopted import adopted

_TEXT = '''\
import torch
from torch import nn


class Mixer(nn.Module):
    def __init__(self, dim: int) -> None:
        """Mix.

        Twice.
        """
        super().__init__()
        self.up = nn.Linear(dim, dim)  # up
        # shifts
        self.register_buffer("shift", torch.ones(3))

    def forward(self, x):
        return self.up(x)


class Gate(nn.Module):
    """A gate."""

    down: nn.Linear

    def __init__(self, dim: int) -> None:
        """Close it."""
        super().__init__()
        self.down = nn.Linear(dim, dim)
        print("made")'''


@pytest.mark.parametrize("end", ["\r\n", "\r"], ids=["CRLF", "CR"])
@pytest.mark.parametrize("level", Level)
def test_a_file_is_edited_alike_whatever_ends_its_lines(level: Level, end: str) -> None:
    plain = adopted(_TEXT, level)
    assert plain != _TEXT
    assert adopted(_TEXT.replace("\n", end), level) == plain.replace("\n", end)


def test_in_a_file_with_several_line_ends_each_line_keeps_its_own_and_new_ones_get_the_first() -> None:
    head, rest = "import torch\r\n", "    x = 1\r    y = torch\n\nz = nn"
    before = f"{head}from torch import nn\n\r\n\nclass A(nn.Module):\r\n{rest}"
    after = f"{head}from qten_gen import Module\r\nfrom torch import nn\n\r\n\nclass A(Module):\r\n{rest}"
    assert adopted(before) == after


@pytest.mark.parametrize("character", ["\f", "\v", "\x1c", "\x85", "\u2028"])
def test_a_character_that_ends_no_line_for_python_moves_no_comment(character: str) -> None:
    head = f"# one{character}two\n"
    assert adopted(head + _TEXT, Level.ANNOTATE) == head + adopted(_TEXT, Level.ANNOTATE)
