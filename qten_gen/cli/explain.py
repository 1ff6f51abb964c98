"""The command `qten-gen explain QG101`, which prints the docstring and the tested examples of a rule."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TextIO

from ..common.suggestions import nearest
from ..rules import RULES
from ..rules.explaining import page
from . import DONE, MISUSE
from .misuse import misuse, unknown_option

_USAGE = "usage: qten-gen explain [CODE]\n"
_HELP = f"""{_USAGE}
Explain a diagnostic: what it reports and why, with a bad and a good example.

  CODE                 a code such as QG101, or a name such as unresolved-base;
                       without it, list all diagnostics
"""


def explain(arguments: Sequence[str], out: TextIO, err: TextIO) -> int:
    """Print the page of a diagnostic by code or name, or a list of all, and return the exit status."""
    match arguments:
        case ["-h" | "--help"]:
            out.write(_HELP)
        case []:
            out.writelines(f"{rule.KIND.code}  {rule.KIND.name}\n" for rule in RULES)
        case [name] if not name.startswith("-"):
            found = next((rule for rule in RULES if name.lower() in (rule.KIND.code.lower(), rule.KIND.name)), None)
            if found is None:
                err.write(f"error: unknown diagnostic {name}; {_suggestion(name)}\n")
                return MISUSE
            out.write(page(found))
        case _:
            problem = unknown_option(arguments, ()) if arguments[0].startswith("-") else "expected one code"
            return misuse(problem, _USAGE, err)
    return DONE


def _suggestion(word: str) -> str:
    codes, names = [rule.KIND.code for rule in RULES], [rule.KIND.name for rule in RULES]
    close = nearest(word.upper(), codes, 0.7) or nearest(word.lower(), names)
    return f"did you mean {close}?" if close else "run qten-gen explain for a list"
