"""Adopts texts in memory, for the tests of this folder."""

from __future__ import annotations

from textwrap import dedent

from qten_gen.project.import_graph import graph_from_texts
from qten_gen.tools.adopt.adopting import adopt
from qten_gen.tools.adopt.opening import Sources
from qten_gen.tools.adopt.records import Adoption, Level, Options, Outcome


def outcome(files: dict[str, str], level: Level = Level.BASE, dataclasses: bool = False) -> Outcome:
    """What is done with a project of these files, all of which are given."""
    texts = {path: dedent(text).encode() for path, text in files.items()}
    origins = graph_from_texts(texts).origins
    return adopt(Sources.of(texts, origins, list(texts)), Options(level, dataclasses))


def adopted(text: str, level: Level = Level.BASE, dataclasses: bool = False) -> str:
    """The text of one file afterwards."""
    plain = dedent(text)
    return outcome({"model.py": plain}, level, dataclasses).texts.get("model.py", plain.encode()).decode()


def report(text: str, level: Level = Level.BASE, dataclasses: bool = False) -> dict[str, Adoption]:
    """What becomes of each class of one file, by name."""
    return {each.found.name: each for each in outcome({"model.py": text}, level, dataclasses).adoptions}


def reasons(text: str, level: Level = Level.BASE) -> dict[str, str]:
    """Why classes of one file stay, by name."""
    found = report(text, level).items()
    return {name: reason.text for name, each in found if (reason := each.why_it_stays) is not None}
