"""The command `qten-gen explain QG101`, which prints the docstring and the tested examples of a rule."""

from __future__ import annotations

from typing import TextIO

from ..common.suggestions import nearest
from ..rules import RULES
from ..rules.rule import page
from . import DONE
from .options import Options, UsageError


def explain(options: Options, out: TextIO, err: TextIO) -> int:
    """Print the page of a diagnostic by code or name, or a list of all, and return the exit status.

    Raises:
        UsageError: There is no such diagnostic.
    """
    if options.code is None:
        out.writelines(f"{rule.kind.code}  {rule.kind.name}\n" for rule in RULES)
        return DONE
    name = options.code
    found = next((rule for rule in RULES if name.lower() in (rule.kind.code.lower(), rule.kind.name)), None)
    if found is None:
        codes, names = [rule.kind.code for rule in RULES], [rule.kind.name for rule in RULES]
        close = nearest(name.upper(), codes, 0.7) or nearest(name.lower(), names)
        advice = f"did you mean {close}?" if close else "run qten-gen explain for a list"
        raise UsageError(f"unknown diagnostic {name}; {advice}")
    out.write(page(found))
    return DONE
