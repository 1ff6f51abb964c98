"""Programs in processes of their own, without the seconds that torch takes to import.

A server that has loaded torch, and the parts of torch that many programs import, is started once for each worker of the tests.
Each program runs in a fork of it. So a program finds qten_gen not imported, as in an interpreter of its own.
"""

from __future__ import annotations

import atexit
import json
import multiprocessing
import os
import runpy
import subprocess
import sys
import tempfile
import threading
import traceback
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerContext
from pathlib import Path
from types import ModuleType

PRELOADED = [
    "torch",
    "torch._dynamo",
    "torch.distributed.tensor",
    "torch.distributed.fsdp",
    "torch.distributed.checkpoint",
]
"""`qten-gen inspect` takes 0.7 s where all of these are loaded, and 3.0 s where only torch is."""


@dataclass(frozen=True)
class Done:
    """What a program printed, and its exit status, negative for a signal."""

    returncode: int
    stdout: str
    stderr: str


def environment(**others: str) -> dict[str, str]:
    """The variables of a program that imports the package under test, and others."""
    import qten_gen

    return {**os.environ, "PYTHONPATH": str(Path(qten_gen.__file__).parents[1]), **others}


class FreshProcess:
    """`python ARGUMENTS` while it runs, with what tests use of `subprocess.Popen`.

    Arguments are `-W error` or `-W ignore`, if any, then `-c TEXT`, `-m MODULE` or a path, then those of the program.
    """

    def __init__(
        self, arguments: Sequence[str | Path], cwd: str | Path = ".", env: Mapping[str, str] | None = None
    ) -> None:
        read, write = multiprocessing.Pipe(duplex=False)
        self._errors = tempfile.TemporaryFile("w+", encoding="utf-8")  # noqa: SIM115 # `finish` closes it
        errors = Connection(os.dup(self._errors.fileno()), readable=False)
        self.stdout = os.fdopen(os.dup(read.fileno()), encoding="utf-8")
        read.close()
        environment = {**(os.environ if env is None else env)}
        given = ([*map(str, arguments)], os.path.abspath(cwd), environment, _paths_of_the_interpreter())
        self._process = with_torch().Process(target=_run, args=(*given, write, errors))
        self._process.start()
        write.close()
        errors.close()

    def poll(self) -> int | None:
        """The exit status, None while the program runs."""
        return self._process.exitcode

    def kill(self) -> None:
        """End the program at once, and wait until it has ended."""
        self._process.kill()
        self._process.join()

    def finish(self, timeout: float = 300) -> Done:
        """Wait for the end of the program, which is killed after so many seconds."""
        timer = threading.Timer(timeout, self._process.kill)
        timer.start()
        with self.stdout, self._errors:
            printed = self.stdout.read()
            self._process.join()
            timer.cancel()
            self._errors.seek(0)
            assert self._process.exitcode is not None
            return Done(self._process.exitcode, printed, self._errors.read())


def run(*arguments: str | Path, cwd: str | Path = ".", env: Mapping[str, str] | None = None) -> Done:
    """Run `python ARGUMENTS`, as `FreshProcess` does, until it ends."""
    return FreshProcess(arguments, cwd, env).finish()


def run_in_forks(program: str, uses: Sequence[str]) -> str:
    """What goes wrong where each of some statements runs first after a program: their tracebacks.

    The interpreter is a new one that has imported nothing of torch before, not even torch.compile. Each statement runs in a fork.
    """
    forks = f"""
import os, sys, traceback
for use in {[*uses]!r}:
    child = os.fork()
    if child == 0:
        try:
            exec(use, globals())
        except BaseException:
            print(use, traceback.format_exc(), file=sys.stderr, flush=True)
        os._exit(0)
    os.waitpid(child, 0)
"""
    command = [sys.executable, "-W", "ignore", "-c", program + forks]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    return subprocess.run(command, env=environment, check=False, stderr=subprocess.PIPE, text=True).stderr


@lru_cache(maxsize=1)
def with_torch() -> ForkServerContext:
    """Starts processes that have torch loaded and inherit nothing else, not even open files.

    What is passed to them is pickled as for a process that is spawned, which would have to import torch first.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(PRELOADED)
    return context


@lru_cache(maxsize=1)
def _paths_of_the_interpreter() -> list[str]:
    """`sys.path` of this interpreter where nothing is added to it."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [sys.executable, "-c", "import json, sys; print(json.dumps(sys.path[1:]))"]
    found: list[str] = json.loads(subprocess.run(command, env=environment, check=True, capture_output=True).stdout)
    return found


def _run(
    arguments: list[str],
    cwd: str,
    environment: dict[str, str],
    paths: list[str],
    stdout: Connection,
    stderr: Connection,
) -> None:
    """Be the program, in the forked process."""
    os.dup2(stdout.fileno(), 1)
    os.dup2(stderr.fileno(), 2)
    # The streams of the server remember where it wrote to, which may have been a file.
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 # open until the process ends
    sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", buffering=1, closefd=False)  # noqa: SIM115
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(environment)
    multiprocessing.set_start_method(None, force=True)  # the program's own default, not the way it was started itself
    if arguments[0] == "-W":
        warnings.simplefilter("error" if arguments[1] == "error" else "ignore")
        # torch 2.6 leaves a temporary folder to the exit of the process.
        warnings.filterwarnings("ignore", "Implicitly cleaning up", ResourceWarning)
        arguments = arguments[2:]
    added = [path for path in environment.get("PYTHONPATH", "").split(os.pathsep) if path]
    sys.path[:] = [*added, *paths]
    status: object = 0
    try:
        _run_main(arguments)
    except SystemExit as error:
        status = error.code
    except BaseException:
        traceback.print_exc()
        status = 1
    atexit._run_exitfuncs()
    sys.exit(status if isinstance(status, int) else int(status is not None))


def _run_main(arguments: list[str]) -> None:
    """Run the text, the module or the file that the arguments name, as `__main__`."""
    if arguments[0] == "-c":
        sys.argv = ["-c", *arguments[2:]]
        sys.path.insert(0, "")
        main = sys.modules["__main__"] = ModuleType("__main__")
        exec(compile(arguments[1], "<string>", "exec"), vars(main))
    elif arguments[0] == "-m":
        sys.argv = arguments[1:]
        sys.path.insert(0, os.getcwd())
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = arguments
        sys.path.insert(0, os.path.dirname(os.path.abspath(arguments[0])))
        runpy.run_path(arguments[0], run_name="__main__")
