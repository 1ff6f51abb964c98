"""The page that documents all rules; `qten-gen explain` has the text of a single one.

python -m templates.rules_page > docs/rules.md
python -m templates.rules_page codes > qten_gen/common/diagnostic_codes.py
"""

from __future__ import annotations

import sys
from difflib import unified_diff
from textwrap import fill, indent

from qten_gen.rules import RULES, Rule
from qten_gen.rules.rule import bad, good

_INTRODUCTION = """\
# Look up a diagnostic

This page lists what `qten-gen` and `qten-gen check` report, by code.

```python
# shop/model.py
from torch import nn

from qten_gen import Module, param


class Project(Module):
    dim: int
    weight: nn.Parameter = param("3*dim", initializer=nn.init.zeros_)
```

```console
$ sed -i.bak "s/3.dim/3*dmi/" shop/model.py     # a mistake
$ qten-gen shop
shop/model.py:9:37: error QG302 [unknown-dimension]: there is no config field dmi
  |
9 |     weight: nn.Parameter = param("3*dmi", initializer=nn.init.zeros_)
  |                                     ^^^
help: did you mean dim?

1 error in 1 file; nothing written in 0.10s
$ qten-gen explain QG302 | head -3
QG302 [unknown-dimension], an error

An expression uses a name that is not a config field or a derived value, or one whose value does not fit.
```

`explain` goes on with the reason, a mistake and its correction. Below, a line with `-` is such a mistake, and the line with `+`
takes its place. [A comment](command.md#suppress-a-diagnostic) suppresses warnings, and errors that say so.
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
    return "\n".join([_INTRODUCTION, *(_group(digits, title) for digits, title in _GROUPS.items())])


def _group(digits: str, title: str) -> str:
    """The rules whose codes begin like this."""
    return "\n".join([f"## {title}\n", *(_section(rule) for rule in RULES if rule.kind.code.startswith(digits))])


def _section(rule: Rule) -> str:
    kind = rule.kind
    severity = f"{kind.severity}, can be suppressed" if kind.can_be_wrong else kind.severity
    return f"### {kind.code} {kind.name}\n\n*{severity}*. {summary(rule)}\n{_change(rule)}"


def summary(rule: Rule) -> str:
    """What the rule reports: the first paragraph of its docstring. `qten-gen explain` prints the rest."""
    return " ".join(rule.doc.partition("\n\n")[0].split())


def _change(rule: Rule) -> str:
    """The line of the example that changes; nothing where several do."""
    before, after = (_code(part(rule.example)) for part in (bad, good))
    lines = [
        line for line in unified_diff(before, after, n=0, lineterm="") if not line.startswith(("@@", "---", "+++"))
    ]
    changed = len(lines) <= 2 and lines[0].startswith("-")
    return "\n".join(["", "```diff", *lines, "```", ""]) if changed else ""


def _code(text: str) -> list[str]:
    """The lines without carets and the imports that go without saying."""
    return [line for line in text.splitlines() if set(line) - set(" ^") and not line.startswith(_IMPORTS)]


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
