"""`qten-gen inspect` as a user runs it: what it prints, what it refuses, and its exit status."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from qten_gen.cli.command import main
from qten_gen.tools.inspect.model_tree import contents_of
from qten_gen.tools.inspect.views import as_text
from tests.command import Command, Result

from .samples import Net

SAMPLES = "tests.tools.inspect.samples"

GOLDEN = Path(__file__).parent / "golden"

SHOWN = {
    "tree": ("--config", "width=8"),
    "unfolded": ("--config", "width=8", "depth=2", "--unfold", "--dtype", "bfloat16"),
    "document": ("--config", "width=2", "heads=1", "depth=1", "--json"),
}
"""What is shown of `Net`, by the name of the file that has it."""


@pytest.mark.parametrize("name", SHOWN)
def test_what_is_printed_is_as_recorded(qten_gen: Command, name: str) -> None:
    done = qten_gen("inspect", f"{SAMPLES}:Net", *SHOWN[name])
    assert (done.status, done.err) == (0, "")
    assert done.out == (GOLDEN / f"{name}.txt").read_text(encoding="utf-8")


def test_the_document_is_json_and_has_every_tensor(qten_gen: Command) -> None:
    done = qten_gen("inspect", f"{SAMPLES}:Net", "--config", "width=8", "--json")
    found = json.loads(done.out)
    assert found["version"] == 3
    assert [tensor["path"] for tensor in found["tensors"] if tensor["tied_to"]] == ["head"]
    assert sum(tensor["elements"] for tensor in found["tensors"] if tensor["kind"] == "parameter") == 1464
    assert found["totals"]["parameters"] == {"elements": 1464, "bytes": 4 * 1464}


def test_names_are_shortened_for_a_terminal_and_whole_in_a_pipe() -> None:
    entries = contents_of(Net(8))
    for width in (60, 72, 120):
        assert max(map(len, as_text(entries, width=width).splitlines()[:11])) <= width
    assert "…" in as_text(entries, width=60)
    assert "…" not in as_text(entries)
    assert "\033" not in as_text(entries)
    assert "\033[1mNet\033[0m" in as_text(entries, color=True)


def test_a_stream_of_ascii_gets_a_tree_of_ascii() -> None:
    data = io.BytesIO()
    out = io.TextIOWrapper(data, encoding="ascii")
    assert main(["inspect", f"{SAMPLES}:Net", "--config", "width=8"], out, sys.stderr) == 0
    assert b"|- blocks.0-2  3 x Attention" in data.getvalue()


def test_a_model_in_a_file_is_named_by_its_path(qten_gen: Command) -> None:
    qten_gen.write("src/shop_a/__init__.py", "")
    qten_gen.write(
        "src/shop_a/net.py",
        "from torch import nn\nfrom .sizes import SIZE\ndef make():\n    return nn.Linear(SIZE, 1)\n",
    )
    qten_gen.write("src/shop_a/sizes.py", "SIZE = 3\n")
    done = qten_gen("inspect", "src/shop_a/net.py:make")
    assert (done.status, done.err) == (0, "")
    assert "Linear" in done.out


def test_a_source_root_of_the_settings_is_importable(qten_gen: Command) -> None:
    qten_gen.write("pyproject.toml", "[tool.qten-gen]\nsource-roots = ['lib']\n")
    qten_gen.write("lib/shop_b.py", "from torch import nn\nmade = nn.Linear(2, 3)\n")
    assert qten_gen("inspect", "shop_b:made").status == 0


def refused(qten_gen: Command, *arguments: str) -> Result:
    done = qten_gen("inspect", *arguments)
    assert done.out == ""
    assert done.status == 2
    assert "Traceback" not in done.err
    return done


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "error: expected one target, for example pkg.model:Net\nusage: qten-gen inspect [options] TARGET;"),
        (["a:b", "c:d"], "error: unexpected argument c:d\n"),
        (["a:b", "--dtpye", "half"], "error: unknown option --dtpye; did you mean --dtype?\n"),
        (["shop"], "error: the target 'shop' is not of the form module:name; for example"),
        (["shop.model.Net"], "error: the target 'shop.model.Net' is not of the form module:name; did you"
         " mean shop.model:Net?\n"),
        (["absent_module:Net"], "error: there is no module absent_module; it is looked for in "),
        (["absent/model.py:Net"], "error: absent/model.py: no such file\n"),
        ([f"{SAMPLES}:Nett"], f"error: {SAMPLES} has no Nett; did you mean Net?\n"),
        ([f"{SAMPLES}.absent:Net"], f"error: there is no module {SAMPLES}.absent; it is looked for in "),
        ([f"{SAMPLES}:not_a_model"], "error: tests.tools.inspect.samples:not_a_model is a int, not a module, a class or a"),
        ([f"{SAMPLES}:Settings"], "error: tests.tools.inspect.samples:Settings is a class that does not derive from torch.nn"),
        ([f"{SAMPLES}:made", "--config", "a=1"], "error: tests.tools.inspect.samples:made is an existing module, which"),
        ([f"{SAMPLES}:Net"], "error: Net(width, heads=4, depth=3, *, device=None, dtype=None): missing a required"),
        ([f"{SAMPLES}:made", "--dtype", "int8"], "error: --dtype: expected a floating dtype such as bfloat16, got 'int8'\n"),
    ],
)  # fmt: skip
def test_wrong_usage_is_one_clear_error(qten_gen: Command, arguments: list[str], message: str) -> None:
    assert refused(qten_gen, *arguments).err.startswith(message)


def broken(qten_gen: Command, target: str, *arguments: str) -> Result:
    done = qten_gen("inspect", target, *arguments)
    assert (done.status, done.out) == (1, "")
    assert "Traceback" not in done.err
    assert "importlib" not in done.err
    assert "qten_gen/tools/inspect" not in done.err
    return done


def test_an_import_that_fails_is_one_error_with_the_users_frames(qten_gen: Command) -> None:
    qten_gen.write("broken_a.py", "import broken_b\n")
    qten_gen.write("broken_b.py", "x = 1\nraise ValueError('no configuration')\n")
    done = broken(qten_gen, "broken_a:Net")
    assert done.err.endswith("error: importing broken_a raised ValueError: no configuration\n")
    assert 'broken_a.py", line 1' in done.err
    assert "raise ValueError('no configuration')" in done.err


def test_an_import_of_something_that_is_not_installed_is_an_error_of_the_model(qten_gen: Command) -> None:
    qten_gen.write("broken_c.py", "import absent_package\n")
    done = broken(qten_gen, "broken_c:Net")
    assert done.err.endswith("error: importing broken_c raised ModuleNotFoundError: No module named 'absent_package'\n")


def test_a_syntax_error_shows_the_line(qten_gen: Command) -> None:
    qten_gen.write("broken_d.py", "def f(:\n    pass\n")
    done = broken(qten_gen, "broken_d:Net")
    assert "def f(:" in done.err
    assert "error: importing broken_d raised SyntaxError" in done.err


def test_a_module_that_exits_when_imported_is_an_error(qten_gen: Command) -> None:
    qten_gen.write("broken_e.py", "import sys\nsys.exit(3)\n")
    assert "error: importing broken_e raised SystemExit: 3" in broken(qten_gen, "broken_e:Net").err


def test_a_constructor_that_raises_is_one_error_with_the_users_frames(qten_gen: Command) -> None:
    done = broken(qten_gen, f"{SAMPLES}:raises")
    assert done.err.endswith("error: raises() raised ValueError: no such model\n")
    assert 'raise ValueError("no such model")' in done.err


def test_a_function_that_makes_something_else_is_an_error(qten_gen: Command) -> None:
    done = broken(qten_gen, f"{SAMPLES}:makes_no_module")
    assert done.err == "error: makes_no_module() returned a int, not a torch.nn.Module\n"


def test_what_the_users_code_prints_does_not_disturb_the_document(
    qten_gen: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    qten_gen.write(
        "printing_a.py",
        "from torch import nn\nprint('importing')\ndef make():\n    print('making')\n    return nn.ReLU()\n",
    )
    done = qten_gen("inspect", "printing_a:make", "--json")
    assert json.loads(done.out)["modules"][0]["kind"] == "ReLU"
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == ("", "importing\nmaking\n")


def test_help_names_every_option_of_the_page(qten_gen: Command) -> None:
    done = qten_gen("inspect", "--help")
    assert done.status == 0
    assert max(map(len, done.out.splitlines())) <= 80
    assert all(option in done.out for option in ("--config", "--dtype", "--json"))


if __name__ == "__main__":  # records what is printed: python -m tests.tools.inspect.test_command
    for name, arguments in SHOWN.items():
        out = io.StringIO()
        main(["inspect", f"{SAMPLES}:Net", *arguments], out, sys.stderr)
        (GOLDEN / f"{name}.txt").write_text(out.getvalue(), encoding="utf-8")
