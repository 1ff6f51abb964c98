"""The sources of a run as the generator reads them: from the disk, or as they stand in an editor."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from ..common.digests import digest
from .manifest import SourceRecord
from .paths import read_regular


class SourceTexts(Mapping[str, bytes]):
    """The bytes of sources by path, read when they are asked for. A source that has disappeared since it was listed is empty.

    Args:
        paths: The sources.
        unsaved: Texts by path that are taken for those of files, of sources or others.
    """

    def __init__(self, paths: Collection[str], unsaved: Mapping[str, bytes] | None = None) -> None:
        self._paths = paths
        self._unsaved = unsaved or {}
        self.digests: dict[str, str] = {}
        """The digests of the sources that were read from the disk."""

    def __getitem__(self, path: str) -> bytes:
        if path in self._unsaved:
            return self._unsaved[path]
        if path not in self._paths:
            raise KeyError(path)
        try:
            data = read_regular(path)
        except OSError:
            data = b""
            self.digests[path] = ""
        else:
            self.digests[path] = digest(data)
        return data

    def __iter__(self) -> Iterator[str]:
        return iter(self._paths)

    def __len__(self) -> int:
        return len(self._paths)

    def torn(self, records: Mapping[str, SourceRecord]) -> list[str]:
        """The sources that were read with other bytes than their records say: they changed in between.

        A record with the digest of one text and the content of another would call what was made of the other one fresh, for good.
        """
        return [path for path, found in self.digests.items() if found != records[path].signature.digest]
