"""The request of a user to `qten-gen adopt --verify`."""

from __future__ import annotations

from dataclasses import dataclass

from ..inspect.request import InspectionError as InspectionError


@dataclass(frozen=True, slots=True)
class VerifyRequest:
    """The class to compare with its old version. All values are text as the user wrote it, as for `qten-gen inspect`."""

    target: str
    """Where the class is, or a function that makes a module: `pkg.model:Decoder`."""
    config: tuple[str, ...] = ()
    """Arguments of its constructor: `("depth=48", "dim=8192")`."""
    inputs: tuple[str, ...] | None = None
    """The inputs to run forward with: `("tokens: Int[4,2048]",)`; None for no run, empty for a forward without inputs."""
    against: str = "HEAD"
    """The revision of git with the old code."""
    old: str | None = None
    """The folder with the old code, laid out as the current one; instead of a revision."""
    seed: int = 0
    import_roots: tuple[str, ...] = ()
    """Folders to import from, beside `sys.path`, relative to the current folder."""
