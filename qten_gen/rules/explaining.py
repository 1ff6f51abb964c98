"""The page of a rule as text: its docstring and its tested examples."""

from __future__ import annotations

from textwrap import indent

from . import Rule
from .cases import case


def page(rule: Rule) -> str:
    """The page of a rule. Carets mark the mistake in the bad example."""
    head = f"{rule.KIND.code} [{rule.KIND.name}], {'an' if rule.KIND.severity == 'error' else 'a'} {rule.KIND.severity}"
    text = (rule.__doc__ or "").strip()
    bad, good = indent(rule.BAD.strip("\n"), "    "), indent(case(rule.GOOD).text.strip("\n"), "    ")
    return f"{head}\n\n{text}\n\nReported:\n\n{bad}\n\nRight:\n\n{good}\n"
