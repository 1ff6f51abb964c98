"""The pages about large models and several processes are true: every block in them is carried out."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pages.carried_out import LONG_PAGES, carry_out


@pytest.mark.long(5)
@pytest.mark.parametrize("page", LONG_PAGES)
def test_what_a_page_shows_is_what_happens(page: str, tmp_path: Path) -> None:
    carry_out(page, tmp_path)
