"""The page that documents all rules; `qten-gen explain` has the text of a single one.

python -m templates.rules_page > docs/rules.md
python -m templates.rules_page codes > qten_gen/common/diagnostic_codes.py
"""

from __future__ import annotations

import sys
from difflib import unified_diff
from itertools import dropwhile
from textwrap import fill, indent

from qten_gen.rules import RULES, Rule
from qten_gen.rules.rule import bad, good

_INTRODUCTION = """\
# Look up a diagnostic

This page lists the errors and warnings that `qten-gen` reports, sorted by code. Each has a mistake and its correction: a line
with `-` is reported, a line with `+` takes its place, and carets mark the code. To read why, what a rule knows and what it does
not, run

    qten-gen explain QG302
"""

_GROUPS = {
    "QG0": "Files and settings",
    "QG1": "Classes",
    "QG2": "Fields",
    "QG3": "Modules",
    "QG4": "Handlers",
    "QG5": "Plain modules",
}

_IMPORTS = ("from torch import ", "from qten_gen import ", "from typing import ", "import torch")


def documentation() -> str:
    """The page as Markdown, from the docstrings and the tested examples of the rules."""
    index = [f"* {title}: {', '.join(_links(digits))}" for digits, title in _GROUPS.items()]
    return "\n".join([_INTRODUCTION, *index, "", *(_section(rule) for rule in RULES)])


def _links(digits: str) -> list[str]:
    """Links to the sections of the rules whose codes begin like this."""
    kinds = [rule.kind for rule in RULES if rule.kind.code.startswith(digits)]
    return [f"[{kind.code}](#{kind.code.lower()}-{kind.name})" for kind in kinds]


def _section(rule: Rule) -> str:
    kind = rule.kind
    severity = f"{kind.severity}, can be suppressed" if kind.can_be_wrong else kind.severity
    return f"## {kind.code} {kind.name}\n\n*{severity}*. {summary(rule)}\n\n{_changes(rule)}\n"


def summary(rule: Rule) -> str:
    """What the rule reports: the first paragraph of its docstring. `qten-gen explain` prints the rest."""
    return " ".join(rule.doc.partition("\n\n")[0].split())


def _changes(rule: Rule) -> str:
    """The example without the lines that stay and are far from a change."""
    before, after = (_without_imports(part(rule.example).splitlines()) for part in (bad, good))
    hunks = unified_diff(before, after, n=2, lineterm="")
    lines = ["..." if line.startswith("@@") else line.rstrip() for line in hunks][3:]
    while not lines[0]:
        del lines[0]
    return "\n".join(["```diff", *lines, "```"])


def _without_imports(lines: list[str]) -> list[str]:
    """The lines without the imports that go without saying, and without blank lines at the top."""
    return list(dropwhile(lambda line: not line, (line for line in lines if not line.startswith(_IMPORTS))))


_CODES = """The codes of all diagnostics, for settings that name them.

Loading the rules takes longer than a run that changes nothing. `make generate` writes this file.
"""


def codes() -> str:
    """The module with the codes of all diagnostics, by severity."""
    parts = [f'"""{_CODES}"""\n']
    for severity in ("error", "warning"):
        words = " ".join(rule.kind.code for rule in RULES if rule.kind.severity == severity)
        parts.append(
            f'{severity.upper()}S = frozenset(\n    """\n{indent(fill(words, 110), "    ")}\n    """.split()\n)\n'
        )
    return "\n".join(parts)


if __name__ == "__main__":
    print(codes() if sys.argv[1:] == ["codes"] else documentation(), end="")
