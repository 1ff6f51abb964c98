"""The life cycles of several processes, with four."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch.distributed

from .test_matrix import by_process


@pytest.mark.skipif(not torch.distributed.is_available(), reason="this build of torch has no torch.distributed")
def test_everything_holds_in_each_of_four_processes(tmp_path: Path) -> None:
    for name, found in by_process(4, tmp_path).items():
        assert found == [{invariant: [] for invariant in found[0]}] * 4, name
