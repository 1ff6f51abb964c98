"""The sources of a run as the generator reads them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING

from ..project import manifest
from ..project.import_graph import SourceGraph
from ..project.staleness import read_source

if TYPE_CHECKING:
    from ..generate.readings import Readings


class Disk(Mapping[str, bytes]):
    """The bytes of sources, read when they are asked for. A source that has disappeared since the run began is empty."""

    def __init__(self, paths: Collection[str]) -> None:
        self._paths = paths
        self.digests: dict[str, str] = {}
        """Those of the sources that were read; empty for one that has disappeared, or was read with different bytes."""

    def __getitem__(self, path: str) -> bytes:
        """Read a file and remember its digest; one that cannot be read is empty."""
        if path not in self._paths:
            raise KeyError(path)
        try:
            data = read_source(path)
        except OSError:
            data, digest = b"", ""
        else:
            digest = manifest.digest(data)
        self.digests[path] = digest if self.digests.get(path, digest) == digest else ""
        return data

    def __iter__(self) -> Iterator[str]:
        return iter(self._paths)

    def __len__(self) -> int:
        return len(self._paths)


def open_readings(graph: SourceGraph) -> Readings:
    """What reads the sources. The generator is imported only now, when there is something to read."""
    from ..generate.readings import Readings

    return Readings(Disk(graph.origins), graph)
