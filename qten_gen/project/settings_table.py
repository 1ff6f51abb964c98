"""The settings in `[tool.qten-gen]`: one table for what is read, for the schema and for the documentation."""

from typing import Literal, NamedTuple

OUTPUT_FORMATS = ("full", "concise", "json", "github")
SEVERITIES = ("error", "warning", "off")


class Setting(NamedTuple):
    """A setting: its name, what kind of value it takes, and what it means."""

    name: str
    value: Literal["strings", "folder", "format", "severities", "codes", "names"]
    meaning: str


SETTINGS = (
    Setting("environment", "folder", "where libraries are installed, if not in the environment that qten-gen runs in"),
    Setting("exclude", "strings", "globs over paths, or over file names if they contain no slash"),
    Setting("locks", "strings", "the models and TensorClasses that `qten-gen lock` keeps locks of"),
    Setting(
        "names",
        "names",
        "lists of names in files, `path:key`, each with the lock that `qten-gen lock` holds it against",
    ),
    Setting("output-format", "format", "the format of diagnostics"),
    Setting("per-file-ignores", "codes", "warnings that are off in files, by globs like those of exclude"),
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
