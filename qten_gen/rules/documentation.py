"""Writes docs/rules.md, the page that documents all rules. `explaining` has the text of a single one.

With the argument `codes`, it writes `common/diagnostic_codes.py` instead, which knows the codes without loading the rules.
"""

from __future__ import annotations

import sys
from textwrap import fill, indent

from . import RULES, Rule

_INTRODUCTION = """\
# Look up a diagnostic

This page explains every error and warning that `qten-gen` reports, sorted by code. `qten-gen explain QG302` prints one of
them. Carets mark the code that is reported.

| code | name | what is wrong |
|---|---|---|
"""


def documentation() -> str:
    """The page as Markdown, from the docstrings and the tested examples of the rules."""
    table = "".join(f"{_row(rule)}\n" for rule in RULES)
    return "\n".join([_INTRODUCTION + table, *(_section(rule) for rule in RULES)])


def _row(rule: Rule) -> str:
    """A row of the table at the top, which leads to the section."""
    kind = rule.KIND
    summary = " ".join((rule.__doc__ or "").strip().partition("\n\n")[0].split()).replace("|", "\\|")
    return f"| [{kind.code}](#{kind.code.lower()}-{kind.name}) | {kind.name} | {summary} |"


def _section(rule: Rule) -> str:
    kind = rule.KIND
    bad, good = (f"```{_language(text)}\n{text.strip(chr(10))}\n```" for text in (rule.BAD, rule.GOOD))
    text = (rule.__doc__ or "").strip()
    severity = f"{kind.severity}, can be suppressed" if kind.can_be_wrong else kind.severity
    return f"## {kind.code} {kind.name}\n\n*{severity}*. {text}\n\nReported:\n\n{bad}\n\nInstead:\n\n{good}\n"


def _language(example: str) -> str:
    return "toml" if "[tool.qten-gen]" in example else "python"


_CODES = """The codes of all diagnostics, for settings that name them.

Loading the rules takes longer than a run that changes nothing. `make generate` writes this file.
"""


def codes() -> str:
    """The module with the codes of all diagnostics, by severity."""
    parts = [f'"""{_CODES}"""\n']
    for severity in ("error", "warning"):
        words = " ".join(rule.KIND.code for rule in RULES if rule.KIND.severity == severity)
        parts.append(
            f'{severity.upper()}S = frozenset(\n    """\n{indent(fill(words, 110), "    ")}\n    """.split()\n)\n'
        )
    return "\n".join(parts)


if __name__ == "__main__":
    print(codes() if sys.argv[1:] == ["codes"] else documentation(), end="")
