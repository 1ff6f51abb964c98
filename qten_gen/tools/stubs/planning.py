"""From the modules that were asked for to the texts of all stubs."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate

from ...common.header import FORMAT, with_header
from ...common.suggestions import nearest
from ...project.libraries import Installed
from .copying import ANY, ModuleClasses, copied
from .library_modules import Sources, Unreadable

_COMMAND = "qten-gen stubs"

_SHARED = "qten_gen_module_types"
"""The stub that the others import as `_types`. It exists for type checkers only."""

_IMPORTS = f"from typing import ClassVar as _ClassVar, Generic as _Generic\n\nimport {_SHARED} as _types"

_DIRECTIVES = """\
# ruff: noqa
# fmt: off
# isort: skip_file
# mypy: ignore-errors
# pyright: basic
# ty: ignore
# pyrefly: ignore-errors
"""


@dataclass(frozen=True, slots=True)
class Stubs:
    """The texts of stubs by their path below the folder of stubs, and what is wrong; without texts if anything is.

    A library that is not installed is wrong too, and stops no other.
    """

    texts: dict[str, str]
    problems: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    """The messages about libraries that are not installed."""
    libraries: tuple[str, ...] = ()
    """The libraries with their versions: `torch 2.13.0`."""


def plan(modules: Sequence[str], installed: Installed, *, exact_none: bool = False) -> Stubs:
    """The stubs for modules of libraries and all modules in them. It does not raise: all that is wrong is listed.

    With `exact_none`, a bias that an argument switches off is `Parameter | None`, which has to be checked before each use.
    """
    from ...generate.templates import rendered

    sources = Sources(installed)
    tops = dict.fromkeys(top for module in modules if (top := module.partition(".")[0]).isidentifier())
    absent = [top for top in tops if installed.find(top) is None]
    modules = [module for module in modules if module.partition(".")[0] not in absent]
    files = {file.name: file for module in modules for file in installed.below(module)}
    problems = [problem for module in modules for problem in _missing(module, installed)]
    for name in [*files]:  # and the packages around, which checkers look for beside them
        for package in accumulate(name.split(".")[:-1], "{}.{}".format):
            file = installed.find(package)
            if file is not None:
                files.setdefault(package, file)
    classes = ModuleClasses(sources, "None" if exact_none else ANY)
    texts: dict[str, str] = {}
    versions: dict[str, str] = {}
    for file in sorted(files.values(), key=lambda file: file.name):
        try:
            body = _text(copied(sources.of(file), files.keys(), classes))
        except Unreadable as error:
            problems.append(str(error))
            continue
        top = file.name.partition(".")[0]
        version = versions.setdefault(top, installed.version(file.name))
        path = f"{file.name.replace('.', '/')}{'/__init__' if file.is_package else ''}.pyi"
        texts[path] = with_header(f"{file.shown} of {' '.join(filter(None, (top, version)))}", FORMAT, body, _COMMAND)
    shared = _DIRECTIVES + rendered("library_types.pyi.j2")
    texts[f"{_SHARED}.pyi"] = with_header("qten-gen", FORMAT, shared, _COMMAND)
    libraries = tuple(" ".join(filter(None, item)) for item in sorted(versions.items()))
    return Stubs(
        texts if modules and not problems else {},
        tuple(dict.fromkeys(problems)),
        tuple(map(_ABSENT.format, absent)),
        libraries,
    )


_ABSENT = "{} is not installed where qten-gen runs; install it, or run qten-gen where it is"


def _missing(module: str, installed: Installed) -> Iterable[str]:
    """The problem with a name that was asked for."""
    if installed.find(module) is not None:
        return
    parts = module.split(".")
    if not all(part.isidentifier() for part in parts):
        yield f"{module!r} is not the name of a module; expected one such as torch.nn"
        return
    known = next(n for n in range(len(parts) - 1, 0, -1) if installed.find(".".join(parts[:n])))
    package = ".".join(parts[:known])
    if installed.has(f"{package}.{parts[known]}"):
        yield f"{module} has neither a source nor a stub that could be read; it is compiled, or a folder without __init__.py"
        return
    inner = [file.name.rpartition(".")[2] for file in installed.children(package)]
    close = nearest(parts[known], inner)
    yield f"{package} has no module {parts[known]}{f'; did you mean {package}.{close}?' if close else ''}"


def _text(body: list[ast.stmt]) -> str:
    """The text of a stub without its header. Imports of the shared stub stand below one of the future."""
    text = ast.unparse(ast.Module(body, []))
    future = "from __future__ import annotations\n"
    start = future if text.startswith(future) else ""
    imports = f"{_IMPORTS}\n" if "_types." in text else ""
    return f"{_DIRECTIVES}\n{start}{imports}{text.removeprefix(start)}\n" if text else _DIRECTIVES
