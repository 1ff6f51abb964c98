"""Settings of the tests over architectures of other libraries: offline, and without their warnings."""

from __future__ import annotations

import os

import pytest

os.environ["HF_HUB_OFFLINE"] = "1"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Warnings of a library about its own models are not ours."""
    for item in items:
        if item.path.parent.name == "architectures":
            item.add_marker(pytest.mark.filterwarnings("default"))
