"""The command `qten-gen show pkg.model:Batch`: a declaration as it is understood, where each part comes from, and its text."""

from __future__ import annotations

import os
from typing import NamedTuple, TextIO

from ..common.records import replace
from ..common.suggestions import did_you_mean
from ..generate.description import Plain, describe, field_details, lines_of, one_line
from ..generate.plan import plan
from ..generate.render import render_python
from ..generate.render_stub import render_stub
from ..model import Declaration, FileDecl
from ..model.diagnostics import Diagnostic
from ..project.config import Settings
from ..project.files import discover
from ..project.stale import ProjectState, project_state
from ..report import report
from ..report.concise import BOLD, CYAN, painted, visible
from ..run.reading import open_readings
from . import DONE, FOUND
from .misuse import UsageError
from .options import ShowOptions

_VERSION = 1
"""That of the JSON document. It is raised when a key is removed or changes its meaning, but not for a new key."""


class _Found(NamedTuple):
    """The file of a target, with its declarations and what is wrong with it."""

    path: str
    file: FileDecl | None
    diagnostics: tuple[Diagnostic, ...]
    state: ProjectState


def show(options: ShowOptions, out: TextIO, err: TextIO) -> int:
    """Show what a target declares, and return the exit status.

    Raises:
        PathError: The path of the target is not a Python source.
        ConfigError: The settings of the project cannot be used.
        UsageError: The target does not exist.
    """
    module, _, name = options.target.rpartition(":")
    if not (module and name.isidentifier()):  # the colon of a drive, C:\model.py, or none at all
        module, name = options.target, ""
    found = _find(module)
    chosen = _chosen(found, name)
    described = [_described(item, found) for item in chosen]
    broken = any(item.is_error for item in found.diagnostics)
    if options.json:
        from json import dumps

        out.write(dumps({"version": _VERSION, "classes": described}, indent=2, ensure_ascii=False) + "\n")
    else:
        color = options.color.enabled(out)
        out.write("\n".join(_text(item, broken, color) for item in described))
    if found.diagnostics:
        err.write(report("full", found.diagnostics))
    return FOUND if broken else DONE


def _find(module: str) -> _Found:
    """Read and link the file of a module, given by its name or its path.

    Raises:
        UsageError: There is none.
        PathError: The path is not a Python source.
        ConfigError: The settings of the project cannot be used.
    """
    settings = Settings()
    is_path = module.endswith(".py") or os.sep in module
    config = settings.of(module if is_path else ".")
    files = discover([module if is_path else config.root or "."], config, settings)
    state = project_state(files, os.path.abspath(config.root or "."), config, open_readings)
    if is_path:
        path = next(item for item, source in state.files.sources.items() if os.path.samefile(item, module))
    else:
        modules = {source.origin.module: item for item, source in state.files.sources.items() if not source.outside}
        if module not in modules:
            declaring = [name for name, item in modules.items() if item in state.graph.relevant]
            head, _, tail = module.rpartition(".")
            known = [f"{head}:{tail}"] if head in declaring else declaring
            advice = did_you_mean(module, known, "a target is pkg.model:Batch or src/pkg/model.py:Batch")
            raise UsageError(f"there is no module {module} in this project; {advice}")
        path = modules[module]
    readings = open_readings(state.graph)
    planned = plan(readings.sources, {}, [path], state.graph, readings)
    return _Found(path, planned.linked.get(path), planned.diagnostics, state)


def _chosen(found: _Found, name: str) -> list[Declaration]:
    """The declarations to show.

    Raises:
        UsageError: The file has none, or none of that name.
    """
    declarations = [] if found.file is None else list(found.file.declarations)
    chosen = [item for item in declarations if name in ("", item.name)]
    if not chosen and declarations:
        known = [item.name for item in declarations]
        advice = did_you_mean(name, known, f"it declares {', '.join(known)}")
        raise UsageError(f"{found.path} declares no {name}; {advice}")
    if not chosen and not found.diagnostics:
        raise UsageError(f"{found.path} has no declarations")
    return chosen


def _described(declaration: Declaration, found: _Found) -> dict[str, Plain]:
    """A declaration with the places that its parts come from, and the texts that are generated for it."""
    described = describe(declaration)
    modules = {origin.module: path for path, origin in found.state.graph.origins.items()}
    owners = [modules.get(field.owner.rpartition(".")[0], "") for field in declaration.fields]
    places = [(found.path, declaration.place), *zip(owners, (field.place for field in declaration.fields), strict=True)]
    lines = lines_of(places, open_readings(found.state.graph).sources)
    described |= {"path": found.path, "line": lines[0]}
    fields, bases = described["fields"], described["bases"]
    assert isinstance(fields, list) and isinstance(bases, list)
    for field, path, line in zip(fields, owners, lines[1:], strict=True):
        assert isinstance(field, dict)
        field |= {"path": path, "line": line}
    for base in bases:
        assert isinstance(base, dict)
        base["path"] = modules.get(str(base["name"]).rpartition(".")[0])
    assert found.file is not None
    if not any(item.is_error for item in found.diagnostics):
        alone = replace(found.file, declarations=(declaration,))
        described |= {"python": render_python(alone), "stub": render_stub(alone, found.state.graph.stubs)}
    return described


def _text(described: dict[str, Plain], broken: bool, color: bool) -> str:
    """A declaration for people."""
    name, bases, fields = described["name"], described["bases"], described["fields"]
    assert isinstance(bases, list) and isinstance(fields, list)
    names = ", ".join(str(base["name"]) for base in bases if isinstance(base, dict))
    rows = [
        f"{painted(f'class {name}', BOLD, color)} ({visible(names)}), a {described['kind']}",
        f"  declared at {visible(str(described['path']))}:{described['line']}",
    ]
    for key, value in described.items():
        if value and key not in _SHOWN_APART:
            rows.append(f"  {key.replace('_', ' ')}: {visible(one_line(value))}")
    rows += ["", painted("fields", CYAN, color)]
    width = max([len(str(field["name"])) for field in fields if isinstance(field, dict)] or [0])
    for field in fields:
        assert isinstance(field, dict)
        rows.append(f"  {field['name']!s:{width}}  {_field(field, str(described['module']), str(described['name']))}")
    python = described.get("python")
    rows += ["", painted("generated", CYAN, color), "", *str(python).rstrip().splitlines()] if python else []
    return "\n".join(rows if python or not broken else [*rows, "", "not generated, because of errors"]) + "\n"


_SHOWN_APART = {"name", "module", "kind", "bases", "doc", "path", "line", "fields", "python", "stub"}


def _field(field: dict[str, Plain], module: str, cls: str) -> str:
    """A field in one line: what it is, and where it comes from."""
    inherited = "" if field["owner"] == f"{module}.{cls}" else f", inherited from {field['owner']}"
    where = f"{field['path']}:{field['line']}" if field["line"] else "line not known"
    return visible(f"{field_details(field)}  ({where}{inherited})")
