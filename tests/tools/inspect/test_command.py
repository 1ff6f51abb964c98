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
from tests.command import Command

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


def test_a_model_is_named_by_its_path_or_below_a_source_root(qten_gen: Command) -> None:
    qten_gen.write("src/shop_a/__init__.py", "")
    qten_gen.write("src/shop_a/net.py", "from torch import nn\nfrom .sizes import SIZE\nmade = nn.Linear(SIZE, 1)\n")
    qten_gen.write("src/shop_a/sizes.py", "SIZE = 3\n")
    assert "Linear" in qten_gen("inspect", "src/shop_a/net.py:made").out
    qten_gen.write("pyproject.toml", "[tool.qten-gen]\nsource-roots = ['lib']\n")
    qten_gen.write("lib/shop_b.py", "from torch import nn\nmade = nn.Linear(2, 3)\n")
    assert qten_gen("inspect", "shop_b:made").status == 0


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
    done = qten_gen("inspect", *arguments)
    assert (done.status, done.out) == (2, "")
    assert done.err.startswith(message)


@pytest.mark.parametrize(
    ("files", "target", "frame", "message"),
    [
        (
            {"broken_a": "import broken_b\n", "broken_b": "x = 1\nraise ValueError('none')\n"},
            "broken_a:Net",
            "raise ValueError('none')",
            "importing broken_a raised ValueError: none",
        ),
        (
            {"broken_c": "import absent_package\n"},
            "broken_c:Net",
            "import absent_package",
            "importing broken_c raised ModuleNotFoundError: No module named 'absent_package'",
        ),
        ({"broken_d": "def f(:\n    pass\n"}, "broken_d:Net", "def f(:", "importing broken_d raised SyntaxError"),
        ({"broken_e": "import sys\nsys.exit(3)\n"}, "broken_e:Net", "", "importing broken_e raised SystemExit: 3"),
        ({}, f"{SAMPLES}:raises", 'raise ValueError("no such model")', "raises() raised ValueError: no such model"),
        ({}, f"{SAMPLES}:makes_no_module", "", "makes_no_module() returned a int, not a torch.nn.Module"),
    ],
)
def test_an_error_of_the_users_code_is_shown_with_the_frames_of_the_user(
    files: dict[str, str], target: str, frame: str, message: str, qten_gen: Command
) -> None:
    for name, text in files.items():
        qten_gen.write(f"{name}.py", text)
    done = qten_gen("inspect", target)
    assert (done.status, done.out) == (1, "")
    assert frame in done.err and f"error: {message}" in done.err.splitlines()[-1]
    assert not any(each in done.err for each in ("Traceback", "importlib", "qten_gen/tools/inspect"))


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


if __name__ == "__main__":  # records what is printed: python -m tests.tools.inspect.test_command
    for name, arguments in SHOWN.items():
        out = io.StringIO()
        main(["inspect", f"{SAMPLES}:Net", *arguments], out, sys.stderr)
        (GOLDEN / f"{name}.txt").write_text(out.getvalue(), encoding="utf-8")
