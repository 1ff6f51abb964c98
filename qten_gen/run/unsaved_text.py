"""Carries out `qten-gen - --stdin-filename FILE`: takes a text for that of a file which was not saved yet, and writes nothing."""

from __future__ import annotations

import os

from ..generate.plan import plan
from ..generate.readings import Readings
from ..project.apply import changes
from ..project.config import Settings
from ..project.files import PathError, discover
from ..project.judging import judged
from ..project.output_names import is_output, outputs_of
from ..project.source_texts import SourceTexts
from ..project.stale import project_state, read_output
from .reasons import reasons
from .run import Outcome


def run_on_text(name: str, data: bytes, settings: Settings, explains: bool) -> Outcome:
    """What a run for one file would find and change if the file had this text.

    Raises:
        PathError: It is not a Python source, or a folder.
        ConfigError: The settings of its project cannot be used.
    """
    if is_output(name):
        raise PathError(f"{name} is a generated file")
    if os.path.isdir(name):
        raise PathError(f"{name} is a folder: --stdin-filename takes the file that the text belongs to")
    config = settings.of(name)
    files = discover([name], config, settings, unsaved=[name])
    path = next(item for item, source in files.sources.items() if source.target)
    state = project_state(
        files, os.path.abspath(config.root or os.path.dirname(path) or "."), config, unsaved={path: data}
    )
    readings = Readings(SourceTexts(state.graph.origins, {path: data}), state.graph)
    existing = {output: read_output(output) for output in outputs_of(path) if output in state.files.outputs}
    planned = plan(readings.sources, existing, [path], state.graph, readings)
    found = changes(planned.outputs, existing)
    return Outcome(
        sources=1,
        up_to_date=sum(output in existing for output in planned.outputs) - sum(item.old is not None for item in found),
        changes=found,
        diagnostics=judged(planned.diagnostics, config),
        blocked=planned.blocked,
        failures=state.failures,
        crashes=planned.crashes,
        reasons=reasons(found, state) if explains else {},
    )
