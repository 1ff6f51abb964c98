"""The command `qten-gen doctor`, which shows what qten-gen finds around a project, and what is wrong there. It writes nothing."""

from __future__ import annotations

import json
import os
import platform
import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import Distribution, distributions
from typing import Literal, NamedTuple, TextIO

from .. import __version__
from ..project import shape_package
from ..project.config import Config, Settings, source_paths
from ..project.distributions import search_path
from ..project.files import ProjectFiles, discover
from ..project.generator_state import PACKAGE
from ..project.paths import display_path
from ..project.stale import project_state
from ..report.concise import GREEN, RED, YELLOW, painted
from . import DONE, FOUND
from .options import Color, DoctorOptions
from .summary import count

_OLDEST_TORCH = (2, 6)
_CHECKERS = ("mypy", "pyright", "basedpyright", "pyrefly", "ty")
_STYLES = {"ok": GREEN, "note": YELLOW, "problem": RED}


class _Finding(NamedTuple):
    """A finding about one subject."""

    level: Literal["ok", "note", "problem"]
    subject: str
    message: str
    help: str = ""


def doctor(options: DoctorOptions, out: TextIO) -> int:
    """Print what is found, and return 1 if something has to be mended.

    Raises:
        PathError: A path of the settings cannot be used.
        ConfigError: The settings of the project cannot be used.
    """
    settings = Settings()
    config = settings.of(".")
    found = [*_findings(config, discover(source_paths(config) or [config.root or "."], config, settings))]
    if options.json:
        document = {"version": 1, "findings": [item._asdict() for item in found]}
        out.write(json.dumps(document, indent=2, ensure_ascii=False) + "\n")
    else:
        color = Color.AUTO.enabled(out)
        out.writelines(_line(item, color) for item in found)
    return FOUND if any(item.level == "problem" for item in found) else DONE


def _line(item: _Finding, color: bool) -> str:
    level = painted(f"{item.level:7}", _STYLES[item.level], color)
    help = f"\n{'':9}help: {item.help}" if item.help else ""
    return f"{level}  {item.subject}: {item.message}{help}\n"


def _findings(config: Config, files: ProjectFiles) -> Iterator[_Finding]:
    """All findings, those about the environment first."""
    environment = None if config.environment is None else os.path.join(config.root or "", config.environment)
    sites, _ = search_path(environment)
    installed = _installed(sites)
    yield _python(environment)
    yield _torch(installed)
    yield from _itself(installed, sites)
    yield _checkers(installed)
    if config.shapes is not None and shape_package.NAME not in installed:
        help = f"python -m pip install {shape_package.NAME}: without it, mypy takes classes with shapes for Any"
        yield _Finding("problem", "shapes", "the stubs import a package that is not installed", help)
    yield from _project(config, files)
    policy = os.environ.get("QTEN_GEN_JIT", "on")
    if policy not in ("on", "off"):
        yield _Finding("problem", "QTEN_GEN_JIT", f"{policy!r} is not known", "set it to on or off")
    elif policy == "off":
        yield _Finding("note", "QTEN_GEN_JIT", "off: a class without fresh generated code is an error")


def _installed(sites: Sequence[str]) -> dict[str, Distribution]:
    """The distributions in an environment by name; of several with the same name the first, as for Python."""
    found: dict[str, Distribution] = {}
    for item in distributions(path=list(sites)):
        name = item.metadata["Name"]
        if name:
            found.setdefault(name.lower().replace("_", "-"), item)
    return found


def _python(environment: str | None) -> _Finding:
    """The interpreter that reads the sources, and the environment of the settings."""
    told = f"{platform.python_version()} ({sys.executable})"
    if environment is None:
        return _Finding("ok", "Python", told)
    return _Finding("ok", "Python", f"{told}; libraries are looked for in {display_path(os.path.abspath(environment))}")


def _torch(installed: Mapping[str, Distribution]) -> _Finding:
    """The version of torch, which is not imported for that."""
    found = installed.get("torch")
    if found is None:
        help = "install torch, or name the environment in [tool.qten-gen]: generating works without it, programs do not"
        return _Finding("note", "torch", "not installed", help)
    numbers = tuple(int(part) for part in found.version.split("+")[0].split(".")[:2] if part.isdecimal())
    if numbers < _OLDEST_TORCH:
        return _Finding("problem", "torch", f"{found.version} is too old", "install torch 2.6 or a newer one")
    return _Finding("ok", "torch", found.version)


def _itself(installed: Mapping[str, Distribution], sites: Sequence[str]) -> Iterator[_Finding]:
    """How qten-gen is installed, and whether checkers find the types that go with it."""
    found = installed.get("qten-gen")
    package = display_path(PACKAGE)
    if found is None:
        yield _Finding("note", "qten-gen", f"{__version__} in {package}, not installed in this environment")
    elif found.version != __version__:
        help = "run the command of the same environment: python -m qten_gen"
        yield _Finding("problem", "qten-gen", f"{__version__} runs, and {found.version} is installed", help)
    else:
        url = json.loads(found.read_text("direct_url.json") or "{}")
        editable = bool(url.get("dir_info", {}).get("editable"))
        yield _Finding("ok", "qten-gen", f"{__version__}{', editable,' if editable else ''} in {package}")
    stubs = [site for site in sites if os.path.isdir(os.path.join(site, "qten_gen_typing"))]
    beside = os.path.join(os.path.dirname(PACKAGE), "stubs", "qten_gen_typing")
    places = [*stubs, *([os.path.dirname(beside)] if os.path.isdir(beside) else [])]
    if len(places) > 1:
        message = f"found {len(places)} times: {', '.join(map(display_path, places))}"
        yield _Finding("problem", "qten_gen_typing", message, "uninstall qten-gen, and install it once")


def _checkers(installed: Mapping[str, Distribution]) -> _Finding:
    """The type checkers of the environment, and those on the path."""
    from shutil import which

    told = [f"{name} {installed[name].version}" for name in _CHECKERS if name in installed]
    others = ((name, which(name)) for name in _CHECKERS if name not in installed)
    told += [f"{name} ({path})" for name, path in others if path is not None]
    return _Finding("ok", "type checkers", ", ".join(told)) if told else _Finding("note", "type checkers", "none found")


def _project(config: Config, files: ProjectFiles) -> Iterator[_Finding]:
    """The settings, how many files declare something, and hand-written stubs that hide a declaration."""
    state = project_state(files, os.path.abspath(config.root or "."), config)
    targets = sorted(path for path in state.graph.relevant if files.sources.get(path) and files.sources[path].target)
    where = f"settings in {display_path(config.path)}" if config.path else "no section [tool.qten-gen]"
    yield _Finding(
        "ok", "project", f"{display_path(config.root or '.')}, {where}, {count(len(targets), 'file')} may declare"
    )
    for path in targets:
        stub = f"{path}i"
        if os.path.exists(stub):
            help = f"remove it: type checkers read it instead of {path}, and do not check that file"
            yield _Finding("problem", "stub", f"{stub} stands beside a file with declarations", help)
    for failure in state.failures:
        yield _Finding("problem", "file", f"{failure.path}: {failure.problem}")
    for path in files.leftovers:
        yield _Finding("note", "file", f"{path} was left by a run that was interrupted", "the next run removes it")
