"""The command `qten-gen show pkg.model:Batch`, which prints the code that is generated for a class. It writes nothing."""

from __future__ import annotations

import os
from typing import TextIO

from ..common.records import replace
from ..common.suggestions import did_you_mean
from ..generate.plan import Plan, plan
from ..generate.render import render_python
from ..project.config import config_of
from ..project.files import discover
from ..project.stale import ProjectState, project_state
from ..report import report
from ..run.run import open_readings
from . import DONE, FOUND
from .options import Options, UsageError


def show(options: Options, out: TextIO, err: TextIO) -> int:
    """Print the generated code of a class, or of all classes of a file, and return the exit status.

    Raises:
        PathError: The path of the target is not a Python source.
        ConfigError: The settings of the project cannot be used.
        UsageError: The target does not exist.
    """
    module, _, name = options.target.rpartition(":")
    if not (module and name.isidentifier()):  # the colon of a drive, C:\model.py, or none at all
        module, name = options.target, ""
    path, planned = _planned(module)
    file = planned.linked.get(path)
    declarations = () if file is None else file.declarations
    chosen = [item for item in declarations if name in ("", item.name)]
    if not chosen and declarations:
        known = [item.name for item in declarations]
        advice = did_you_mean(name, known, f"it declares {', '.join(known)}")
        raise UsageError(f"{path} declares no {name}; {advice}")
    if not chosen and not planned.diagnostics:
        raise UsageError(f"{path} has no declarations")
    if planned.diagnostics:
        err.write(report("full", planned.diagnostics))
    if any(item.is_error for item in planned.diagnostics):
        return FOUND
    assert file is not None
    out.write(render_python(replace(file, declarations=tuple(chosen))))
    return DONE


def _planned(module: str) -> tuple[str, Plan]:
    """The path of a module, given by its name or its path, and the plan for it."""
    is_path = module.endswith(".py") or os.sep in module
    config = config_of(module if is_path else ".")
    files = discover([module if is_path else config.root], config)
    state = project_state(files, config.root, config)
    path = _path(module, is_path, state)
    readings = open_readings(state)
    return path, plan(readings.sources, {}, [path], state.graph, readings)


def _path(module: str, is_path: bool, state: ProjectState) -> str:
    """The file of a module, given by its name or its path.

    Raises:
        UsageError: There is none.
    """
    sources = state.files.sources
    if is_path:
        return next(path for path in sources if os.path.samefile(path, module))
    modules = {source.origin.module: path for path, source in sources.items() if not source.outside}
    if module not in modules:
        declaring = [name for name, path in modules.items() if path in state.graph.relevant]
        head, _, tail = module.rpartition(".")
        known = [f"{head}:{tail}"] if head in declaring else declaring
        advice = did_you_mean(module, known, "a target is pkg.model:Batch or src/pkg/model.py:Batch")
        raise UsageError(f"there is no module {module} in this project; {advice}")
    return modules[module]
