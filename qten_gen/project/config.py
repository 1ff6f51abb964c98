"""The section `[tool.qten-gen]` of `pyproject.toml`.

It is looked for upwards from the first path of a run; the nearest file that has the section counts. A file without it is not
parsed, so a fault elsewhere in it is not ours to report.
"""

import os
import re
from collections.abc import Iterable
from typing import NamedTuple

from ..common.suggestions import did_you_mean
from .files import shown

OUTPUT_FORMATS = ("full", "concise", "json", "github")

KEYS = ("exclude", "output-format", "source-roots", "src")

DEFAULT_ROOT = "src"
"""What modules of a project are imported from where no setting says it: the folder of that name, unless it is a package."""


class Config(NamedTuple):
    """Settings of a project. `root` is the folder of its `pyproject.toml`, which the paths in it are relative to.

    Without a section the values are empty; `root` is then the folder of the nearest `pyproject.toml`, and None without one.
    """

    root: str | None = None
    path: str | None = None
    src: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    output_format: str | None = None
    source_roots: tuple[str, ...] | None = None

    @property
    def import_roots(self) -> tuple[str, ...]:
        """The folders that modules are imported from, so that folders below them are packages, with `__init__.py` or without."""
        if self.root is None:
            return ()
        if self.source_roots is not None:
            return tuple(os.path.normpath(os.path.join(self.root, folder)) for folder in self.source_roots)
        folder = os.path.join(self.root, DEFAULT_ROOT)
        return () if os.path.exists(os.path.join(folder, "__init__.py")) else (folder,)


class ConfigError(Exception):
    """A section that cannot be used; the text is the whole message, `pyproject.toml:12: error ...`."""


def _unknown(place: str, problem: str) -> ConfigError:
    from ..model.diagnostics import UNKNOWN_SETTING

    return ConfigError(f"{place}: error {UNKNOWN_SETTING.code} [{UNKNOWN_SETTING.name}]: {problem}")


def load(start: str, shown_as: str | None = None) -> Config:
    """The settings that hold for a path.

    Raises:
        ConfigError: The section has an unknown key or a wrong value, or the file cannot be read.
    """
    nearest = None
    for folder in _upwards(start):
        path = os.path.join(folder, "pyproject.toml")
        if not os.path.isfile(path):
            continue
        nearest = nearest or folder
        data = _bytes(path)
        if b"qten-gen" in data:
            config = parse(data, folder, shown_as or shown(path))
            if config is not None:
                _check_folders(config, "source-roots", config.source_roots or ())
                return config
    return Config(root=nearest)


def _check_folders(config: Config, key: str, folders: Iterable[str]) -> None:
    """Refuse a folder of the settings that is not there."""
    for folder in folders:
        if not os.path.isdir(os.path.join(config.root or "", folder)):
            raise ConfigError(f"{config.path}: error: {key} names {folder!r}, which is no folder")


def _upwards(start: str) -> Iterable[str]:
    folder = os.path.abspath(start)
    if not os.path.isdir(folder):
        folder = os.path.dirname(folder)
    while True:
        yield folder
        parent = os.path.dirname(folder)
        if parent == folder:
            return
        folder = parent


def _bytes(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise ConfigError(f"{shown(path)}: error: cannot read it: {error.strerror}") from None


def parse(data: bytes, root: str, path: str) -> Config | None:
    """The section in the text of a `pyproject.toml`, or None where there is none."""
    import tomllib

    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{path}:{line}: error: not UTF-8, which TOML has to be") from None
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(_syntax_error(path, str(error), text)) from None
    tool = document.get("tool")
    section = tool.get("qten-gen") if isinstance(tool, dict) else None
    if section is None:
        return None
    if not isinstance(section, dict):
        raise _unknown(path, "tool.qten-gen has to be a table, [tool.qten-gen]")
    place = _Places(path, text)
    for key in section:
        if key not in KEYS:
            raise _unknown(place.of(key), f"unknown key {key!r} in [tool.qten-gen]; {_advice(key, KEYS)}")
    return Config(
        root=root,
        path=path,
        src=_strings(section, "src", place),
        exclude=_strings(section, "exclude", place),
        output_format=_choice(section, "output-format", OUTPUT_FORMATS, place),
        source_roots=_strings(section, "source-roots", place) if "source-roots" in section else None,
    )


class _Places(NamedTuple):
    path: str
    text: str

    def of(self, key: str) -> str:
        """`path:line` of a key in the section. The TOML parser gives no positions, so the line is looked for."""
        lines = self.text.splitlines()
        section = re.compile(r"\s*\[\s*tool\s*\.\s*[\"']?qten-gen[\"']?\s*\]")
        start = next((number for number, line in enumerate(lines) if section.match(line)), 0)
        wanted = re.compile(rf"[\s{{,.]*(?:.*[{{,.]\s*)?[\"']?{re.escape(key)}[\"']?\s*=")
        for number, line in enumerate(lines[start:], start + 1):
            if wanted.match(line):
                return f"{self.path}:{number}"
        return self.path


def _syntax_error(path: str, message: str, text: str) -> str:
    """tomllib's message with its position in front."""
    match = re.fullmatch(r"(.*) \(at (?:line (\d+), column (\d+)|end of document)\)", message, re.DOTALL)
    if match is None:
        return f"{path}: error: invalid TOML: {message}"
    line = match[2] or str(len(text.splitlines()))
    place = f"{path}:{line}" + (f":{match[3]}" if match[3] else "")
    return f"{place}: error: invalid TOML: {match[1][0].lower()}{match[1][1:]}"


def _strings(section: dict[str, object], key: str, place: _Places) -> tuple[str, ...]:
    """A list of strings, or one string."""
    value = section.get(key, [])
    items = [value] if isinstance(value, str) else value
    if not isinstance(items, list) or not all(isinstance(item, str) for item in items):
        raise _unknown(place.of(key), f"{key} has to be a list of strings, not {_kind(value)}")
    if not all(items):
        raise _unknown(place.of(key), f"{key} has an empty string")
    return tuple(items)


def _choice(section: dict[str, object], key: str, choices: tuple[str, ...], place: _Places) -> str | None:
    value = section.get(key)
    if value is None:
        return None
    if not isinstance(value, str):
        raise _unknown(place.of(key), f"{key} has to be a string, not {_kind(value)}")
    if value not in choices:
        raise _unknown(place.of(key), f"{key} cannot be {value!r}; {_advice(value, choices)}")
    return value


def _advice(word: str, choices: tuple[str, ...]) -> str:
    return did_you_mean(word.lower(), choices, f"known are {', '.join(choices)}")


def _kind(value: object) -> str:
    """What TOML calls a value."""
    names = {bool: "a boolean", int: "an integer", float: "a float", str: "a string", list: "a list", dict: "a table"}
    if isinstance(value, list) and not all(isinstance(item, str) for item in value):
        return f"a list with {_kind(next(item for item in value if not isinstance(item, str)))}"
    return names.get(type(value), "a date or time")
