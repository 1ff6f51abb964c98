"""The names in a generated module beside its classes: functions and annotated names of the source that mention declared classes.

They are those of the source, so that a program can import all that it needs from one module.
"""

from __future__ import annotations

import re

from ..model import FileDecl, MethodSource, SourceFile
from .parameters import parsed
from .spelling import static_type

_NAME = re.compile(r"(?<![\w.])[^\W\d][\w.]*")


def offered(file: FileDecl) -> list[str]:
    """Their names, sorted; none begins with an underscore."""
    functions = [function.name for function in file.source.functions if _mentions(_types(function), file, file.source)]
    variables = [name for name, type in file.source.variables if _mentions(static_type(type), file, file.source)]
    return sorted({name for name in (*functions, *variables) if not name.startswith("_")})


def _types(function: MethodSource) -> str:
    """All types in a signature, as one text."""
    return " ".join([*(each.type for each in parsed(function.signature.parameters)), function.signature.result])


def _mentions(text: str, file: FileDecl, source: SourceFile, inside: frozenset[str] = frozenset()) -> bool:
    """Whether a text names a declared class, or an alias of a type with one."""
    meant = {file.meanings.get(f"{source.module}:{name}", name) for name in _NAME.findall(text)}
    return any(name in file.related or _is_alias(name, file, inside) for name in meant - inside)


def _is_alias(name: str, file: FileDecl, inside: frozenset[str]) -> bool:
    """Whether a qualified name is an alias of a type with a declared class; `inside` are those that it is looked up for."""
    module, _, alias = name.rpartition(".")
    home = file.sources.get(module) if module else None
    found = None if home is None else home.aliases.get(alias)
    return home is not None and found is not None and _mentions(found.text, file, home, inside | {name})
