"""Opens what reads the sources of a run. The generator is imported only then, when there is something to read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..project.import_graph import SourceGraph
from ..project.source_texts import SourceTexts

if TYPE_CHECKING:
    from ..generate.readings import Readings


def open_readings(graph: SourceGraph) -> Readings:
    """The reader of the sources of a run from the disk."""
    from ..generate.readings import Readings

    return Readings(SourceTexts(graph.origins), graph)
