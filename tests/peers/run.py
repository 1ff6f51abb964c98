"""Run tensordict's tests of its tensorclass with classes of this project, and say what passes: `make peers CHECKOUT=path`.

The path is that of a checkout of https://github.com/pytorch/tensordict. Only tests count that pass as they are, with the
tensordict that is installed.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from collections import Counter
from pathlib import Path

from . import modules
from .reasons import Reason, reason
from .rewritten import rewritten

REPOSITORY = Path(__file__).parents[2]
SUITE = Path("test", "tensorclass", "test_tensorclass.py")


def main(checkout: Path) -> None:
    """Print what `docs/evidence.md` sums up, and the tests that nobody has looked at."""
    source = re.sub(r'pytest\.mark\.filterwarnings\("error"\),', "", (checkout / SUITE).read_text(encoding="utf-8"))
    theirs = results(checkout, source)
    ours = results(checkout, rewritten(source))
    counted = [test for test, error in theirs.items() if error is None and test in ours]
    reasons: Counter[Reason] = Counter()
    unknown: list[str] = []
    for test in counted:
        error = ours[test]
        if error is not None:
            found = reason(test, error)
            if found is None:
                unknown.append(f"{test}: {error}")
            else:
                reasons[found] += 1
    print("| result | tests | what they are about |\n|---|---|---|")
    print(f"| pass | {sum(ours[test] is None for test in counted)} | |")
    for one, count in sorted(reasons.items(), key=lambda item: (item[0].verdict, -item[1])):
        print(f"| {one.verdict} | {count} | {one.text} |")
    print(*unknown, sep="\n", file=sys.stderr)


def results(checkout: Path, source: str) -> dict[str, str | None]:
    """What each test of a file says: None where it passes, else the beginning of its error. Skipped tests are left out."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.xml")
        Path(folder, SUITE.name).write_text(source, encoding="utf-8")
        paths = os.pathsep.join([str(REPOSITORY), str(checkout / "test")])
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", os.devnull]
        command += ["--rootdir", folder, "--junitxml", str(report), folder]
        subprocess.run(
            command, cwd=folder, env=os.environ | {"PYTHONPATH": paths}, stdout=subprocess.DEVNULL, check=False
        )
        return {
            f"{case.get('classname', '').rpartition('.')[2]}::{case.get('name')}": _error(case)
            for case in ElementTree.parse(report).getroot().iter("testcase")
            if case.find("skipped") is None
        }


def _error(case: ElementTree.Element) -> str | None:
    for kind in ("failure", "error"):
        found = case.find(kind)
        if found is not None:
            return " ".join(found.get("message", "").split())[:300] or kind
    return None


if __name__ == "__main__":
    given = Path(sys.argv[1])
    if modules.is_here(given):
        sys.exit(modules.run(given))
    main(given)
