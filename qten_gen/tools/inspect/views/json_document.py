"""An inspection as a JSON document, for other programs. docs/inspect.md describes it."""

from __future__ import annotations

import json
from dataclasses import asdict

from ..inspection import Inspection
from ..plans import Plan

VERSION = 2
"""Version of the document's format. It is raised when a key is removed or changes its meaning, but not for a new key."""


def as_json(found: Inspection) -> str:
    """The document: the records of an inspection, under the names of their fields. Sizes are in bytes, and nothing is folded."""
    modules = [
        {
            "path": each.path,
            "kind": each.kind,
            "parameters": each.parameters,
            "bytes": each.bytes,
            "same_as": each.same_as,
        }
        for each in found.tree.all_modules()
    ]
    document = {
        "version": VERSION,
        "target": found.target,
        "modules": modules,
        "tensors": [asdict(entry) for entry in found.tree.all_tensors()],
        "totals": asdict(found.totals),
        "plan": None if found.plan is None else _plan(found.plan),
        "run": None if found.run is None else asdict(found.run),
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _plan(plan: Plan) -> dict[str, object]:
    """A sharding plan, in the document."""
    parts = {"cuts": [cut._asdict() for cut in plan.cuts], "problems": [problem._asdict() for problem in plan.problems]}
    return {**plan._asdict(), **parts}
