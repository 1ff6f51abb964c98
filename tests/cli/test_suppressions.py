"""Comments and settings that suppress findings, from one run to the next."""

import json
import os

from tests.command import Command, Result

HEAD = "from torch import Tensor, nn\nfrom qten_gen import Module, TensorClass, submodule\n\n"
NUMBER = f"{HEAD}class Batch(TensorClass):\n    w: float{{}}\n"


def test_a_comment_in_a_base_decides_whether_its_children_are_generated(qten_gen: Command) -> None:
    base = HEAD + "class Base(Module):\n    act: nn.ReLU = submodule(nn.ReLU, inplac=True){}\n"
    qten_gen.write("src/child.py", "from base import Base\n\nclass Child(Base):\n    more: str\n")
    qten_gen.write("src/base.py", base.format("  # qten-gen: ignore[QG320]"))
    assert qten_gen("src").summary == "4 files written"
    qten_gen.write("src/base.py", base.format(""))
    assert qten_gen("src").summary == "1 error in 1 file, 1 file held back; nothing written"
    qten_gen.write("src/base.py", base.format("  # qten-gen: ignore[QG320]"))
    assert qten_gen("src").summary == "4 files up to date"


def with_settings(qten_gen: Command, text: str) -> Result:
    qten_gen.write("pyproject.toml", f"[tool.qten-gen]\n{text}")
    return qten_gen("--output-format", "json", "src")


def reported(result: Result) -> list[tuple[str, str, str]]:
    found = json.loads(result.out)["diagnostics"]
    return [(item["path"].removeprefix("src" + os.sep), item["code"], item["severity"]) for item in found]


def test_settings_change_what_is_reported_and_not_what_is_generated(qten_gen: Command) -> None:
    qten_gen.write("src/new.py", NUMBER.format(""))
    qten_gen.write("src/legacy/old.py", NUMBER.format(""))
    both = [("legacy/old.py", "QG210", "warning"), ("new.py", "QG210", "warning")]
    for text, status, expected in [
        ("", 0, both),
        ('severity = { QG210 = "off" }\n', 0, []),
        ('severity = { QG210 = "error" }\n', 1, [(path, code, "error") for path, code, _ in both]),
        ('severity = { QG210 = "warning" }\n', 0, both),
        ('per-file-ignores = { "src/legacy/*" = ["QG210"] }\n', 0, both[1:]),
        ('per-file-ignores = { legacy = "QG210" }\n', 0, both[1:]),
        ('per-file-ignores = { "old.py" = ["QG210"] }\n', 0, both[1:]),
        ('per-file-ignores = { "*.py" = ["QG216"] }\n', 0, both),
        ('severity = { QG210 = "error" }\nper-file-ignores = { "*.py" = ["QG210"] }\n', 0, []),
    ]:
        for _ in range(2):
            result = with_settings(qten_gen, text)
            assert (result.status, reported(result)) == (status, expected), text
        assert qten_gen.exists("src/new_qten.py") and qten_gen.exists("src/legacy/old_qten.py")
