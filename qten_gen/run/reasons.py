"""Says why outputs are out of date, for `--verbose` and for programs that read the output.

The reason is found by comparing the old text of a generated module with the new one, so nothing has to be kept from the last run.
`--diff` shows the change itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ..common.header import FORMAT, read_header
from ..project.apply import Change
from ..project.output_names import outputs_of, source_of
from ..project.stale import ProjectState

_MOST = 3
"""How many reasons are told of one file."""


def reasons(changes: Sequence[Change], state: ProjectState) -> dict[str, str]:
    """Why each output is out of date, by its path.

    Args:
        changes: The outputs that are not as planned.
        state: The project, with the manifest of the last run.
    """
    modules = {change.path: change for change in changes if change.path.endswith(".py")}
    found = {}
    for change in changes:
        source = source_of(change.path)
        module = modules.get(outputs_of(source)[0], change)
        found[change.path] = _reason(change, module, source, state)
    return found


def _reason(change: Change, module: Change, source: str, state: ProjectState) -> str:
    """Why one output is out of date. `module` is the change of the generated module that it belongs to."""
    if change.new is None:
        return "its source declares nothing" if source in state.files.sources else "its source is gone"
    if change.old is None:
        return "new"
    header = read_header(change.old)
    if header is None:
        return "empty"
    if header.intact and not change.old.startswith(b"# @generated"):
        return "something stands before its header"
    if not header.intact:
        return "edited by hand, or merged"
    if header.format != FORMAT:
        return f"written in format {header.format}, and this version of qten-gen writes {FORMAT}"
    told: list[str] = []
    if module.old is not None and module.new is not None and module.path.endswith(".py"):
        told += _differences(module.old, module.new)
    shown = told[:_MOST] + [f"{len(told) - _MOST} more"] * (len(told) > _MOST)
    return "; ".join(shown) or "a signature, an annotation or documentation changed"


def _differences(old: bytes, new: bytes) -> Iterator[str]:
    """In what two texts of a generated module differ: which classes."""
    before, after = _classes(old), _classes(new)
    for name in [*after, *(name for name in before if name not in after)]:
        shown = name.removeprefix("_").removesuffix("_")
        if name not in before or name not in after:
            yield f"class {shown} {'added' if name in after else 'removed'}"
        elif before[name] != after[name]:
            yield f"class {shown} changed"


def _classes(text: bytes) -> dict[str, str]:
    """The texts of the classes by name, each with what follows it."""
    parts = re.split(r"(?m)^class (\w+)", text.decode())
    return dict(zip(parts[1::2], parts[2::2], strict=True))
