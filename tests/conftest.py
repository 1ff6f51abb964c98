"""A project in a temporary folder: its sources are written, generated and imported as a user would, or given to the command."""

from __future__ import annotations

import gc
import sys
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from importlib import import_module, invalidate_caches
from pathlib import Path
from textwrap import dedent
from types import ModuleType
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from qten_gen.generate.plan import plan
from tests import scheduling
from tests.command import Command

if TYPE_CHECKING:
    from xdist.remote import Producer

# How long an example takes says how busy the machine is.
settings.register_profile("any load", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any load")


@dataclass(frozen=True)
class Project:
    """A folder of sources on `sys.path`."""

    root: Path

    def write(self, **files: str) -> None:
        """Write modules: `write(model="...", pkg__model="...")`; two underscores stand for a folder."""
        for name, text in files.items():
            path = self.root / f"{name.replace('__', '/') if not name.endswith('__') else name[:-2] + '/__init__'}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(dedent(text), encoding="utf-8")

    def generate(self) -> None:
        """Write the outputs of all sources, as the command would."""
        sources = {str(path.relative_to(self.root)): path.read_bytes() for path in self.sources()}
        made = plan(sources, {})
        assert not made.diagnostics and not made.crashes, (made.diagnostics, made.crashes)
        for name, text in made.outputs.items():
            assert text is not None
            (self.root / name).write_text(text, encoding="utf-8")
        invalidate_caches()

    def sources(self) -> list[Path]:
        """The modules that were written by hand."""
        return sorted(path for path in self.root.rglob("*.py") if not path.stem.endswith("_qten"))

    def load(self, name: str) -> ModuleType:
        """Import a module of the project."""
        invalidate_caches()
        return import_module(name)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect quickly: without collecting garbage, of which importing makes none, and keeping the rewritten test modules.

    Garbage is looked for among the objects of the tests only, as torch and the collected tests stay until the end.
    """
    writes_nothing, sys.dont_write_bytecode = sys.dont_write_bytecode, False
    gc.disable()
    try:
        return (yield)
    finally:
        sys.dont_write_bytecode = writes_nothing
        gc.freeze()
        gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Before xdist, which writes the groups into the names of the tests."""
    scheduling.sort(items)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> Generator[None, object, object]:
    """After the last test of a file, look for its garbage, and leave what it loaded out of later searches.

    Torch loads its compiler, symbolic numbers and much else when a test first needs them. Each later search would go through
    a million of their objects.
    """
    done = yield
    if nextitem is None or nextitem.path != item.path:
        gc.collect()
        gc.freeze()
    return done


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer | None) -> object:
    """Distribute files, and groups as `--dist loadgroup` does. Other ways to distribute tests are those of xdist."""
    return scheduling.by_file(config, log) if config.getvalue("dist") == "loadgroup" else None


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Project]:
    """An empty project whose modules are forgotten after the test."""
    known = set(sys.modules)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.chdir(tmp_path)
    yield Project(tmp_path)
    for name in [name for name in set(sys.modules) - known if not _is_of_a_library(name, tmp_path)]:
        del sys.modules[name]


def _is_of_a_library(module: str, project: Path) -> bool:
    """Whether a module stays: its package was loaded from elsewhere, even if it has no file itself, as `torch._C._dynamo`."""
    package = sys.modules.get(module.partition(".")[0])
    origin = getattr(package, "__file__", None)
    return origin is not None and not origin.startswith(str(project))


@pytest.fixture
def qten_gen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    """The command in an empty folder, with nothing of the surroundings showing through."""
    monkeypatch.chdir(tmp_path)
    for name in ("GITHUB_ACTIONS", "GITHUB_WORKSPACE", "CI_PROJECT_DIR", "NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    return Command(tmp_path)
