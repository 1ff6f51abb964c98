"""What `qten-gen lsp` shows over a name, and what it offers at a finding."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.command import BATCH, Command

from .client import Client

NET = '''
import torch
from torch import Tensor, nn
from qten_gen import Module, TensorClass, buffer, param, submodule

class Batch(TensorClass):
    """Token ids."""

    tokens: Tensor
    mask: Tensor | None = None

class Net(Module):
    dim: int
    qkv: nn.Parameter = param("3*dim", "dim", initializer=nn.init.ones_)
    heads: nn.ParameterList = param("dim", initializer=nn.init.ones_, repeat=2)
    mean: Tensor = buffer("dim", persistent=False, initializer=nn.init.zeros_)
    norm: nn.LayerNorm = submodule(nn.LayerNorm, "dim")
    """Scales its input."""

    def forward(self, x: Tensor) -> Tensor:
        return self.norm(x)
'''


TWO = """
from torch import Tensor
from qten_gen import TensorClass, field

class Two(TensorClass):
    a: float = field(
        default=1.0)
    '😀'; b: float = 1.0  # noqa
"""


def test_a_declared_name_shows_what_is_understood(shop: Client) -> None:
    shop.show("shop/model.py", NET)
    assert shop.hover("shop/model.py", "    tokens").startswith("```text\nBatch.tokens\n  tensor: Tensor\n```")
    assert "tensor: Tensor | None\n" in shop.hover("shop/model.py", "    mask")
    assert "Net.qkv\n  parameter: nn.Parameter [3*dim, dim]\n" in shop.hover("shop/model.py", "    qkv")
    assert shop.hover("shop/model.py", "    norm").endswith("Scales its input.")
    whole = shop.hover("shop/model.py", "class Batch")
    assert whole.startswith("```text\nclass Batch (qten_gen.TensorClass), a TensorClass\n") and "Token ids." in whole
    assert "  mask    tensor: Tensor | None" in whole
    assert shop.hover("shop/model.py", "return self") == ""
    assert shop.hover("shop/model.py", "def forward") == ""


def test_a_finding_shows_the_page_of_its_rule(shop: Client) -> None:
    shop.show("shop/child.py")
    shop.findings("shop/child.py", "QG210")
    shown = shop.hover("shop/child.py", "w: float")
    assert "QG210 [implicit-tensor-conversion], a warning" in shown and "Reported:" in shown


def test_a_quick_fix_mends_as_fix_does(shop: Client) -> None:
    text = NET.replace("TensorClass):", "TensorClass, frozn=True):").replace('"3*dim"', '"3*dmi"')
    shop.show("shop/model.py", text)
    shop.findings("shop/model.py", "QG104", "QG302")
    offered = shop.actions("shop/model.py", 5)
    fix = offered["QG104: change to 'frozen'"]
    assert (fix["kind"], fix["isPreferred"], [item["code"] for item in fix["diagnostics"]]) == (
        "quickfix",
        True,
        ["QG104"],
    )
    shop.apply(fix)
    shop.findings("shop/model.py", "QG302")
    assert "frozen=True" in shop.texts["shop/model.py"]
    shop.apply(shop.actions("shop/model.py", 1, ["source.fixAll"])["qten-gen: mend what can be mended"])
    shop.findings("shop/model.py")
    assert shop.texts["shop/model.py"] == text.replace("frozn", "frozen").replace("dmi", "dim").lstrip("\n")
    assert shop.actions("shop/model.py", 5, ["quickfix"]) == {}


def test_a_likely_fix_is_offered_and_not_made_with_all_others(shop: Client) -> None:
    shop.show("shop/model.py", BATCH.replace("x: Tensor", "x: Tensr"))
    shop.findings("shop/model.py", "QG207")
    assert "qten-gen: mend what can be mended" not in shop.actions("shop/model.py", 5, ["source.fixAll"])
    assert "isPreferred" not in shop.actions("shop/model.py", 5)["QG207: change to 'Tensor'"]


def test_a_finding_that_a_comment_can_suppress_is_suppressed(shop: Client) -> None:
    shop.show("shop/model.py", TWO)
    shop.findings("shop/model.py", "QG210", "QG210")
    for line in (5, 7):
        shop.apply(shop.actions("shop/model.py", line, ["quickfix"])["Ignore QG210 here"])
    shop.findings("shop/model.py")
    assert "    a: float = field(  # qten-gen: ignore[QG210]\n" in shop.texts["shop/model.py"]
    assert "b: float = 1.0  # noqa  # qten-gen: ignore[QG210]\n" in shop.texts["shop/model.py"]
    shop.show("shop/model.py", BATCH.replace("TensorClass):", "TensorClass, frozn=True):"))
    shop.findings("shop/model.py", "QG104")
    assert [title for title in shop.actions("shop/model.py", 4) if "Ignore" in title] == [], "an error cannot be"


def test_a_warning_that_an_earlier_run_found_can_be_mended_too(shop: Client) -> None:
    """The cache of a run does not keep how to mend a warning."""
    shop.show("shop/model.py", BATCH.replace("x: Tensor", "x: Tensor = None"))
    shop.until(lambda: bool(shop.codes("shop/model.py")), "a finding")
    (finding,) = shop.codes("shop/model.py")
    mend = [item for title, item in shop.actions("shop/model.py", 5).items() if title.startswith(f"{finding}: ")]
    shop.apply(mend[0])
    shop.findings("shop/model.py")
    assert "x: Tensor | None = None" in shop.texts["shop/model.py"]


def test_the_generated_files_are_written_on_demand(shop: Client) -> None:
    shop.show("shop/model.py")
    action = shop.actions("shop/model.py", 1, ["source"])["qten-gen: write the generated files"]
    shop.request("workspace/executeCommand", action["command"])
    assert (shop.root / "shop/model_qten.pyi").exists() and (shop.root / "shop/child_qten.py").exists()
    shop.until(lambda: bool(shop.said), "a message")
    assert shop.said[0].startswith("qten-gen: 4 files written; 1 warning in ")
    (shop.root / "shop/model_qten.py").unlink()
    shop.request("workspace/executeCommand", {"command": "qten-gen.generate"})
    assert (shop.root / "shop/model_qten.py").exists(), "without an argument, all projects are meant"


def test_saving_generates_where_that_is_asked_for(server: Callable[..., Client], tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.qten-gen]\n")
    client = server(tmp_path, generateOnSave=True)
    client.show("model.py", BATCH)
    client.save("model.py")
    client.show("model.py", BATCH.replace("x: Tensor", "x: float"))
    client.findings("model.py", "QG210")
    output = client.root / "model_qten.py"
    while not output.exists():
        client.request(
            "textDocument/hover",
            {"textDocument": {"uri": client.uri("model.py")}, "position": {"line": 0, "character": 0}},
        )
    client.notify("workspace/didChangeConfiguration", {"settings": {"qten-gen": {"generateOnSave": False}}})
    before = output.read_bytes()
    client.save("model.py")
    client.actions("model.py", 1)
    assert output.read_bytes() == before


def test_lsp_says_how_it_is_called(qten_gen: Command) -> None:
    assert qten_gen("lsp", "--help").out.startswith("usage: qten-gen lsp")
    assert qten_gen("lsp", "here").status == 2
