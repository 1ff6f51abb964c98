"""A language server of a project, as a process that an editor would start."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.command import BATCH

from .client import Client, started

CHILD = """
from shop.model import Batch

class Child(Batch):
    w: float = 1.0
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Client]]:
    """Starts a server for folders below a new one, by default that one alone."""
    with ExitStack() as stack:

        def start(root: Path, *folders: str, **options: object) -> Client:
            client = stack.enter_context(started(root, folders, options))
            timer = threading.Timer(120, client.process.kill)
            timer.start()
            stack.callback(timer.cancel)
            return client

        yield start


@pytest.fixture(scope="module")
def shared(server: Callable[..., Client], tmp_path_factory: pytest.TempPathFactory) -> Client:
    """One server for the tests of a module, because it takes long to start."""
    return server(tmp_path_factory.mktemp("empty"))


@pytest.fixture
def shop(shared: Client, tmp_path: Path) -> Client:
    """The server, and a project with a class and a child of it in another file."""
    texts = {
        "pyproject.toml": "[tool.qten-gen]\n",
        "shop/__init__.py": "",
        "shop/model.py": BATCH,
        "shop/child.py": CHILD,
    }
    for file, text in texts.items():
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).write_text(text.lstrip("\n"))
    shared.move_to(tmp_path)
    return shared
