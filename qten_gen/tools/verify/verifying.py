"""`verify`: builds a class as it was and as it is, each in a process of its own, and compares them."""

from __future__ import annotations

import dataclasses
import io
import os
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import torch

from ..inspect.request import InspectionError as InspectionError
from .comparing import compare
from .model_record import Difference, Record
from .worker import Result, Task, search_path


@dataclass(frozen=True, slots=True)
class VerifyRequest:
    """The class to compare with its old version. All values are text as the user wrote it, as for `qten-gen inspect`."""

    target: str
    """Where the class is, or a function that makes a module: `pkg.model:Decoder`."""
    config: tuple[str, ...] = ()
    """Arguments of its constructor: `("depth=48", "dim=8192")`."""
    inputs: tuple[str, ...] | None = None
    """The inputs to run forward with: `("tokens: Int[4,2048]",)`; None for no run, empty for a forward without inputs."""
    against: str = "HEAD"
    """The revision of git with the old code."""
    old: str | None = None
    """The folder with the old code, laid out as the current one; instead of a revision."""
    seed: int = 0
    import_roots: tuple[str, ...] = ()
    """Folders to import from, beside `sys.path`, relative to the current folder."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict of a comparison."""

    target: str
    differences: tuple[Difference, ...]
    tensors: int
    """How many tensors the model holds."""
    ran: bool
    """Whether forward ran."""
    failure: str | None
    """The error that forward raised in both; None if it ran, or was not asked for."""
    unwritten: tuple[str, ...]
    """Tensors whose memory the constructor does not write."""

    @property
    def is_equal(self) -> bool:
        """Whether nothing differs but what is worth a note, and forward ran if it was asked for."""
        return all(each.is_note for each in self.differences) and self.failure is None


def verify(request: VerifyRequest) -> Verdict:
    """Compare a model with its old version.

    Raises:
        InspectionError: the request is wrong, or one of the models cannot be built.
    """
    here = Path.cwd().resolve()
    with old_folder(request) as folder, TemporaryDirectory(prefix="qten-gen-") as scratch:
        task = Task(
            target=request.target,
            config=request.config,
            inputs=request.inputs,
            seed=request.seed,
            roots=search_path(str(here), _relative(request.import_roots, here)),
            inputs_file=os.path.join(scratch, "inputs"),
            is_first=True,
        )
        new = _record_of(task, here, scratch, "new")
        before = search_path(str(folder), _relative(request.import_roots, here))
        old = _record_of(
            dataclasses.replace(task, roots=(*before, *task.roots), is_first=False), folder, scratch, "old"
        )
        _refuse_new_classes(old, new, folder)
    calls = [call.outputs.get("error") for call in new.calls.values()]
    failure = next((error for error in calls if isinstance(error, str)), None)
    return Verdict(request.target, compare(old, new), len(new.state), bool(new.calls), failure, new.unwritten)


def _relative(roots: tuple[str, ...], here: Path) -> tuple[str, ...]:
    return tuple(os.path.relpath(root, here) for root in roots)


def _record_of(task: Task, folder: Path, scratch: str, which: str) -> Record:
    """The record of a process of its own.

    Raises:
        InspectionError: it found out why there is no record, or it died.
    """
    given, output = os.path.join(scratch, f"{which}.task"), os.path.join(scratch, which)
    torch.save(task, given)
    package = str(Path(__file__).resolve().parents[2])
    code = f"import sys; sys.path.append({package!r}); from qten_gen.tools.verify.worker import main; main()"
    process = subprocess.run(
        [sys.executable, "-P", "-c", code, given, output],
        stdin=subprocess.DEVNULL,
        stdout=sys.stderr.fileno() if _has_descriptor() else subprocess.DEVNULL,
        stderr=None,
        cwd=folder,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        check=False,
    )
    if not os.path.exists(output):
        raise InspectionError(
            [f"the process of the {which} model ended with status {process.returncode}"], is_misuse=False
        )
    result: Result = torch.load(output, weights_only=False)
    if result.record is None:
        problems = [f"{which} code: {problem}" for problem in result.problems]
        raise InspectionError(problems, trace=result.trace, is_misuse=result.is_misuse)
    return result.record


def _has_descriptor() -> bool:
    try:
        sys.stderr.fileno()
    except (OSError, ValueError, AttributeError):
        return False
    return True


def _refuse_new_classes(old: Record, new: Record, folder: Path) -> None:
    """Refuse an old model with a class of the new code, which an installed package can bring in.

    Raises:
        InspectionError: there is one.
    """
    own = [home for home in new.homes if home and not Path(home).resolve().is_relative_to(folder)]
    shared = sorted({*own} & {*old.homes})
    users = [home for home in shared if "site-packages" not in Path(home).parts and not _is_ours(home)]
    if users:
        raise InspectionError(
            [
                f"the old model has classes of {users[0]}, which is not in {folder}: add the folder that it is imported from to"
                " import-roots, or name the old code with --old"
            ]
        )


def _is_ours(home: str) -> bool:
    package = Path(__file__).resolve().parents[1]
    return Path(home).resolve().is_relative_to(package) or Path(home).resolve().is_relative_to(
        Path(torch.__file__).parent
    )


@contextmanager
def old_folder(request: VerifyRequest) -> Iterator[Path]:
    """The folder of the old code in place of the current one. A folder with a revision of git is removed afterwards.

    Raises:
        InspectionError: there is no such folder or revision.
    """
    if request.old is not None:
        path = Path(request.old).resolve()
        if not path.is_dir():
            raise InspectionError([f"--old {request.old}: there is no such folder"])
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
            raise InspectionError([f"--against {request.against}: that revision has no folder {prefix}"])
        yield path


def _export(top: str, revision: str, folder: str) -> None:
    """Write the files of a revision into a folder."""
    done = subprocess.run(["git", "-C", top, "archive", "--format=tar", revision], capture_output=True, check=False)
    if done.returncode:
        raise InspectionError([f"git archive {revision}: {done.stderr.decode(errors='replace').strip()}"])
    with tarfile.open(fileobj=io.BytesIO(done.stdout)) as archive:
        archive.extractall(folder, filter="data")


def _git(*arguments: str, what: str = "--verify") -> str:
    """The answer of git in the current folder."""
    try:
        done = subprocess.run(["git", *arguments], capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise InspectionError(["git is not installed: name the folder of the old code with --old PATH"]) from None
    if done.returncode:
        said = done.stderr.strip().removeprefix("fatal: ").splitlines()
        advice = "name a revision with --against, or the folder of the old code with --old"
        raise InspectionError([f"{what}: git says: {said[0] if said else 'nothing'}; {advice}"])
    return done.stdout.strip()


_OF_NO_TENSOR = {"constructor", "config", "tree", "attributes", "random numbers drawn"}
"""The kinds of differences that leave all tensors equal."""


def lines(verdict: Verdict, *, took: float | None = None) -> Iterator[str]:
    """The lines of a verdict."""
    for difference in verdict.differences:
        where = f" {difference.where}" if difference.where else ""
        more = f" (and {difference.more} more)" if difference.more else ""
        what = f"note: different {difference.kind}, in **kwargs or lists for tuples alone:"
        yield what if difference.is_note else f"different {difference.kind}:{where}{more}"
        yield f"  old  {difference.old}"
        yield f"  new  {difference.new}"
    for name in verdict.unwritten[:1]:
        more = f" and {len(verdict.unwritten) - 1} more" if len(verdict.unwritten) > 1 else ""
        yield f"note: the constructor does not write the memory of {name}{more}; it was filled with random numbers for forward"
    if verdict.failure is not None:
        yield f"error: forward raised in both: {verdict.failure}"
    elif not verdict.ran:
        yield 'note: outputs and gradients were not compared; pass inputs: --run "x: Float[2, 16, 64]"'
    yield f"{verdict.target}: {_said(verdict)}" + (f" in {took:.2f}s" if took is not None else "")


def _said(verdict: Verdict) -> str:
    """What is equal and what differs, in one line."""
    compared = f"{verdict.tensors} tensors" + (", outputs and gradients" if verdict.ran else "")
    differing = [each.kind for each in verdict.differences if not each.is_note]
    if verdict.failure is not None:
        compared = f"{verdict.tensors} tensors; forward could not be compared"
    if not differing:
        return f"equal ({compared})"
    rest = f"; {compared} are equal" if verdict.failure is None and set(differing) <= _OF_NO_TENSOR else ""
    return f"not equal: different {', '.join(differing)}{rest}"
