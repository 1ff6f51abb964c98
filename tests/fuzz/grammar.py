"""The files of a random project: one to three modules of a package, each with a few classes, which import each other."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random

from tests.generate.hostile import HOSTILE

from . import modules, tensorclasses
from .spelling import Known, Names, doc
from .vocabulary import CLASSES, HOSTILE_CLASSES, REFUSED_CLASSES

PACKAGE = "fuzzed"


@dataclass(frozen=True)
class Source:
    """One file of a project: its module name in the package, and its text."""

    name: str
    text: str


def project(seed: int) -> tuple[Source, ...]:
    """The files of the project with this number, those that others import first."""
    random = Random(seed)
    known: list[Known] = []
    handled: set[tuple[str, str, str]] = set()
    sources = []
    for index in range(random.choice((1, 1, 2, 3))):
        name = f"model{index}"
        sources.append(Source(name, _file(random, name, known, handled)))
    return tuple(sources)


def _file(random: Random, module: str, known: list[Known], handled: set[tuple[str, str, str]]) -> str:
    """One file; the classes that it declares are added to the known ones, and what it handles to what is handled."""
    hostile = random.random() < 0.5
    pool = HOSTILE_CLASSES if hostile else CLASSES
    classes = [random.choice(pool if random.random() < 0.6 else CLASSES) for _ in range(random.randint(1, 3))]
    classes += [random.choice(REFUSED_CLASSES)] if random.random() < 0.03 else []
    classes = list(dict.fromkeys(classes))
    names = Names(random, classes)
    postponed = random.random() < 0.5
    body = []
    for name in classes:
        write: Callable[[Random, Names, str, str, list[Known]], tuple[str, Known]]
        write = tensorclasses.write if random.random() < 0.6 else modules.write
        text, made = write(random, names, module, name, known)
        body.append(text)
        known.append(made)
    body += list(_handlers(random, names, module, known, handled))
    head = [*([doc(random, 0)] if random.random() < 0.3 else []), *_future(postponed)]
    variables = [
        f'{name} = {names("typing.TypeVar")}("{name}", bound={names("torch.Tensor")})' for name in names.variables
    ]
    return "\n".join([*head, *names.imports, "", *variables, *names.statements, "", *body, ""])


def _future(postponed: bool) -> Iterator[str]:
    if postponed:
        yield "from __future__ import annotations"


def _handlers(
    random: Random, names: Names, module: str, known: list[Known], handled: set[tuple[str, str, str]]
) -> Iterator[str]:
    """Handlers for modules of this file or of others, one for each type: a second one is an error of the program."""
    owners = [found for found in known if found.kind == "module"]
    if owners and random.random() < 0.6:
        for number in range(random.randint(1, 3)):
            owner = random.choice(owners)
            type, text = modules.handler(random, names, module, owner, known, number)
            handler = owner.module, owner.name, type
            if handler not in handled:
                yield text
            handled.add(handler)


def with_hostile_text(sources: Sequence[Source], random: Random) -> tuple[Source, ...]:
    """The project with a hostile string for one expression: a name, a size, a default, a base, a part of a type."""
    chosen = random.choice(sources)
    lines = chosen.text.encode().splitlines(keepends=True)
    expressions = [*_expressions(ast.parse(chosen.text), len(lines))]
    if not expressions:
        return tuple(sources)
    start, begin, last, end = random.choice(expressions)
    before, after = lines[start - 1][:begin], lines[last - 1][end:]
    text = b"".join([*lines[: start - 1], before, repr(random.choice(HOSTILE)).encode(), after, *lines[last:]])
    return tuple(replace(source, text=text.decode()) if source is chosen else source for source in sources)


def _expressions(tree: ast.Module, lines: int) -> Iterator[tuple[int, int, int, int]]:
    """Where the expressions of classes and decorators stand, without those that Python 3.11 has no right place for."""
    for statement in tree.body:
        for node in ast.walk(statement) if isinstance(statement, ast.ClassDef | ast.FunctionDef) else ():
            if isinstance(node, ast.expr) and not isinstance(node, ast.JoinedStr | ast.FormattedValue):
                last, end = node.end_lineno or node.lineno, node.end_col_offset or node.col_offset
                if last <= lines:
                    yield node.lineno, node.col_offset, last, end
