"""The README and the pages of docs/ are true: every block in them is carried out. `carried_out.py` says what that means.

Some pages take long, such as those about large models and several processes: `test_long_pages.py` carries them out.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import qten_gen
from qten_gen.model import FLAGS
from qten_gen.project.config import KEYS
from tests.pages.carried_out import LONG_PAGES, PAGES, REPOSITORY, carry_out, run


def grouped(page: str) -> object:
    """The page as a parameter. Pages that run mypy go to the worker that fills its cache, others with commands go alone."""
    text = (REPOSITORY / page).read_text(encoding="utf-8")
    runs_mypy = pytest.mark.xdist_group("mypy") if "\n$ mypy " in text else ()
    return pytest.param(page, marks=runs_mypy or (pytest.mark.long(3) if "\n$ " in text else ()))


@pytest.mark.parametrize("page", [grouped(page) for page in PAGES if page not in LONG_PAGES])
def test_what_a_page_shows_is_what_happens(page: str, tmp_path: Path) -> None:
    carry_out(page, tmp_path)


def code_words(page: str) -> set[str]:
    """The names and options that a page shows as code."""
    code = re.findall(r"```.*?```|`[^`\n]+`", (REPOSITORY / page).read_text(encoding="utf-8"), re.DOTALL)
    return set(re.findall(r"[\w-]+", " ".join(code)))


def test_every_public_name_and_every_flag_has_its_place_in_the_guide() -> None:
    assert {*qten_gen.__all__, *FLAGS} - code_words("docs/declarations.md") == set()


def test_every_option_and_every_setting_has_its_place_on_the_page_of_the_command() -> None:
    options = set(re.findall(r"--[a-z-]+", run("qten-gen --help", REPOSITORY)))
    assert {*options, *KEYS} - code_words("docs/command.md") == set()
