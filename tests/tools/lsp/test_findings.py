"""Findings that `qten-gen lsp` publishes over open texts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.command import BATCH, BROKEN

from .client import Client

Start = Callable[..., Client]


def test_findings_of_a_text_that_is_not_saved_are_shown_and_cleared(shop: Client) -> None:
    shop.show("shop/model.py")
    shop.findings("shop/child.py", "QG210")
    shop.show("shop/model.py", BROKEN)
    (item,) = shop.findings("shop/model.py", "QG104")
    assert (item["severity"], item["source"]) == (1, "qten-gen")
    assert item["message"].startswith("TensorClass has no flag 'frozn'\nhelp: ") or "frozn" in item["message"]
    assert item["range"] == {"start": {"line": 3, "character": 25}, "end": item["range"]["end"]}
    shop.show("shop/model.py", BATCH)
    shop.findings("shop/model.py")
    assert not list(shop.root.rglob("*_qten.py*")) and not (shop.root / ".qten_cache").exists()


def test_findings_of_files_that_depend_on_a_text_follow_it(shop: Client) -> None:
    """The child has a field of the same name as a method that the base gets, and is right again without it."""
    shop.show("shop/model.py")
    shop.findings("shop/child.py", "QG210")
    shop.show("shop/model.py", f"{BATCH}\n    def w(self) -> None: ...\n")
    shop.until(lambda: len(shop.published.get("shop/child.py", [])) == 2, "a finding about the method")
    shop.show("shop/model.py", BATCH)
    shop.findings("shop/child.py", "QG210")


def test_half_typed_code_gives_one_finding_and_never_ends_the_server(shop: Client) -> None:
    text = (BATCH + '\n\nclass Net(Module):\n    w: nn.Parameter = param("3*dim", when="a")\n').lstrip("\n")
    shop.show("shop/model.py")
    shop.findings("shop/child.py", "QG210")
    shop.show("shop/model.py", "from qten_gen import TensorClass\nclass Batch(TensorClass\n")
    shop.findings("shop/model.py", "QG001")
    for end in range(40, len(text), 7):
        shop.show("shop/model.py", text[:end])
        assert shop.hover("shop/model.py", "Tensor") is not None
        assert len([code for code in shop.codes("shop/model.py") if code == "QG001"]) <= 1
    shop.show("shop/model.py", BATCH)
    shop.findings("shop/model.py")
    assert shop.said == []


def test_a_file_that_is_not_on_the_disk_yet_is_checked(shop: Client) -> None:
    shop.show("shop/new.py", BROKEN)
    shop.findings("shop/new.py", "QG104")
    shop.close("shop/new.py")
    shop.findings("shop/new.py")


def test_settings_that_become_wrong_are_shown_where_they_are_and_keep_what_is_known(shop: Client) -> None:
    shop.show("shop/model.py", BROKEN)
    shop.findings("shop/model.py", "QG104")
    shop.write("pyproject.toml", "[tool.qten-gen]\nsrcs = 1\n")
    changed = {"changes": [{"uri": shop.uri("pyproject.toml"), "type": 2}]}
    shop.notify("workspace/didChangeWatchedFiles", changed)
    (item,) = shop.findings("pyproject.toml", "QG004")
    assert item["range"]["start"]["line"] == 1
    assert shop.codes("shop/model.py") == ["QG104"]
    shop.write("pyproject.toml", '[tool.qten-gen.severity]\nQG210 = "off"\n')
    shop.notify("workspace/didChangeWatchedFiles", changed)
    shop.findings("pyproject.toml")
    shop.findings("shop/child.py")
    assert shop.codes("shop/model.py") == ["QG104"]


def test_each_folder_of_a_workspace_has_its_own_settings(server: Start, tmp_path: Path) -> None:
    for name, setting in {
        "one": "",
        "two": 'severity = { QG210 = "error" }\n',
        "three": 'exclude = ["model.py"]\n',
    }.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "pyproject.toml").write_text(f"[tool.qten-gen]\n{setting}")
        (tmp_path / name / "model.py").write_text(BATCH.replace("x: Tensor", "x: float"))
    client = server(tmp_path, "one", "two", "three")
    assert [item["severity"] for item in client.findings("one/model.py", "QG210")] == [2]
    assert [item["severity"] for item in client.findings("two/model.py", "QG210")] == [1]
    assert "three/model.py" not in client.published
    assert client.asked == ["client/registerCapability"], "it is told of files that change outside the editor"


def test_a_folder_that_goes_ends_its_findings(shop: Client) -> None:
    shop.findings("shop/child.py", "QG210")
    for name in ("child.py", "model.py", "__init__.py"):
        (shop.root / "shop" / name).unlink()
    (shop.root / "shop").rmdir()
    shop.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": shop.uri("shop/child.py"), "type": 3}]})
    shop.findings("shop/child.py")
