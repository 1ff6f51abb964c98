"""`qten-gen show` and `qten-gen doctor`."""

import json
import os
import sys
from pathlib import Path

import pytest

from tests.command import BATCH, Command, Result

BASE = """
from torch import Tensor
from qten_gen import TensorClass

class Base(TensorClass, frozen=True):
    tokens: Tensor
"""
MODEL = """
from torch import Tensor, nn
from qten_gen import Module, buffer, param, submodule
from shop.base import Base

class Child(Base, frozen=True):
    \"\"\"A child.\"\"\"
    mask: Tensor | None = None

class Net(Module):
    dim: int = 4
    weight: nn.Parameter = param("2*dim", initializer=nn.init.zeros_)
    head: nn.Linear = submodule(nn.Linear, "dim", 3, bias=False)
    def forward(self, x: Tensor) -> Tensor: ...

@Net.register(Child)
def _(net: Net, child: Child) -> Tensor: ...
"""


@pytest.fixture
def project(qten_gen: Command) -> Command:
    """A project with a package."""
    qten_gen.write("pyproject.toml", "[tool.qten-gen]\nsrc = ['src']\n")
    qten_gen.write("src/shop/__init__.py", "")
    qten_gen.write("src/shop/base.py", BASE)
    qten_gen.write("src/shop/model.py", MODEL)
    return qten_gen


def test_show_writes_control_characters_of_a_folder_as_escapes(project: Command) -> None:
    project.write("a\x1b[31mb/model.py", BASE)
    result = project("show", "a\x1b[31mb/model.py:Base")
    assert result.status == 0
    assert "\x1b" not in result.out
    assert r"declared at a\x1b[31mb/model.py:4" in result.out


def test_show_says_where_each_field_comes_from(project: Command) -> None:
    result = project("show", "shop.model:Child")
    assert (result.status, result.err) == (0, "")
    head, _, text = result.out.partition("\ngenerated\n")
    assert head.splitlines() == [
        "class Child (shop.base.Base), a TensorClass",
        "  declared at src/shop/model.py:5",
        *[line for line in head.splitlines() if line.startswith("  fingerprint: ")],
        "  flags: [frozen]",
        "  checks: on",
        "",
        "fields",
        "  tokens  tensor: Tensor  (src/shop/base.py:5, inherited from shop.base.Base)",
        "  mask    tensor: Tensor | None; optional=True, default=None  (src/shop/model.py:7)",
    ]
    assert "class _Child_(" in text and "_Net_" not in text


def test_show_as_json_has_the_texts_that_a_run_writes(project: Command) -> None:
    found = json.loads(project("show", "--json", "src/shop/model.py").out)
    assert found["version"] == 1
    child, net = found["classes"]
    assert (child["name"], child["flags"], child["doc"]) == ("Child", ["frozen"], "A child.")
    assert child["bases"] == [
        {"name": "shop.base.Base", "declared": True, "path": os.path.join("src", "shop", "base.py")}
    ]
    fields = {field["name"]: field for field in net["fields"]}
    assert fields["weight"]["dims"] == ["2 * dim"] and fields["weight"]["line"] == 11
    assert fields["head"]["arguments"] == ["dim", "3", "bias=False"]
    assert [item["type"] for item in net["handlers"]] == ["Child"]
    project("src")
    written, stub = project.read("src/shop/model_qten.py"), project.read("src/shop/model_qten.pyi")
    for shown in (child, net):
        name = shown["name"]
        assert f'_fingerprint = "{shown["fingerprint"]}"' in written
        assert shown["python"].partition(f"class _{name}_(")[2].strip().split("\nclass ")[0].strip() in written
        statement = shown["stub"].partition(f"class {name}(")
        assert (statement[1] == "") == (name == "Child") and statement[2].strip() in stub


def test_show_writes_nothing(project: Command) -> None:
    before = project.times()
    project("show", "shop.model:Net")
    assert project.times() == before and not project.exists(".qten_cache")


def test_show_describes_a_declaration_with_errors_and_says_what_is_wrong(project: Command) -> None:
    project.write("src/shop/model.py", MODEL.replace('"2*dim"', '"2*dmi"'))
    result = project("show", "shop.model:Net")
    assert result.status == 1
    assert "unknown-dimension" in result.err
    assert "not generated, because of errors" in result.out and "class _Net_" not in result.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["shop.modl:Net"], "error: there is no module shop.modl in this project; did you mean shop.model?"),
        (["shop.model.Net"], "error: there is no module shop.model.Net in this project; did you mean shop.model:Net?"),
        (["shop.model:Nett"], "error: src/shop/model.py declares no Nett; did you mean Net?"),
        (["shop"], "error: src/shop/__init__.py has no declarations"),
        (["src/shop/nothing.py"], "error: no such file or folder: src/shop/nothing.py"),
        (["shop.model:Quux"], "error: src/shop/model.py declares no Quux; it declares "),
        ([], "error: expected one target, for example pkg.model:Net\nusage: qten-gen show [--json]"),
        (["--jsn", "shop.model"], "error: unknown option --jsn; did you mean --json?\nusage: qten-gen show [--json]"),
    ],
)
def test_show_says_what_is_wrong_with_a_target(project: Command, arguments: list[str], message: str) -> None:
    result = project("show", *arguments)
    assert (result.status, result.out) == (2, "")
    assert result.err.startswith(message)


def told(result: Result) -> dict[str, tuple[str, str]]:
    return {item["subject"]: (item["level"], item["message"]) for item in json.loads(result.out)["findings"]}


def test_doctor_tells_the_versions_of_what_is_installed(project: Command) -> None:
    found = told(project("doctor", "--json"))
    assert found["Python"][1].startswith(".".join(map(str, sys.version_info[:3])))
    assert found["torch"][0] == "ok" and found["torch"][1][0].isdecimal()
    assert "mypy " in found["type checkers"][1]
    assert found["project"][1].endswith("settings in pyproject.toml, 2 files may declare")


def test_doctor_finds_what_has_to_be_mended(project: Command) -> None:
    assert project("doctor").status == 0
    project.write("src/shop/model.pyi", "")
    result = project("doctor")
    assert result.status == 1
    assert (
        "problem  stub: src/shop/model.pyi stands beside a file with declarations\n         help: remove it"
        in result.out
    )


def test_doctor_looks_into_the_environment_of_the_settings(project: Command) -> None:
    site = Path("env/lib/python3.11/site-packages")
    for name, version in (("torch", "2.4.1+cpu"), ("qten-gen", "9.9")):
        project.write(
            f"{site}/{name.replace('-', '_')}-{version}.dist-info/METADATA", f"Name: {name}\nVersion: {version}\n"
        )
    project.write("pyproject.toml", "[tool.qten-gen]\nenvironment = 'env'\n")
    found = told(project("doctor", "--json"))
    assert found["torch"] == ("problem", "2.4.1+cpu is too old")
    assert found["qten-gen"][0] == "problem" and "9.9 is installed" in found["qten-gen"][1]
    assert found["type checkers"][1] == "none found" or "(" in found["type checkers"][1]


def test_doctor_finds_types_that_are_installed_twice(project: Command) -> None:
    project.write("env/lib/python3.11/site-packages/qten_gen_typing/__init__.pyi", "")
    project.write("pyproject.toml", "[tool.qten-gen]\nenvironment = 'env'\n")
    level, message = told(project("doctor", "--json"))["qten_gen_typing"]
    assert level == "problem" and message.startswith("found 2 times: env")


def test_doctor_and_show_say_how_they_are_called(project: Command) -> None:
    assert project("doctor", "--help").out.startswith("usage: qten-gen doctor [--json]\n")
    assert project("doctor", "src").status == 2
    assert project("show", "--help").out.startswith("usage: qten-gen show [--json] [--schema] [--color WHEN] TARGET\n")


def test_folders_with_the_names_of_commands_are_written_with_their_place(qten_gen: Command) -> None:
    for name in ("show", "doctor", "init"):
        qten_gen.write(f"{name}/model.py", BATCH)
        assert qten_gen(f"./{name}").summary == "2 files written"


def test_show_tells_derived_values_and_checks(project: Command) -> None:
    project.write(
        "src/shop/derived.py",
        "from qten_gen import Module, check, derived\n\nclass Net(Module):\n    dim: int\n"
        "    heads: int = 2\n    head_dim: int = derived('dim // heads')\n    check('dim % heads == 0')\n",
    )
    shown = project("show", "shop.derived:Net").out.splitlines()
    assert "  checks: [dim % heads == 0]" in shown
    assert "  head_dim  derived value: int; value=dim // heads  (src/shop/derived.py:6)" in shown


def test_show_takes_a_module_with_a_name_of_one_letter(project: Command) -> None:
    project.write("src/m.py", BATCH)
    assert project("show", "m:Batch").out.startswith("class Batch (")
