"""The section `[tool.qten-gen]`: what may stand in it, and where it is found."""

import json
from pathlib import Path

import pytest

from qten_gen.project.config import KEYS, Config, ConfigError, config_of, parse
from qten_gen.report.concise import headline
from templates.settings_schema import schema
from tests.command import BATCH, Command


def refused(text: str | bytes) -> str:
    """The message that a `pyproject.toml` with that text is refused with."""
    with pytest.raises(ConfigError) as caught:
        parse(text.encode() if isinstance(text, str) else text, "/project", "pyproject.toml")
    return headline(caught.value.diagnostic, color=False)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "[tool.qten-gen]\n\nexlude = []\n",
            "pyproject.toml:3: error QG004 [unknown-setting]: unknown key 'exlude' in [tool.qten-gen]; did you mean exclude?",
        ),
        (
            "[tool.other]\nwatch = 1\n[tool.qten-gen]\nwatch = 1\n",
            "pyproject.toml:4: error QG004 [unknown-setting]: unknown key 'watch' in [tool.qten-gen]; "
            "choose from exclude, locks, names, per-file-ignores, severity, source-roots, src, stubs",
        ),
        (
            '[tool."qten-gen"]\nsource_roots = []\n',
            "pyproject.toml:2: error QG004 [unknown-setting]: unknown key 'source_roots' in [tool.qten-gen]; "
            "did you mean source-roots?",
        ),
        (
            "[tool]\nqten-gen = { exlude = [] }\n",
            "pyproject.toml:2: error QG004 [unknown-setting]: unknown key 'exlude' in [tool.qten-gen]; did you mean exclude?",
        ),
        (
            "[tool.qten-gen]\nsrc = 3\n",
            "pyproject.toml:2: error QG004 [unknown-setting]: src must be a list of strings, got an integer",
        ),
        (
            '[tool.qten-gen]\nsrc = ["a", true]\n',
            "pyproject.toml:2: error QG004 [unknown-setting]: src must be a list of strings, got a list with a boolean",
        ),
        (
            '[tool.qten-gen]\nexclude = [""]\n',
            "pyproject.toml:2: error QG004 [unknown-setting]: exclude contains an empty string",
        ),
        (
            "[tool]\nqten-gen = 1\n",
            "pyproject.toml: error QG004 [unknown-setting]: tool.qten-gen must be a table, [tool.qten-gen]",
        ),
        (
            "[tool.qten-gen]\nsrc == 1\n",
            "pyproject.toml: error: invalid TOML: Invalid value (at line 2, column 6)",
        ),
    ],
)
def test_a_section_with_a_mistake_is_refused_with_its_place(text: str, message: str) -> None:
    assert refused(text) == message


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("[tool.qten_gen]\nsrc = ['a']\n", 1, "[tool.qten_gen] is not read; the section is called [tool.qten-gen]"),
        ("[tool.QTen-Gen]\n", 1, "[tool.QTen-Gen] is not read; the section is called [tool.qten-gen]"),
        ("[qten-gen]\n", 1, "[qten-gen] is not read; the section is called [tool.qten-gen]"),
        ("[tool.qten-gen.severity]\nQG999 = 'off'\n", 2, "severity names 'QG999', which is not a diagnostic"),
        ("[tool.qten-gen.severity]\nQG206 = 'off'\n", 2, "severity names QG206, which is an error"),
        (
            "[tool.qten-gen.severity]\nQG210 = 'on'\n",
            2,
            "severity of QG210 must be one of error, warning, off, got 'on'",
        ),
        ("[tool.qten-gen]\nseverity = 'off'\n", 2, "severity must be a table, got a string"),
        ("[tool.qten-gen.per-file-ignores]\n'*' = [\n'QG21',\n]\n", 3, "per-file-ignores names 'QG21', which is not"),
        ("[tool.qten-gen.per-file-ignores]\n'*' = 3\n", 2, "* must be a list of strings, got an integer"),
    ],
)
def test_sections_and_codes_that_mean_nothing_are_refused(text: str, line: int, message: str) -> None:
    assert refused(text).startswith(f"pyproject.toml:{line}: error QG004 [unknown-setting]: {message}")


def test_all_keys_are_read() -> None:
    text = b'[tool.qten-gen]\nsrc = ["a", "b"]\nexclude = "old"\nsource-roots = ["c"]\n'
    assert parse(text, "/p", "pyproject.toml") == Config("/p", "pyproject.toml", ("a", "b"), ("old",), ("c",))


def test_a_source_root_that_is_not_a_folder_is_named(qten_gen: Command) -> None:
    qten_gen.write("pyproject.toml", '[tool.qten-gen]\nsource-roots = ["srk"]\n')
    result = qten_gen(".")
    assert (result.status, result.out) == (2, "")
    assert result.err == "pyproject.toml: error: source-roots names 'srk', which is not a folder\n"


def test_a_file_that_is_not_utf8_is_refused() -> None:
    assert (
        refused(b"[tool.qten-gen]\nsrc = '\xff'\n")
        == "pyproject.toml:2: error: the file is not UTF-8, which TOML requires"
    )


def test_the_nearest_section_upwards_holds(qten_gen: Command) -> None:
    qten_gen.write("pyproject.toml", "[tool.qten-gen]\nexclude = ['a']\n")
    qten_gen.write("sub/pyproject.toml", "[tool.other]\n")
    qten_gen.write("sub/src/model.py", "")
    found = config_of("sub/src/model.py")
    assert (found.exclude, found.root) == (("a",), str(qten_gen.folder))


def test_without_a_section_the_nearest_project_holds_the_cache(qten_gen: Command) -> None:
    qten_gen.write("pyproject.toml", "[project]\n")
    qten_gen.write("src/model.py", BATCH)
    qten_gen("src")
    assert qten_gen.exists(".qten_cache/sources") and not qten_gen.exists("src/.qten_cache")


def test_a_fault_in_a_project_file_without_our_section_is_not_ours(qten_gen: Command) -> None:
    qten_gen.write("pyproject.toml", "this is no TOML\n")
    qten_gen.write("src/model.py", BATCH)
    assert qten_gen("src").status == 0


@pytest.mark.parametrize(
    ("settings", "source", "folder"),
    [
        ('[tool.qten-gen]\nsrc = ["src"]\n', "src/model.py", "docs"),  # those of the settings
        ("[project]\n", "shop/model.py", "docs"),  # the project
        (None, "shop/model.py", "."),  # the working directory
    ],
)
def test_a_run_without_paths_takes_what_the_settings_say_or_the_project_or_the_working_directory(
    qten_gen: Command, monkeypatch: pytest.MonkeyPatch, settings: str | None, source: str, folder: str
) -> None:
    if settings is not None:
        qten_gen.write("pyproject.toml", settings)
    qten_gen.write(source, BATCH)
    (qten_gen.folder / "docs").mkdir()
    monkeypatch.chdir(folder)
    assert qten_gen().summary == "2 files written"


def test_a_missing_folder_of_the_settings_is_named(qten_gen: Command) -> None:
    qten_gen.write("pyproject.toml", '[tool.qten-gen]\nsrc = ["sources"]\n')
    result = qten_gen()
    assert (result.status, result.err) == (2, "pyproject.toml: error: src names 'sources', which does not exist\n")


def test_a_refused_section_stops_the_run(qten_gen: Command) -> None:
    qten_gen.write("pyproject.toml", "[tool.qten-gen]\nexlude = []\n")
    qten_gen.write("src/model.py", BATCH)
    result = qten_gen("src")
    assert result.status == 2
    assert result.err.startswith("pyproject.toml:2: error QG004")
    assert not qten_gen.exists("src/model_qten.py")


def test_the_schema_of_the_settings_is_fresh_and_there_are_a_dozen_at_most() -> None:
    page = Path(__file__).parents[2] / "docs" / "settings.schema.json"
    assert json.loads(page.read_text(encoding="utf-8")) == schema(), "run: make generate"
    assert len(KEYS) <= 12 and list(KEYS) == sorted(KEYS)
