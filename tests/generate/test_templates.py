"""Rendering the templates, and where Jinja2 keeps what it compiled of them."""

import sys
from pathlib import Path

import pytest
from jinja2 import UndefinedError

from qten_gen.generate import templates


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of templates in the place of those of the package."""
    monkeypatch.setattr(templates, "FOLDERS", (str(tmp_path),))
    monkeypatch.setattr(templates, "_environment", templates._environment.__wrapped__)
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    (tmp_path / "greeting.j2").write_text("{% if names %}\n    {{ names | join(', ') }}\n{% endif %}\n")
    return tmp_path


def test_lines_of_statements_leave_nothing_and_the_last_line_end_stays(folder: Path) -> None:
    assert templates.rendered("greeting.j2", names=["a", "b"]) == "    a, b\n"


def test_a_name_that_a_view_does_not_have_is_an_error(folder: Path) -> None:
    with pytest.raises(UndefinedError, match="^'names' is undefined$"):
        templates.rendered("greeting.j2")


def test_a_compiled_template_is_kept_and_used_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    templates.rendered("greeting.j2", names=["a"])
    (kept,) = (folder / "__pycache__").iterdir()
    assert kept.suffix == ".j2c"
    monkeypatch.setattr("jinja2.Environment.compile", lambda *_: pytest.fail("compiled again"))
    assert templates.rendered("greeting.j2", names=["b"]) == "    b\n"


def test_a_changed_template_is_compiled_again(folder: Path) -> None:
    templates.rendered("greeting.j2", names=["a"])
    (folder / "greeting.j2").write_text("{{ names[0] }}!")
    assert templates.rendered("greeting.j2", names=["a"]) == "a!"


def test_a_folder_that_cannot_be_written_is_no_obstacle(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError

    monkeypatch.setattr("tempfile.NamedTemporaryFile", refuse)
    assert templates.rendered("greeting.j2", names=["a"]) == "    a\n"


def test_nothing_is_kept_where_python_keeps_no_modules(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    templates.rendered("greeting.j2", names=["a"])
    assert not (folder / "__pycache__").exists()
