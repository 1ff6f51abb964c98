"""Scans the bytes of a file for imports and possible declarations, without parsing it.

The scan uses regular expressions, so it may mistake the content of a string for code. Then a file is parsed that need not be.
"""

import re
from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from ..common.naming import REPLACE, absolute

# Patterns are compiled at their first use, because a run over an unchanged tree does not need them. Every repetition is
# possessive (`*+`), so that no text makes the scan slow: its time grows with the size of the text, and not faster.
_COMMENT = r"#[^\n]*+"
_FROM = r"from\b([^\n;()]*+)(\([^()]*+)?+"
_IMPORT = r"import\b([^\n;]++)"
_BRACKETS = r"\[(?:[^\[\]]|\[(?:[^\[\]]|\[[^\[\]]*+\])*+\])*+\]"
_CLASS = rf"(?m)^[ \t\f]*+class[ \t]++\w++[ \t]*+(?:{_BRACKETS}[ \t]*+)?+\(([^)]*+)"
_CALLS = r"\.\s*+register\s*+\(", REPLACE
# At the top level, a name of any spelling. Indented, as under `if TYPE_CHECKING:`, a name that starts with a capital, as types
# and constants do.
_ALIAS = (
    r"(?m)^(?:[ \t]*+type[ \t]++\w|(?:\w++|[ \t]++[A-Z]\w*+)[ \t]*+(?::[^=\n]*+)?+="
    r"[ \t]*+(?:[-+~(]*+[\d\"']|[^\W\d][\w.]*+[ \t]*+(?:$|[\[|+*/%-])|(?:\w++\.)*+(?:TypeVar|NewType|TypeAliasType)\b))"
)
_DEEPEST = 100
"""How many parts of a dotted name count."""
_NAME = r"[.\w]++"
_HEAD = r"[^\W\d]\w*+"
_ROOT = r"(?m)^class[ \t]++\w++[ \t]*+\([^)]*?(?<![\w.])(TensorClass|Module)(?![\w.])"


class Scan(NamedTuple):
    """The result of scanning a file."""

    mentions: bool
    """It mentions `qten_gen`, or derives from what it imports from a generated module."""
    derives: bool
    """It has a class with bases."""
    calls: bool
    """It registers a handler, or calls `replace` with keywords."""
    aliases: bool
    """It may define a type alias, a type variable or a constant."""
    imports: tuple[str, ...]
    """The dotted names of all imports that may be modules."""
    bases: tuple[str, ...]
    """The imports that bases of classes may come from, and all star imports."""
    binds: tuple[str, ...] = ()
    """The names that imports bind, which other files may import from here."""
    relative: bool = False
    """It uses relative imports, as only files in packages can."""


class Origin(NamedTuple):
    """The module of a file: its dotted name `module`, imported from the folder `root`."""

    root: str
    module: str
    is_package: bool = False


class _Import(NamedTuple):
    """A name that an import binds (`*` for all), and the dotted names that may be modules."""

    bound: str
    modules: tuple[str, ...]


def scan(data: bytes, origin: Origin) -> Scan:
    """Scan the bytes of a file."""
    # Python does not read UTF-16, but a declaration saved as UTF-16 must be found to be reported.
    encoding = "utf-16" if data.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8"
    code = data.decode(encoding, "replace").replace("\r\n", "\n").replace("\r", "\n")
    # Comments first: a backslash at the end of one continues no line.
    code = re.sub(_COMMENT, "", code).replace("\\\n", "  ")
    found = [*_from_imports(code, origin), *_plain_imports(code)]
    lists = re.findall(_CLASS, code)
    heads = {name for bases in lists for name in re.findall(_HEAD, bases)}
    bases = _modules(item for item in found if item.bound == "*" or (lists and item.bound in heads))
    is_named = "qten_gen" in code or b"qten_gen" in data or any(name.endswith("_qten") for name in bases)
    return Scan(
        mentions=is_named or _lacks_import(code, {item.bound for item in found}),
        derives=bool(lists),
        calls=any(re.search(pattern, code) is not None for pattern in _CALLS),
        aliases=re.search(_ALIAS, code) is not None,
        imports=_modules(found),
        bases=bases,
        binds=tuple(sorted({item.bound for item in found})),
        relative=any(each[1].lstrip().startswith(".") and "import" in each[1] for each in _statements(_FROM, code)),
    )


def _lacks_import(code: str, bound: Collection[str]) -> bool:
    """True if a class derives from a root of the language that the file neither imports nor defines: a forgotten import."""
    if "*" in bound:
        return False
    missing = {*re.findall(_ROOT, code)}.difference(bound)
    return any(re.search(rf"\bclass {name}\b|^{name}\s*[:=]", code, re.MULTILINE) is None for name in missing)


def _modules(imports: Iterable[_Import]) -> tuple[str, ...]:
    return tuple(sorted({module for item in imports for module in item.modules if module}))


def _statements(pattern: str, code: str) -> Iterator[re.Match[str]]:
    """The places where a statement may begin that matches a pattern.

    A pattern that begins with a word is found ten times faster than one for what may stand before it.
    """
    end = 0
    for match in re.finditer(pattern[: pattern.index("(")], code):
        before = match.start()
        while before > end and code[before - 1] in " \t\f":
            before -= 1
        if before >= end and (before == 0 or code[before - 1] in "\n;:"):
            found = re.compile(pattern).match(code, match.start())
            if found is not None:
                yield found
                end = found.end()


def _from_imports(code: str, origin: Origin) -> Iterator[_Import]:
    """`from a.b import c` imports `a.b`, and `a.b.c` if that is a module."""
    for match in _statements(_FROM, code):
        module, *rest = re.split(r"\bimport\b", match[1], maxsplit=1)
        if not rest:
            continue
        base = absolute("".join(module.split()), origin.module, origin.is_package)
        for clause in f"{rest[0]},{match[2] or ''}".split(","):
            names = re.findall(_NAME, clause)
            if names:
                yield _Import(names[-1], (base, f"{base}.{names[0]}".lstrip(".")))  # `c as d` binds the last name
            elif "*" in clause:
                yield _Import("*", (base,))


def _plain_imports(code: str) -> Iterator[_Import]:
    """`import a.b` imports `a` and `a.b`."""
    for match in _statements(_IMPORT, code):
        for clause in match[1].split(","):
            names = re.findall(_NAME, clause)
            if names:
                parts = names[0].split(".", _DEEPEST)[:_DEEPEST]
                bound = parts[0] if len(names) == 1 else names[-1]
                yield _Import(bound, tuple(".".join(parts[:end]) for end in range(1, len(parts) + 1)))
