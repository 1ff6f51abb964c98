"""The package that stubs with shapes import. Without it, mypy takes each class with shapes for Any in silence."""

import os

from .config import Config, unusable
from .distributions import search_path

NAME = "pyrefly-shape-extensions"
_MODULE = "shape_extensions"


def refuse_missing(config: Config) -> None:
    """Raise a ConfigError unless the package is in the environment of a project."""
    environment = None if config.environment is None else os.path.join(config.root or "", config.environment)
    sites, _ = search_path(environment)
    if not any(os.path.isdir(os.path.join(site, _MODULE)) for site in sites):
        raise unusable(config.path or "", f"shapes needs a package that is not installed: python -m pip install {NAME}")
