"""The page of a rule as text: its docstring and its tested examples."""

from __future__ import annotations

from textwrap import indent

from . import Rule
from .cases import bad, good


def page(rule: Rule) -> str:
    """The page of a rule. Carets mark the mistake in the text that is reported."""
    head = f"{rule.KIND.code} [{rule.KIND.name}], {'an' if rule.KIND.severity == 'error' else 'a'} {rule.KIND.severity}"
    text = (rule.__doc__ or "").strip()
    reported, right = (indent(part.strip("\n"), "    ") for part in (bad(rule.EXAMPLE), good(rule.EXAMPLE)))
    return f"{head}\n\n{text}\n\nReported:\n\n{reported}\n\nRight:\n\n{right}\n"
