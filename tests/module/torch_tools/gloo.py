"""Processes of this machine that talk over gloo, and run checks that assert on their own, in each of them.

Importing torch takes seconds, so all checks of a module run in the same processes: `run` starts them, and the module calls
`main` where it is one of them.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path

import torch
import torch.distributed as dist

from tests.fresh_process import FreshProcess

WORLD = 2
REPOSITORY = Path(__file__).parents[3]

Check = Callable[[Path], None]
"""A check gets a folder that the processes share."""


def run(module: str, folder: Path, world: int = WORLD) -> list[dict[str, str]]:
    """Run the checks of a module in `world` processes: for each process, what went wrong in which check."""
    environment = os.environ | {"GLOO_SOCKET_IFNAME": "lo", "OMP_NUM_THREADS": "1"}
    command = ["-W", "ignore", "-m", module, str(folder)]
    ranks = range(world)
    processes = [FreshProcess([*command, str(rank), str(world)], REPOSITORY, environment) for rank in ranks]
    done = [process.finish() for process in processes]
    assert all(each.returncode == 0 for each in done), "\n".join(each.stdout + each.stderr for each in done)
    return [json.loads((folder / f"{rank}.json").read_text(encoding="utf-8")) for rank in ranks]


def main(checks: Sequence[Check]) -> None:
    """Be one of the processes: folder, rank and number are on the command line. They meet in a file, so no port is taken."""
    folder, rank, world = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    store = f"file://{folder}/store"
    # Where a check fails in one process only, the other one waits for it.
    dist.init_process_group("gloo", init_method=store, rank=rank, world_size=world, timeout=timedelta(seconds=60))
    failures = {}
    for check in checks:
        torch.manual_seed(0)
        try:
            check(folder)
        except Exception:
            failures[check.__name__] = traceback.format_exc()
    (folder / f"{rank}.json").write_text(json.dumps(failures), encoding="utf-8")
    dist.destroy_process_group()
    # The groups that meshes made keep threads, which now and then abort the process when the interpreter ends.
    sys.stdout.flush()
    os._exit(0)
