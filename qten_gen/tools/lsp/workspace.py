"""Which project a file belongs to, and the texts of the files that are open."""

from __future__ import annotations

import os
from collections.abc import Iterable

from ...project.config import ConfigError, Settings
from ...project.files import PathError
from ...project.output_names import is_output
from ...read.encoding import encoding_of
from .analysis import Analysis, Findings


class Workspace:
    """The projects of an editor. A file belongs to the nearest one upwards, as for the command."""

    def __init__(self) -> None:
        self.folders: set[str] = set()
        """The folders that the editor shows."""
        self.texts: dict[str, bytes] = {}
        """The open files by absolute path."""
        self._analyses: dict[str, Analysis] = {}

    def open(self, path: str, text: str) -> None:
        """Take a text for that of a file."""
        self.texts[path] = encoded(text)

    def close(self, path: str) -> None:
        """Take what is on the disk for the text of a file."""
        self.texts.pop(path, None)

    def project(self, path: str) -> str:
        """The folder of the project that a file or folder belongs to."""
        try:
            root = Settings().of(path).root
        except ConfigError as error:
            return os.path.dirname(os.path.abspath(error.diagnostic.path))
        if root is not None:
            return root
        around = [folder for folder in self.folders if path == folder or path.startswith(os.path.join(folder, ""))]
        return max(around, key=len) if around else path if os.path.isdir(path) else os.path.dirname(path)

    def projects(self, paths: Iterable[str] = ()) -> set[str]:
        """The projects of these files, or of all open files and folders without any."""
        return {self.project(path) for path in (tuple(paths) or (*self.folders, *self.texts))}

    def analysis(self, project: str) -> Analysis:
        """The analysis of a project."""
        return self._analyses.setdefault(project, Analysis(project))

    def findings(self, project: str) -> Findings:
        """The problem with the files of a project. Settings that cannot be used are the only finding, if they are wrong."""
        own = {path: text for path, text in self.texts.items() if self.project(path) == project}
        try:
            return self.analysis(project).findings(own)
        except ConfigError as error:
            return Findings({os.path.abspath(error.diagnostic.path): (error.diagnostic,)}, (), is_complete=False)
        except PathError:
            return Findings({}, ())


def is_source(path: str) -> bool:
    """Whether a file may declare something."""
    return path.endswith(".py") and not is_output(path)


def encoded(text: str) -> bytes:
    """The bytes of a text in the encoding that it names, as an editor would save it."""
    data = text.encode("utf-8", "replace")
    encoding = encoding_of(data)
    if isinstance(encoding, str) and encoding.startswith("utf-8"):
        return data
    try:
        return text.encode(encoding if isinstance(encoding, str) else "utf-8", "replace")
    except LookupError:
        return data
