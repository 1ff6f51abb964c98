"""The command `qten-gen init`, which sets a project up.

It appends to files and changes no line that is there. The lines that belong inside other sections are printed, to be pasted.
To type checkers, the call of a layer of torch is Any, so it ends with the stubs that say more.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import TextIO

from ..project.apply import Change, write
from ..project.cache import FOLDER as CACHE
from ..project.config import config_of, section_in, toml_document
from ..project.files import discover
from ..project.paths import display_path, read_regular
from . import DONE
from .options import Options, UsageError
from .stubs import FOLDER as TYPINGS
from .stubs import text_of, write_stubs

_MYPY = f'[tool.mypy]\nmypy_path = "{TYPINGS}"\n'
_SECTIONS = (
    ("pyproject.toml", '[tool.ruff]\nextend-exclude = ["*_qten.py", "*_qten.pyi"]\n', "_qten."),
    ("pyproject.toml", '[tool.coverage.run]\nomit = ["*_qten.py"]\n', "_qten."),
    ("pyproject.toml", _MYPY, TYPINGS),
    *((name, f"[mypy]\nmypy_path = {TYPINGS}\n", TYPINGS) for name in ("mypy.ini", ".mypy.ini", "setup.cfg")),
    ("pyproject.toml", f'[tool.pyrefly]\nsearch-path = ["{TYPINGS}", "."]\n', TYPINGS),
    ("pyproject.toml", f'[tool.ty.environment]\nextra-paths = ["{TYPINGS}"]\n', TYPINGS),
)
"""The lines that sections of other tools need: the file, the lines, and what the file contains where it has them."""
_ATTRIBUTES = (
    "*_qten.py linguist-generated merge=union",
    "*_qten.pyi linguist-generated merge=union",
    f"{TYPINGS}/torch/** linguist-generated",
)
"""GitHub folds files with the first one in diffs. With the second one, git keeps the lines of both sides instead of a conflict,
and the next run writes the file anew from the merged declarations."""
_HOOKS = ".pre-commit-config.yaml"
_HOOK = """\
- repo: local
  hooks:
    - id: qten-gen
      name: qten-gen
      entry: {}
      language: system
      types: [python]
      pass_filenames: false
"""


def init(options: Options, out: TextIO, err: TextIO) -> int:
    """Append what is missing, write the stubs, print what was added and what is left to paste, and return the exit status.

    Raises:
        ConfigError: The settings of the project cannot be used.
        UsageError: A file cannot be read or written.
    """
    root = config_of(".").root
    said: list[str] = []
    try:
        for name, what, lines in _missing(root):
            path = os.path.join(root, name)
            old = text_of(path)
            new = (old if old.endswith("\n") or not old else f"{old}\n") + lines
            if name == "pyproject.toml" and toml_document(new) is None:
                raise UsageError(
                    f"{display_path(path)}: [tool.qten-gen] at its end would be no valid TOML; add it by hand"
                )
            # Where lines end as on Windows, those that are added do too.
            data = new.replace("\r\n", "\n").replace("\n", "\r\n") if "\r\n" in old else new
            write(Change(os.path.realpath(path), None, data.encode()))
            said.append(f"added: {display_path(path)}: {what}\n")
        said += [f"paste into {path}:\n{lines}" for path, lines in _to_paste(root)]
        for path in discover([root]).sources:
            if os.path.exists(f"{path}i") and b"qten_gen" in read_regular(path):
                said.append(f"remove: {path}i: type checkers read it in place of {path}\n")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(str(error)) from None
    out.write("".join(said) or "everything is set up\n")
    return write_stubs(options, out, err)[0] if config_of(root).stubs else DONE


def _missing(root: str) -> Iterator[tuple[str, str, str]]:
    """The files to append to, with what and the lines."""
    if section_in(root) is None:
        src = 'src = ["src"]\n' if os.path.isdir(os.path.join(root, "src")) else ""
        blank = "\n" if text_of(os.path.join(root, "pyproject.toml")) else ""
        lines, what = f'{blank}[tool.qten-gen]\n{src}stubs = ["torch.nn"]\n', "the section [tool.qten-gen]"
        mypy = [(name, each) for name, each, _ in _SECTIONS if "mypy" in each]
        if not any(_has_section(text_of(os.path.join(root, name)), each) for name, each in mypy):
            # In the same write: no fault leaves stubs that mypy does not find.
            lines, what = f"{lines}\n{_MYPY}", "the sections [tool.qten-gen] and [tool.mypy]"
        yield "pyproject.toml", what, lines
    if (repository := _repository(root)) is None:
        return
    attributes = text_of(os.path.join(root, ".gitattributes"))
    for line in _ATTRIBUTES:
        if not re.search(rf"(?m)^{re.escape(line.partition(' ')[0])}\s", attributes):
            yield ".gitattributes", line, f"{line}\n"
    # The cache ignores itself in git, but hatchling reads the root's file only, and would pack the cache.
    if not re.search(rf"(?m)^/?{re.escape(CACHE)}/?[ \t]*\r?$", text_of(os.path.join(root, ".gitignore"))):
        yield ".gitignore", f"{CACHE}/", f"{CACHE}/\n"
    if repository == root and not os.path.lexists(os.path.join(root, _HOOKS)):
        yield _HOOKS, "the hook qten-gen", f"repos:\n{_HOOK.format('qten-gen --check')}"


def _to_paste(root: str) -> Iterator[tuple[str, str]]:
    """The lines that belong inside sections of files, with the path."""
    for name, lines, sign in _SECTIONS:
        text = text_of(os.path.join(root, name))
        if sign not in text and _has_section(text, lines):
            yield display_path(os.path.join(root, name)), lines
    repository = _repository(root)
    if repository is not None:
        path = os.path.join(repository, _HOOKS)
        below = os.path.relpath(root, repository).replace(os.sep, "/")
        command = "qten-gen --check" if below == "." else f"qten-gen --check {below}"
        if command not in text_of(path):
            yield display_path(path), _HOOK.format(command)


def _has_section(text: str, lines: str) -> bool:
    """True if a text has the section that lines begin with, or another of the same tool."""
    tool = ".".join(lines.partition("]")[0].split(".")[:2])
    return re.search(rf"(?m)^{re.escape(tool)}\b", text) is not None


def _repository(folder: str) -> str | None:
    """The nearest folder upwards that holds a git repository."""
    while not os.path.lexists(os.path.join(folder, ".git")):
        if os.path.dirname(folder) == folder:
            return None
        folder = os.path.dirname(folder)
    return folder
