"""The packages in `tests/golden` with their generated files, to be imported and checked.

    python -m tests.generated_sources

writes them, and prints the folder.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from filelock import FileLock

from qten_gen.cli.command import main

REPOSITORY = Path(__file__).parents[1]
GOLDEN = REPOSITORY / "tests" / "golden"
FOLDER = REPOSITORY / "build" / "sources"
"""Always the same, so that the caches of type checkers serve the next run."""


def generated_sources() -> Path:
    """The folder, with each package as it is now. Files that are as before keep their times."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with FileLock(FOLDER.with_suffix(".lock")):
        packages = [path.parent for path in GOLDEN.glob("*/__init__.py")]
        wanted = {path.relative_to(GOLDEN): path.read_bytes() for folder in packages for path in folder.glob("*.py")}
        wanted[Path("pyproject.toml")] = b'[tool.qten-gen]\nsrc = ["."]\n'
        for package in FOLDER.iterdir():
            if package.is_dir() and GOLDEN / package.name not in packages and not package.name.startswith("."):
                shutil.rmtree(package)
        for path in FOLDER.glob("*/*.py"):  # the run removes what was generated from it
            if path.relative_to(FOLDER) not in wanted and not path.stem.endswith("_qten"):
                path.unlink()
        for name, data in wanted.items():
            path = FOLDER / name
            if not path.exists() or path.read_bytes() != data:
                path.parent.mkdir(exist_ok=True)
                path.write_bytes(data)
        status = main(["--quiet", str(FOLDER)])
        assert status == 0, f"{FOLDER} cannot be generated"
    return FOLDER


if __name__ == "__main__":
    print(generated_sources())
