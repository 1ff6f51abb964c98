"""The law of reading a class statement outright: it says what the generator's reader says, and no rule has to look at it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

from qten_gen.model import fingerprint
from qten_gen.model.diagnostics import DeclarationError
from qten_gen.runtime.declaring import generator, in_memory, loading, outright
from qten_gen.runtime.declaring.in_memory import describe, known_nested, of_declaration
from qten_gen.runtime.declaring.outright import Outright
from qten_gen.runtime.declaring.statement import Body

OF_OBJECTS = {"QG206", "QG213", "QG217", "QG305", "QG314", "QG315"}
"""Rules about objects, which the text need not show. What the others refuse has no generated class."""


@contextmanager
def compared(broken: list[str]) -> Iterator[list[str]]:
    """Compare every class statement that is read outright with the generator's reader, and note where the two differ.

    Gives the qualified names of the classes that were read outright.
    """
    found: list[str] = []
    read = outright.read

    def checked(body: Body, *, nests: bool) -> Outright | None:
        said = read(body, nests=nests)
        if said is not None:
            found.append(body.qualified)
            difference = _difference(said, body, nests)
            if difference:
                broken.append(f"{body.qualified}: {difference}")
        return said

    with patch.object(outright, "read", checked):
        yield found


def _difference(said: Outright, body: Body, nests: bool) -> str:
    statement = describe(body, known_nested(body))
    declaration = generator.read(statement, nests=nests)
    summary = of_declaration(declaration, statement.classes)
    is_same = fingerprint(declaration) == said.fingerprint
    informed = dataclasses.replace(statement, elsewhere=in_memory.meaning_of_later(body))
    try:
        read = generator.read(informed, nests=nests)
        generator.refuse(read, informed, loading.real_name(body.module), body.scope)
    except DeclarationError as error:
        may_be_generated = {item.code for item in error.findings if item.is_error} <= OF_OBJECTS
        return f"a rule refuses it: {error}" if is_same and may_be_generated else ""
    if not is_same:
        return f"another fingerprint: {said.summary} instead of {summary}"
    if summary._replace(fields=()) != said.summary._replace(fields=()):
        return f"{said.summary} instead of {summary}"
    for ours, theirs in zip(said.summary.fields, summary.fields, strict=True):
        # A Module keeps no types, and only the class that declares a field is asked for the class in its annotation.
        text = ours.annotation if nests else theirs.annotation
        nested_class = theirs.nested_class if ours.owner == body.qualified else ours.nested_class
        if dataclasses.replace(ours, annotation=text) != dataclasses.replace(theirs, nested_class=nested_class):
            return f"{ours} instead of {theirs}"
    return ""
