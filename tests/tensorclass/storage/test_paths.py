"""Which folder a path means, and which paths mean none."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from .declared import Outer, assert_equal, outer


@pytest.mark.parametrize(("path", "error"), [("", ValueError), (b"map", TypeError)])
def test_a_path_that_is_empty_or_bytes_is_refused(path: Any, error: type[Exception], tmp_path: Path) -> None:
    value = outer(4)
    calls: list[Callable[[], object]] = [
        lambda: value.memmap(path),
        lambda: value.memmap_(path),
        lambda: value.memmap_like(path),
        lambda: Outer.load_memmap(path),
        lambda: value.save_safetensors(path),
        lambda: Outer.load_safetensors(path),
    ]
    for call in calls:
        with pytest.raises(error, match="expected a path"):
            call()


def test_a_relative_path_means_the_folder_that_is_current_at_the_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / "first")
    submit = ThreadPoolExecutor.submit

    def later(pool: ThreadPoolExecutor, work: Callable[[], Outer]) -> Future[Outer]:
        os.chdir(tmp_path / "second")
        return submit(pool, work)

    monkeypatch.setattr(ThreadPoolExecutor, "submit", later)
    saved = outer(4).memmap("map", return_early=True).result()
    assert saved.saved_path == str(tmp_path / "first" / "map")
    assert_equal(saved.memmap_refresh_(), outer(4))
