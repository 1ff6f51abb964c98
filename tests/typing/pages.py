"""The Python blocks of the README and of docs/ as one project with a package for each page, so that one run checks them all.

A block with a path is a file, any other a program. The `pycon` blocks of a page are one program, without the examples that raise.
"""

from __future__ import annotations

import doctest
import re
from collections.abc import Iterator
from pathlib import Path

from tests.pages.carried_out import PAGES, Block, blocks

_BEFORE = {"docs/adopting.md": {"legacy/layers.py"}}
"""Files that are shown as they are before `qten-gen adopt` changes them, with the mistakes of such code."""

# A comment at the end: lines stay where they are, and the options of the run are those of others, whose cache it uses.
# Sessions redefine names, and torch gives some functions and the result of every layer no types.
OPTIONS = "# mypy: allow-redefinition, local-partial-types, allow-untyped-calls, no-warn-return-any\n"


def package(page: str) -> str:
    """The package that the blocks of a page are in."""
    return "page_" + re.sub(r"\W", "_", Path(page).stem).lower()


def write_pages(root: Path) -> None:
    """Write the project, without generated files."""
    (root / "pyproject.toml").write_text('[tool.qten-gen]\nsrc = ["."]\nsource-roots = ["."]\n', encoding="utf-8")
    for page in PAGES:
        files = dict(_files(page))
        modules = {Path(path).parts[0].removesuffix(".py") for path in files}
        for path, text in files.items():
            target = root / package(page) / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(_within(package(page), modules, text) + OPTIONS, encoding="utf-8")


def _files(page: str) -> Iterator[tuple[str, str]]:
    """The files of a page, by their paths. A file that is shown again is shown shortened: the first text is whole."""
    found = list(blocks(page))
    before = _BEFORE.get(page, set())
    written = [
        block for block in found if block.language == "python" and block.path not in before and not _is_generated(block)
    ]
    yield from reversed([(block.path or f"program_{block.line}.py", block.text) for block in written])
    session = [example for block in found if block.language == "pycon" for example in _examples(block)]
    if session:
        yield "session.py", "".join(session)


def _is_generated(block: Block) -> bool:
    return block.path is not None and (block.path.endswith(".pyi") or block.path.endswith("_qten.py"))


def _examples(block: Block) -> Iterator[str]:
    """What a session types, but for what it types in order to show an error."""
    for example in doctest.DocTestParser().get_examples(block.text):
        if example.exc_msg is None:
            yield example.source


def _within(home: str, modules: set[str], text: str) -> str:
    """The text with imports of the page's own modules from their package."""
    own = "|".join(sorted(modules))
    return re.sub(rf"^(\s*)from ((?:{own})(?:_qten)?)(?=[. ])", rf"\1from {home}.\2", text, flags=re.MULTILINE)
