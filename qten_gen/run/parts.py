"""Divides the paths of a run among the projects that they belong to."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import NamedTuple

from ..project.config import Config, Settings
from ..project.files import ProjectFiles, discover
from ..project.paths import true_path
from ..project.walk import NONE_SEEN, Listings


class Part(NamedTuple):
    """The files of a run that belong to one project."""

    paths: tuple[str, ...]
    config: Config
    cache: str
    """The folder that holds the manifest."""
    files: ProjectFiles


def parts(paths: Sequence[str], settings: Settings, listed: Listings = NONE_SEEN) -> list[Part]:
    """The files of each project, the outermost project first. Projects inside a given folder are among them."""
    given: dict[str, list[str]] = {}
    for path in paths:
        given.setdefault(settings.of(true_path(path)).root or "", []).append(path)
    found: list[Part] = []
    while given:
        root = min(given, key=len)  # the outermost project: listing it finds the ones inside
        own = given.pop(root)
        config = settings.of(root) if root else Config()
        files = discover(own, config, settings, listed=listed)
        for folder in files.others:
            given.setdefault(settings.of(folder).root or "", []).append(folder)
        first = own[0]
        cache = root or (first if os.path.isdir(first) else os.path.dirname(first) or ".")
        found.append(Part(tuple(own), config, cache, files))
    return found
