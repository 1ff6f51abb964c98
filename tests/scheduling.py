"""Which tests go to one worker, and in which order.

The tests of a file stay together, so that what a fixture makes for a module is made once. A test marked `long` goes alone, and
the tests of an `xdist_group` go where the group is. The longest start first, so that no worker is left alone with one at the end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from xdist.scheduler import LoadGroupScheduling

if TYPE_CHECKING:
    from xdist.remote import Producer


def by_file(config: pytest.Config, log: Producer | None) -> object:
    """A scheduler that gives a worker a file at a time, and a group as `--dist loadgroup` does.

    After each test xdist counts what the worker has left, by going through all the units that it ever had. With a unit for each
    of ten thousand tests that takes 7 seconds of a core, with a unit for each file 1.
    """
    config.option.loadscopereorder = False  # the order is that of `sort`, not that of the number of tests
    made = LoadGroupScheduling(config, log)
    unit_of = made._split_scope

    def file_or_group(nodeid: str) -> str:
        unit: str = unit_of(nodeid)
        return nodeid.partition("::")[0] if unit == nodeid else unit

    made._split_scope = file_or_group
    return made


def seconds(item: pytest.Item) -> float:
    """How long a test takes, if it is marked to take long."""
    return max((float(mark.args[0]) for mark in item.iter_markers("long")), default=0)


def sort(items: list[pytest.Item]) -> None:
    """Put the longest tests first, and give each a unit of its own."""
    for number, item in enumerate(items):
        if seconds(item) and item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group(f"long {number}"))
    items.sort(key=lambda item: -seconds(item))
