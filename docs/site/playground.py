"""Puts into the site what its playground runs: Python for browsers, from npm, and the rooms of the generator in one archive."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING
from zipfile import ZIP_DEFLATED, ZipFile

if TYPE_CHECKING:
    from sphinx.application import Sphinx

SITE = Path(__file__).parent
REPOSITORY = SITE.parents[1]
ENTRY = SITE / "static" / "playground" / "entry.py"

RUNTIME = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json")
"""The files of the npm package that a page needs. `package-lock.json` has its version and digest."""

ROOMS = ("common", "emit", "generate", "link", "model", "project", "read", "report", "rules")
"""What `generate.plan` imports, and no more: no torch, nothing compiled."""

PYGMENTS = r"\w+\.py|(filters|formatters|lexers|styles)/(__init__|_mapping|python|html|default)\.py"
"""What highlights Python as HTML."""


def archive(path: Path) -> None:
    """Write the generator and the libraries that it renders with, as they are imported from a folder."""
    package = REPOSITORY / "qten_gen"
    files = {"entry.py": ENTRY, "qten_gen/__init__.py": package / "__init__.py"}
    for room in ROOMS:
        files |= modules(package / room, rf"{room}/.*\.py")
    files |= {f"qten_gen/templates/{file.name}": file for file in (REPOSITORY / "templates").glob("*.j2")}
    for library, names in {"jinja2": r".*\.py", "markupsafe": r".*\.py", "pygments": PYGMENTS}.items():
        files |= modules(Path(import_module(library).__path__[0]), names)
    with ZipFile(path, "w", ZIP_DEFLATED) as written:
        for name, file in sorted(files.items()):
            written.write(file, name)


def modules(folder: Path, names: str) -> dict[str, Path]:
    """The files below the package of `folder` that have such names in it, by their names in the archive."""
    package = folder.parent if folder.parent.name == "qten_gen" else folder
    found = {file.relative_to(package).as_posix(): file for file in folder.rglob("*.py")}
    return {f"{package.name}/{name}": file for name, file in found.items() if re.fullmatch(names, name)}


def runtime(folder: Path) -> Path:
    """The folder of Python for browsers, which npm installs below `folder` and checks against the lock.

    Raises:
        RuntimeError: There is no npm, or it cannot install.
    """
    npm = shutil.which("npm")
    if npm is None:
        raise RuntimeError("npm is missing")
    folder.mkdir(parents=True, exist_ok=True)
    lock = (SITE / "package-lock.json").read_bytes()
    kept = folder / "package-lock.json"
    installed = folder / "node_modules" / "pyodide"
    if not installed.is_dir() or kept.read_bytes() != lock:
        for name in ("package.json", "package-lock.json"):
            shutil.copy(SITE / name, folder)
        command = [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
        done = subprocess.run(command, cwd=folder, text=True, capture_output=True, timeout=300)
        if done.returncode:
            raise RuntimeError(f"npm cannot install Pyodide: {done.stderr.strip()}")
    return installed


def write(app: Sphinx, error: Exception | None) -> None:
    """Add the files to the built site, or say why the page has to do without."""
    if error is not None or app.builder.name != "html":
        return
    target = Path(app.outdir) / "_static" / "playground"
    try:
        python = runtime(REPOSITORY / "build" / "playground")
    except (RuntimeError, OSError, subprocess.TimeoutExpired) as reason:
        (target / "files.json").unlink(missing_ok=True)
        print(f"The site is built without its playground: {reason}")
        return
    (target / "pyodide").mkdir(exist_ok=True)
    for name in RUNTIME:
        shutil.copy(python / name, target / "pyodide" / name)
    archive(target / "generator.zip")
    fetched = [target / "generator.zip", *(target / "pyodide" / name for name in RUNTIME if not name.endswith(".mjs"))]
    (target / "files.json").write_text(json.dumps({"bytes": sum(file.stat().st_size for file in fetched)}))


def setup(app: Sphinx) -> None:
    app.connect("build-finished", write)
