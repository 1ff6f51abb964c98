"""The section `[tool.qten-gen]` of `pyproject.toml`, and the project that a folder belongs to.

A folder belongs to the project of the nearest file with that section, upwards, or without any to the one of the nearest
`pyproject.toml`. A file that does not mention qten-gen is not parsed, so qten-gen does not report mistakes in it.
"""

import os
import re
from collections.abc import Collection
from typing import Literal, NamedTuple

from .paths import display_path, read_regular

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..model.diagnostics import Diagnostic

SEVERITIES = ("error", "warning", "off")


class Setting(NamedTuple):
    """A setting: its name, what kind of value it takes, and what it means."""

    name: str
    value: Literal["strings", "severities", "codes", "names"]
    meaning: str


SETTINGS = (
    Setting("exclude", "strings", "globs over paths, or over file names if they contain no slash"),
    Setting("locks", "strings", "the models and TensorClasses that `qten-gen lock` keeps locks of"),
    Setting(
        "names",
        "names",
        "lists of names in files, `path:key`, each with the lock that `qten-gen lock` holds it against",
    ),
    Setting("per-file-ignores", "codes", "warnings that are off in files, by globs as in exclude"),
    Setting("severity", "severities", "warnings that fail a run (error), or are off"),
    Setting(
        "source-roots",
        "strings",
        "where modules are imported from; folders below are packages, with or without __init__.py",
    ),
    Setting("src", "strings", "what a run without paths generates"),
    Setting("stubs", "strings", "what `qten-gen stubs` writes stubs for"),
)

KEYS = tuple(setting.name for setting in SETTINGS)

DEFAULT_ROOT = "src"
"""The folder that is a source root without the setting `source-roots`, unless it is a package."""


class Config(NamedTuple):
    """Settings of a project. `root` is its folder, which the paths in them are relative to.

    Without a section the other values are empty.
    """

    root: str
    path: str | None = None
    """The file with the section."""
    src: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    source_roots: tuple[str, ...] | None = None
    severity: tuple[tuple[str, str], ...] = ()
    """Codes of warnings, each with `error`, `warning` or `off`."""
    per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Patterns, each with the codes of the warnings that are off in files that match."""
    stubs: tuple[str, ...] = ()
    """The modules of libraries that `qten-gen stubs` writes stubs for."""
    locks: tuple[str, ...] = ()
    """The models that `qten-gen lock` keeps locks of: `shop.model:Decoder(width=64)`."""
    names: tuple[tuple[str, str], ...] = ()
    """Lists of names in files, `configs/lora.yaml:target_modules`, each with the model that they are names of."""

    @property
    def has_file(self) -> bool:
        """True if a `pyproject.toml` says where the project begins."""
        return os.path.exists(os.path.join(self.root, "pyproject.toml"))

    @property
    def import_roots(self) -> tuple[str, ...]:
        """The source roots, as paths. A folder below one is a package, with or without an `__init__.py`."""
        if self.source_roots is not None:
            return tuple(os.path.normpath(os.path.join(self.root, folder)) for folder in self.source_roots)
        folder = os.path.join(self.root, DEFAULT_ROOT)
        return () if os.path.exists(os.path.join(folder, "__init__.py")) else (folder,)


class ConfigError(Exception):
    """Settings that cannot be used."""

    def __init__(self, diagnostic: "Diagnostic") -> None:
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic


def unusable(path: str, problem: str, line: int = 0) -> ConfigError:
    """The error for settings that cannot be read, or that name a file or folder that does not exist."""
    from ..model.diagnostics import UNUSABLE_SETTINGS, Diagnostic, Span

    return ConfigError(Diagnostic(UNUSABLE_SETTINGS, problem, path=path, span=Span(line, 0, line, 0)))


def _unknown(path: str, problem: str, line: int = 0) -> ConfigError:
    """The error for an unknown key or value."""
    from ..model.diagnostics import UNKNOWN_SETTING, Diagnostic, Span

    return ConfigError(Diagnostic(UNKNOWN_SETTING, problem, path=path, span=Span(line, 0, line, 0)))


def config_of(path: str) -> Config:
    """The settings for a file or a folder.

    Without any `pyproject.toml`, the project is the folder of scripts or the top-level package that a path is in.

    Raises:
        ConfigError: The section has an unknown key or a wrong value, or the file cannot be read.
    """
    start = os.path.abspath(path)
    folder = start = start if os.path.isdir(start) else os.path.dirname(start)
    nearest = ""
    while True:
        found = section_in(folder)
        if found is not None:
            return found
        if not nearest and os.path.isfile(os.path.join(folder, "pyproject.toml")):
            nearest = folder
        if os.path.dirname(folder) == folder:
            break
        folder = os.path.dirname(folder)
    while not nearest and os.path.exists(os.path.join(os.path.dirname(start), "__init__.py")):
        start = os.path.dirname(start)
    return Config(nearest or start)


def section_in(folder: str) -> Config | None:
    """The settings of the project that begins in a folder; None if none does.

    Raises:
        ConfigError: The section has an unknown key or a wrong value, or the file cannot be read.
    """
    path = os.path.join(folder, "pyproject.toml")
    if not os.path.isfile(path):
        return None
    try:
        data = read_regular(path)
    except OSError as error:
        raise unusable(display_path(path), f"cannot read it: {error.strerror}") from None
    # A section of ours is in few of the files, and parsing all of them takes longer.
    config = parse(data, folder, display_path(path)) if re.search(rb"(?i)qten[-_. ]?gen", data) else None
    if config is not None:
        for root in config.source_roots or ():
            if not os.path.isdir(os.path.join(folder, root)):
                raise unusable(config.path or "", f"source-roots names {root!r}, which is not a folder")
    return config


def source_paths(config: Config) -> list[str]:
    """The paths in the setting `src`; empty without that setting.

    Raises:
        ConfigError: One of them does not exist.
    """
    paths = [os.path.join(config.root, folder) for folder in config.src]
    for folder, path in zip(config.src, paths, strict=True):
        if not os.path.exists(path):
            raise unusable(config.path or "", f"src names {folder!r}, which does not exist")
    return paths


def parse(data: bytes, root: str, path: str) -> Config | None:
    """Parse the text of a `pyproject.toml`; None if it has no section `[tool.qten-gen]`.

    Raises:
        ConfigError: The section is misspelt, or has an unknown key or a wrong value.
    """
    import tomllib

    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise unusable(path, "the file is not UTF-8, which TOML requires", line) from None
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise unusable(path, f"invalid TOML: {error}") from None
    tool = document.get("tool")
    section = tool.get("qten-gen") if isinstance(tool, dict) else None
    if section is None:
        _refuse_misspelt(document, path, text)
        return None
    if not isinstance(section, dict):
        raise _unknown(path, "tool.qten-gen must be a table, [tool.qten-gen]")
    values: dict[str, Any] = {}
    try:
        for key, value in section.items():
            setting = next((setting for setting in SETTINGS if setting.name == key), None)
            if setting is None:
                raise _Wrong(key, f"unknown key {key!r} in [tool.qten-gen]; {_advice(key.lower(), KEYS)}")
            values[key.replace("-", "_")] = _READERS[setting.value](key, value)
    except _Wrong as wrong:
        raise _unknown(path, str(wrong), _line_of(wrong.key, text)) from None
    return Config(root, path, **values)


class _Wrong(Exception):
    """A setting with a mistake, by its key; the text says what is wrong."""

    def __init__(self, key: str, problem: str) -> None:
        super().__init__(problem)
        self.key = key


def _refuse_misspelt(document: dict[str, object], path: str, text: str) -> None:
    """Raise a ConfigError for a section such as `[tool.qten_gen]` or `[qten-gen]`, which nobody would read otherwise."""
    tool = document.get("tool")
    places = [("", document), *([("tool.", tool)] if isinstance(tool, dict) else [])]
    for start, table in places:
        for key, value in table.items():
            if re.sub(r"[-_. ]", "", key).lower() == "qtengen" and isinstance(value, dict):
                line = next((n for n, line in enumerate(text.splitlines(), 1) if key in line), 0)
                shown = start + (key if re.fullmatch(r"[\w-]+", key) else f'"{key}"')
                raise _unknown(path, f"[{shown}] is not read; the section is called [tool.qten-gen]", line)


def _line_of(key: str, text: str) -> int:
    """The line of a key behind the head of the section, 0 if it is not found. tomllib does not return positions."""
    lines = text.splitlines()
    start = next((number for number, line in enumerate(lines) if "qten-gen" in line), 0)
    wanted = re.compile(rf"[^#]*?(?<![\w-]){re.escape(key)}(?![\w-])")
    return next((number for number, line in enumerate(lines[start:], start + 1) if wanted.match(line)), 0)


def _strings(key: str, value: object) -> tuple[str, ...]:
    """A list of strings, or a single string."""
    items = [value] if isinstance(value, str) else value
    if not isinstance(items, list) or not all(isinstance(item, str) for item in items):
        raise _Wrong(key, f"{key} must be a list of strings, got {_kind(value)}")
    if not all(items):
        raise _Wrong(key, f"{key} contains an empty string")
    return tuple(items)


def _severities(key: str, value: object) -> tuple[tuple[str, str], ...]:
    """Codes of warnings with another severity each."""
    table = _table(key, value)
    for code, severity in table.items():
        _check_code(key, code)
        if severity not in SEVERITIES:
            shown = repr(severity) if isinstance(severity, str) else _kind(severity)
            raise _Wrong(code, f"{key} of {code} must be one of {', '.join(SEVERITIES)}, got {shown}")
    return tuple((code, str(severity)) for code, severity in table.items())


def _ignores(key: str, value: object) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Patterns of files, each with the codes of warnings that are off there."""
    found = tuple((pattern, _strings(pattern, codes)) for pattern, codes in _table(key, value).items())
    for code in (code for _, codes in found for code in codes):
        _check_code(key, code)
    return found


def _names(key: str, value: object) -> tuple[tuple[str, str], ...]:
    """Places in files, `path:key`, each with the model that they are about."""
    table = _table(key, value)
    for place, target in table.items():
        if not isinstance(target, str) or not target:
            found = f"{key} of {place} must be a model such as shop.model:Decoder, got {_kind(target)}"
            raise _Wrong(place, found)
        if ":" not in place:
            raise _Wrong(place, f"{key} contains {place!r}, expected a file and a key, path:key")
    return tuple((place, str(target)) for place, target in table.items())


def _table(key: str, value: object) -> dict[str, object]:
    if not isinstance(value, dict):
        raise _Wrong(key, f"{key} must be a table, got {_kind(value)}")
    return value


_READERS = {
    "strings": _strings,
    "severities": _severities,
    "codes": _ignores,
    "names": _names,
}
"""What reads each kind of value."""


def _check_code(key: str, code: str) -> None:
    """Refuse a code that is no code of a warning."""
    from ..common.diagnostic_codes import ERRORS, WARNINGS

    if code in ERRORS:
        problem = f"{key} names {code}, which is an error: nothing can be generated where it is reported"
        raise _Wrong(code, problem)
    if code not in WARNINGS:
        raise _Wrong(code, f"{key} names {code!r}, which is not a diagnostic; {_advice(code, WARNINGS)}")


def _advice(word: str, choices: Collection[str]) -> str:
    from ..common.suggestions import did_you_mean

    return did_you_mean(word, sorted(choices), f"choose from {', '.join(sorted(choices))}")


def _kind(value: object) -> str:
    """The TOML type of a value."""
    names = {bool: "a boolean", int: "an integer", float: "a float", str: "a string", list: "a list", dict: "a table"}
    if isinstance(value, list) and not all(isinstance(item, str) for item in value):
        return f"a list with {_kind(next(item for item in value if not isinstance(item, str)))}"
    return names.get(type(value), "a date or time")


def toml_document(text: str) -> dict[str, object] | None:
    """The content of a TOML file; None if it is not valid."""
    import tomllib

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return None
