"""Says why outputs are out of date, for `--verbose` and for programs that read the output.

The reason is found by comparing the old text of a generated module with the new one, so nothing has to be remembered. `--diff`
shows the change itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ..common.header import FORMAT, read_header
from ..project.apply import Change
from ..project.output_names import outputs_of, source_of
from ..project.stale import ProjectState

_MOST = 3
"""How many reasons are given for one file."""


def reasons(changes: Sequence[Change], state: ProjectState) -> dict[str, str]:
    """Why each output is out of date, by its path, for the outputs that are not as planned."""
    modules = {change.path: change for change in changes if change.path.endswith(".py")}
    found = {}
    for change in changes:
        source = source_of(change.path)
        found[change.path] = _reason(change, modules.get(outputs_of(source)[0]), source in state.files.sources)
    return found


def _reason(change: Change, module: Change | None, has_source: bool) -> str:
    """Why one output is out of date. `module` is the change of the generated module that it belongs to."""
    if change.new is None:
        return "its source declares nothing" if has_source else "its source is gone"
    if change.old is None:
        return "new"
    header = read_header(change.old)
    if header is None:
        return "empty"
    if not header.intact:
        return "edited by hand, or merged"
    if not change.old.startswith(b"# @generated"):
        return "something stands before its header"
    if header.format != FORMAT:
        return f"written in format {header.format}, and this version of qten-gen writes {FORMAT}"
    found = [] if module is None else [*_differences(module.old or b"", module.new or b"")]
    shown = found[:_MOST] + [f"{len(found) - _MOST} more"] * (len(found) > _MOST)
    return "; ".join(shown) or "a signature, an annotation or documentation changed"


def _differences(old: bytes, new: bytes) -> Iterator[str]:
    """In what two texts of a generated module differ: which classes, each with what follows it."""
    parts = [re.split(r"(?m)^class _?(\w+?)_?\b", text.decode()) for text in (old, new)]
    before, after = (dict(zip(found[1::2], found[2::2], strict=True)) for found in parts)
    for name in dict.fromkeys([*after, *before]):
        if before.get(name) != after.get(name):
            yield f"class {name} {'added' if name not in before else 'changed' if name in after else 'removed'}"
