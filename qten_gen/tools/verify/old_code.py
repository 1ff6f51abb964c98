"""The code as it was: a folder with the files of a revision of git, or one that the user names."""

from __future__ import annotations

import io
import subprocess
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from .request import VerifyError, VerifyRequest


@contextmanager
def old_folder(request: VerifyRequest) -> Iterator[Path]:
    """What stands for the current folder in the old code. A folder with a revision of git is removed afterwards.

    Raises:
        VerifyError: there is no such folder or revision.
    """
    if request.old is not None:
        path = Path(request.old).resolve()
        if not path.is_dir():
            raise VerifyError(f"--old {request.old}: there is no such folder")
        yield path
        return
    top, prefix = _git("rev-parse", "--show-toplevel"), _git("rev-parse", "--show-prefix")
    revision = _git(
        "rev-parse",
        "--verify",
        "--end-of-options",
        f"{request.against}^{{commit}}",
        what=f"--against {request.against}",
    )
    with TemporaryDirectory(prefix="qten-gen-") as folder:
        _export(top, revision, folder)
        path = Path(folder).resolve() / prefix
        if not path.is_dir():
            raise VerifyError(f"--against {request.against}: that revision has no folder {prefix}")
        yield path


def _export(top: str, revision: str, folder: str) -> None:
    """Write the files of a revision into a folder."""
    done = subprocess.run(["git", "-C", top, "archive", "--format=tar", revision], capture_output=True, check=False)
    if done.returncode:
        raise VerifyError(f"git archive {revision}: {done.stderr.decode(errors='replace').strip()}")
    with tarfile.open(fileobj=io.BytesIO(done.stdout)) as archive:
        archive.extractall(folder, filter="data")


def _git(*arguments: str, what: str = "--verify") -> str:
    """What git answers, in the current folder."""
    try:
        done = subprocess.run(["git", *arguments], capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise VerifyError("git is not installed: name the folder of the old code with --old PATH") from None
    if done.returncode:
        said = done.stderr.strip().removeprefix("fatal: ").splitlines()
        advice = "name a revision with --against, or the folder of the old code with --old"
        raise VerifyError(f"{what}: git says: {said[0] if said else 'nothing'}; {advice}")
    return done.stdout.strip()
