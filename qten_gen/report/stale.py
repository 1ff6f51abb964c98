"""The record of a generated file that is out of date, as the formats show it."""

from __future__ import annotations

from typing import NamedTuple

from .concise import visible

CHECK = "stale-file"
"""The name of this finding, where a format wants one."""

ADVICE = "Run qten-gen and commit the generated files."


class StaleFile(NamedTuple):
    """A generated file that is not as it should be, or was not before the run."""

    path: str
    source: str
    """The file that it is generated from."""
    state: str
    """`stale`, `missing` or `orphan`."""
    reason: str

    @property
    def shown_at(self) -> str:
        """The file beside which it is shown: its source, if there is one."""
        return self.path if self.state == "orphan" else self.source

    @property
    def sentence(self) -> str:
        """`shop/model_qten.py is stale: field mask of Batch changed`."""
        words = {"stale": "is stale", "missing": "is missing", "orphan": "is to be removed"}
        told = "" if self.state == "missing" and self.reason == "new" else f": {self.reason}"
        return f"{visible(self.path)} {words[self.state]}{told}"
