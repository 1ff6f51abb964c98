"""What every test of an editor needs: a cache of jedi that no other process writes to."""

from __future__ import annotations

from collections.abc import Iterator

import jedi
import pytest


@pytest.fixture(autouse=True, scope="session")
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """jedi's cache in a folder of its own: processes that fill one at a time read each other's half-written files."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jedi.settings, "cache_directory", str(tmp_path_factory.mktemp("jedi")))
        yield
