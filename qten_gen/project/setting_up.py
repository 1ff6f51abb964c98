"""The additions of `qten-gen init` to the files of a project, as text. It changes no line that is there.

Settings are added as text, because a TOML library would lose comments. Each addition is compared with what the file says then, so
that one which would mean something else is left to the user.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from .cache import FOLDER as CACHE
from .config import toml_document

OUTPUTS = ("*_qten.py", "*_qten.pyi")

_HOOK = """\
- repo: local
  hooks:
    - id: qten-gen
      name: qten-gen
      entry: qten-gen --check
      language: system
      types: [python]
      pass_filenames: false
"""


class Edit(NamedTuple):
    """A file with what was added to it."""

    name: str
    old: str | None
    """None if there is no such file."""
    new: str
    added: tuple[str, ...]
    left: tuple[str, ...] = ()
    """The additions that the user has to make, because the file has something else there."""


def edits(
    read: Callable[[str], str | None], has_folder: Callable[[str], bool], above: Sequence[str] = ()
) -> list[Edit]:
    """The missing parts of a project.

    Args:
        read: The text of a file of the project; None if there is none.
        has_folder: Whether the project has a folder.
        above: The names of the folders from the nearest git repository above the project down to it, if it is in one.
    """
    is_repository = has_folder(".git") or read(".git") is not None
    has_src, has_coveragerc = has_folder("src"), read(".coveragerc") is not None
    found = [_with_its_newlines(lambda old: _settings(old, has_src, has_coveragerc), read("pyproject.toml"))]
    if is_repository or above:
        found.append(_with_its_newlines(_attributes, read(".gitattributes")))
        found.append(_with_its_newlines(_ignored, read(".gitignore")))
    if is_repository:
        found.append(_with_its_newlines(_hooks, read(".pre-commit-config.yaml")))
    elif above:
        name = "../" * len(above) + ".pre-commit-config.yaml"
        found.append(_hook_above(name, read(name) or "", "/".join(above)))
    return [item for item in found if item.added or item.left]


def _with_its_newlines(edit: Callable[[str | None], Edit], old: str | None) -> Edit:
    """The edit of a file. Where all its lines end as on Windows, those that are added do too."""
    if old is None or "\r\n" not in old or "\n" in old.replace("\r\n", ""):
        return edit(old)
    edited = edit(old.replace("\r\n", "\n"))
    return edited._replace(old=old, new=edited.new.replace("\n", "\r\n"))


def _settings(old: str | None, has_src: bool, has_coveragerc: bool) -> Edit:
    """The sections of `pyproject.toml`."""
    text = old or ""
    added: list[str] = []
    left: list[str] = []
    document = toml_document(text)
    if document is None:
        return Edit("pyproject.toml", old, text, (), ("it is not valid TOML",))
    tools = document.get("tool", {})
    tools = tools if isinstance(tools, dict) else {}
    if "qten-gen" not in tools:
        line = 'src = ["src"]\n' if has_src else ""
        text = _appended(text, f"[tool.qten-gen]\n{line}")
        added.append("the section [tool.qten-gen]")
    coverage = tools.get("coverage")
    if not has_coveragerc and coverage is None:  # coverage reads `.coveragerc` in place of this file
        text = _appended(text, '[tool.coverage.run]\nomit = ["*_qten.py"]\n')
        added.append("omit in [tool.coverage.run]")
    for table, key, value in _of_tools(tools):
        with_line = _with_line(text, table, f"{key} = [{', '.join(f'{chr(34)}{item}{chr(34)}' for item in value)}]")
        if with_line is not None and _adds(text, with_line, table, key, list(value)):
            text = with_line
            added.append(f"{key} in [{table}]")
        else:
            left.append(f"{', '.join(value)} to {key} in [{table}]")
    return Edit("pyproject.toml", old, text, tuple(added), tuple(left))


def _of_tools(tools: dict[str, object]) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """The keys that tools of the project need: table, key and value. Those that mention generated files are complete."""
    coverage, ruff = tools.get("coverage"), tools.get("ruff")
    if isinstance(coverage, dict) and "_qten" not in str(coverage):
        yield "tool.coverage.run", "omit", OUTPUTS[:1]
    if isinstance(ruff, dict) and "_qten" not in str(ruff):
        yield "tool.ruff", "extend-exclude", OUTPUTS


def _with_line(text: str, table: str, line: str) -> str | None:
    """The text with a line below the head of a table; None if it has no such head."""
    head = re.search(rf"(?m)^\[{re.escape(table)}\][ \t]*(?:#[^\n]*)?\r?(?:\n|\Z)", text)
    if head is None:
        return None
    above = head.group() if head.group().endswith("\n") else f"{head.group()}\n"
    return f"{text[: head.start()]}{above}{line}\n{text[head.end() :]}"


def _adds(old: str, new: str, table: str, key: str, value: list[str]) -> bool:
    """True if a text says what another says, and one key more."""
    before, after = toml_document(old), toml_document(new)
    if before is None or after is None:
        return False
    place: object = before
    for name in table.split("."):
        place = place.setdefault(name, {}) if isinstance(place, dict) else None
    if not isinstance(place, dict) or key in place:
        return False
    place[key] = value
    return before == after


_ATTRIBUTES = ("linguist-generated", "merge=union")
"""GitHub folds files with the first one in diffs. With the second one, git keeps the lines of both sides instead of a conflict,
and the next run writes the file anew from the merged declarations."""


def _attributes(old: str | None) -> Edit:
    """`.gitattributes`. Attributes that are set already stay, whatever their value."""
    text = old or ""
    lines = [line for pattern in OUTPUTS if (line := _missing_attributes(text, pattern)) != pattern]
    return Edit(".gitattributes", old, _ended(text) + "".join(f"{line}\n" for line in lines), tuple(lines))


def _missing_attributes(text: str, pattern: str) -> str:
    """The line that sets the attributes which no line sets for a pattern; the pattern alone if none is missing."""
    given = " ".join(re.findall(rf"(?m)^{re.escape(pattern)}\s(.*)", text))
    missing = (item for item in _ATTRIBUTES if not re.search(rf"(?<!\w)[-!]?{item.partition('=')[0]}(?![\w-])", given))
    return " ".join([pattern, *missing])


def _ignored(old: str | None) -> Edit:
    """`.gitignore`. The cache ignores itself in git, but hatchling reads the root's file only, and would pack the cache."""
    text = old or ""
    if re.search(rf"(?m)^/?{re.escape(CACHE)}/?[ \t]*$", text):
        return Edit(".gitignore", old, text, ())
    return Edit(".gitignore", old, f"{_ended(text)}{CACHE}/\n", (f"{CACHE}/",))


def _hooks(old: str | None) -> Edit:
    """The configuration of pre-commit. The hook is added at the end if that is inside `repos`."""
    name = ".pre-commit-config.yaml"
    if old is None:
        return Edit(name, None, f"repos:\n{_HOOK}", ("the hook qten-gen",))
    if "qten-gen" in old:
        return Edit(name, old, old, ())
    keys = re.findall(r"(?m)^(\w+):[ \t]*(?:#[^\n]*)?$", old)
    items = re.findall(r"(?m)^([ ]*)- repo:", old)
    others = re.findall(r"(?m)^(\w+):", old)
    if not items or others[-1:] != ["repos"] or "repos" not in keys:
        return Edit(name, old, old, (), ("the hook qten-gen, at the end of repos",))
    hook = "".join(f"{items[-1]}{line}" for line in _HOOK.splitlines(keepends=True))
    return Edit(name, old, _ended(old) + hook, ("the hook qten-gen",))


def _hook_above(name: str, old: str, folder: str) -> Edit:
    """The hook of a repository that the project is a folder of. Its file belongs to others too, so it is left to the user."""
    if f"qten-gen --check {folder}" in old:
        return Edit(name, old, old, ())
    return Edit(name, old, old, (), (f"a hook with entry: qten-gen --check {folder}",))


def _appended(text: str, section: str) -> str:
    """The text with a section behind an empty line."""
    ended = _ended(text)
    return f"{ended}\n{section}" if ended.strip() else section


def _ended(text: str) -> str:
    return text if text.endswith("\n") or not text else f"{text}\n"
