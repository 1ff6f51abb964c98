"""The templates as Jinja2 renders them. The only file that imports jinja2, and imported where something is rendered."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from functools import cache

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from jinja2.bccache import Bucket, FileSystemBytecodeCache

_PACKAGE = os.path.dirname(os.path.dirname(__file__))
FOLDERS = (os.path.join(_PACKAGE, "templates"), os.path.join(os.path.dirname(_PACKAGE), "templates"))
"""Where the templates are: inside an installed package, beside the package of a checkout."""


class _CompiledTemplates(FileSystemBytecodeCache):
    """Compiled templates in a `__pycache__`, as Python keeps modules: compiling them takes as long as a whole run otherwise."""

    def __init__(self) -> None:
        folder = next(filter(os.path.isdir, FOLDERS))
        # Byte code of one version of Python is nothing to another.
        super().__init__(os.path.join(folder, "__pycache__"), f"%s.{sys.implementation.cache_tag}.j2c")

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Write a compiled template; a folder that cannot be written is left as it is."""
        if not sys.dont_write_bytecode:
            with suppress(OSError):
                os.makedirs(self.directory, exist_ok=True)
                super().dump_bytecode(bucket)


@cache
def _environment() -> Environment:
    return Environment(
        loader=FileSystemLoader(FOLDERS),
        bytecode_cache=_CompiledTemplates(),
        undefined=StrictUndefined,
        auto_reload=False,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def rendered(template: str, **given: object) -> str:
    """The text of a template: `rendered("module.py.j2", c=view)`."""
    return _environment().get_template(template).render(given)
