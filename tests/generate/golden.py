"""The generated files of `tests/sources`, kept in `tests/golden` so that a change to them shows in a review.

    python -m tests.generate.golden

writes them anew. Digests are left out: they change with the format number alone.
"""

from __future__ import annotations

import re
from pathlib import Path

from tests.generated_sources import REPOSITORY, generated_sources

GOLDEN = REPOSITORY / "tests" / "golden"


def golden_files() -> dict[str, str]:
    """The texts by the path of the golden file, such as `shop/model_qten.py.txt`."""
    folder = generated_sources()
    paths = (path for pattern in ("*_qten.py", "*_qten.pyi") for path in folder.glob(f"*/{pattern}"))
    return {f"{path.relative_to(folder).as_posix()}.txt": without_digests(path) for path in paths}


def without_digests(path: Path) -> str:
    """The text of a generated file without its format number, the digest of its body, and fingerprints."""
    text = path.read_text()
    text = re.sub(
        r"^# qten-gen: format=\d+ body=\w+$", "# qten-gen: format=* body=*", text, count=1, flags=re.MULTILINE
    )
    return re.sub(r'^(    _fingerprint = )"\w+"$', r'\1"*"', text, flags=re.MULTILINE)


def main() -> None:
    """Replace the golden files by what is generated now."""
    wanted = golden_files()
    for path in GOLDEN.glob("*/*.txt"):
        if path.relative_to(GOLDEN).as_posix() not in wanted:
            path.unlink()
    for name, text in wanted.items():
        (GOLDEN / name).parent.mkdir(parents=True, exist_ok=True)
        (GOLDEN / name).write_text(text)


if __name__ == "__main__":
    main()
