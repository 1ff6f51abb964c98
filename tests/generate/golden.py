"""What the generator makes of each folder in `tests/golden`, whose README says how to add one.

    python -m tests.generate.golden

writes it into the folders. Digests are left out: they change with the format number alone.
"""

from __future__ import annotations

import re
from pathlib import Path

from qten_gen.generate.plan import plan
from qten_gen.report.concise import full
from tests.generated_sources import GOLDEN

FOLDERS = sorted({path.parent for path in GOLDEN.glob("*/*.py")})


def expected(folder: Path) -> dict[str, str]:
    """The generated files by name, such as `model_qten.py.txt`, and in `printed.txt` what a run prints."""
    made = plan({f"{folder.name}/{path.name}": path.read_bytes() for path in sorted(folder.glob("*.py"))}, {})
    files = {f"{Path(path).name}.txt": without_digests(text) for path, text in made.outputs.items() if text}
    if made.diagnostics:
        files["printed.txt"] = full(made.diagnostics)
    assert not made.crashes, made.crashes
    return files


def without_digests(text: str) -> str:
    """The text of a generated file without its format number, the digest of its body, and fingerprints."""
    text = re.sub(
        r"^# qten-gen: format=\d+ body=\w+$", "# qten-gen: format=* body=*", text, count=1, flags=re.MULTILINE
    )
    return re.sub(r'^(    _fingerprint = )"\w+"$', r'\1"*"', text, flags=re.MULTILINE)


def main() -> None:
    """Write what is expected from now on."""
    for path in GOLDEN.glob("*/*.txt"):
        path.unlink()
    for folder in FOLDERS:
        for name, text in expected(folder).items():
            (folder / name).write_text(text)


if __name__ == "__main__":
    main()
