"""Mistakes in plain modules as people write them, and what looks like one and is none."""

from pathlib import Path

import pytest
from torch import nn

from qten_gen.cli.command import main
from qten_gen.model.diagnostics import Diagnostic
from qten_gen.project.scan import Origin
from qten_gen.rules.field_names import MODULE
from qten_gen.rules.plain_modules import PRIVATE
from qten_gen.tools.adopt.opening import Sources
from qten_gen.tools.check.plain_modules import check

HEAD = "import functools\nimport torch\nfrom torch import Tensor, nn\n"


def findings(**files: str) -> tuple[Diagnostic, ...]:
    """What is found in the files of a project, each of which begins with the usual imports."""
    texts = {f"{name}.py": (HEAD + text).encode() for name, text in files.items()}
    origins = {path: Origin("", path.removesuffix(".py")) for path in texts}
    return check(Sources.of(texts, origins, origins)).findings


def codes(body: str, **files: str) -> list[tuple[str, int]]:
    """The codes and lines in a module `Net` with this body; the first line of the body is 1."""
    lines = "\n".join(f"    {line}" for line in body.strip("\n").splitlines())
    text = f"class Net(nn.Module):\n{lines}\n"
    return [(item.code, item.span.line - 4) for item in findings(net=text, **files)]


FOUND: dict[str, list[tuple[str, int]]] = {
    "def forward(self, x):\n    return self.norm(x)": [("QG502", 2)],
    "def forward(self, x):\n    return self._hf_hook(x)": [],  # a library sets it
    "def __init__(self, dim):\n    self.dim = dim": [("QG501", 1)],
    "def __init__(self):  # qten-gen: ignore[QG501] made by load()\n    self.x = 1  # qten-gen: ignore[QG210] later": [],
    (
        "def __init__(self):\n    super().__init__()\n    self.maps: list[Tensor] = [torch.tensor(0)]\n"
        "def forward(self, x):\n    self.maps = [x]\n    return self.maps[0]"
    ): [],
}


@pytest.mark.parametrize("body", FOUND)
def test_what_is_found_in_a_module(body: str) -> None:
    assert codes(body) == FOUND[body]


@pytest.mark.parametrize(
    "other",
    [
        "def __init__(self):\n    super().__init__()\n    self.norm = nn.Identity()",
        "def __init__(self):\n    super().__init__()\n    add = self.add_module\n    add('norm', nn.Identity())",
        "norm = torch.relu",
        "norm: nn.Module",
        "def __init__(self):\n    super().__init__()\n    self.register_module('norm', nn.Identity())",
        "def __init__(self, **layers):\n    super().__init__()\n    for name in layers:\n        setattr(self, name, 1)",
        "def __getattr__(self, name):\n    return 1",
        "def attach(self):\n    if hasattr(self, 'norm'):\n        pass",
        "def attach(self, other):\n    other.norm = 1",
    ],
)
def test_an_attribute_that_something_may_define(other: str) -> None:
    found = codes(f"{other}\ndef forward(self, x):\n    return self.norm(x)")
    assert [code for code, _ in found if code == "QG502"] == []


def test_an_attribute_of_a_base_or_of_a_subclass_in_another_file() -> None:
    base = "class Base(nn.Module):\n    def forward(self, x): return self.up(self.down(x))\n    def down(self, x): return x\n"
    below = "from base import Base\nclass Net(Base):\n    def up(self, x):\n        return self.down(x)\n"
    assert findings(base=base, below=below) == ()


def test_a_base_of_another_library_may_define_anything() -> None:
    assert (
        findings(net="import timm\nclass Net(timm.Block):\n    def forward(self, x):\n        return self.norm(x)\n")
        == ()
    )


def test_a_mixin_whose_subclass_calls_the_constructor_of_another_base() -> None:
    sizes = "class Sizes(nn.Module):\n    def __init__(self, dim):\n        self.dim = dim\n"
    below = "from sizes import Sizes\nclass Net(nn.Linear, Sizes):\n"
    below += "    def __init__(self):\n        nn.Linear.__init__(self, 2, 2)\n"
    assert [item.code for item in findings(sizes=sizes)] == ["QG501"]
    assert findings(sizes=sizes, below=below) == ()


@pytest.mark.parametrize(
    "line",
    ["super().__init__()", "super(Net, self).__init__()", "nn.Module.__init__(self)", "raise NotImplementedError"],
)
def test_a_constructor_that_calls_that_of_its_base(line: str) -> None:
    assert codes(f"def __init__(self):\n    {line}") == []


INIT = "def __init__(self):\n    super().__init__()\n    self.mask = {}\ndef forward(self, x):\n    {}"


@pytest.mark.parametrize(
    ("made", "used", "expected"),
    [
        ("torch.ones(3)", "return x * self.mask", [("QG323", 3)]),
        ("torch.ones(3)", "return x", []),
        ("torch.ones(3)", "return x * self.mask.to(x.device)", []),
        ("torch.ones(3)", "mask = self.mask\n    mask = mask.to(x.device)\n    return x * mask", []),
        ("torch.ones(3)", "mask = self.mask\n    return x * mask", [("QG323", 3)]),
        ("torch.ones(3)", "self.mask = x", []),
        ("torch.ones(3)", "self.mask[0] = 1", []),
        ("torch.tensor(1.0)", "return x * self.mask", []),
        ("torch.arange(3)", "return x[:, self.mask]", []),
        ("[nn.Linear(3, 3)]", "return self.mask[0](x)", [("QG323", 3)]),
        ("torch.zeros(3, requires_grad=True)", "return x * self.mask.to(x.device)", [("QG323", 3)]),
        ("torch.zeros(3, requires_grad=True).to(x.device)", "return x * self.mask", [("QG323", 3)]),
        ("nn.Parameter(torch.zeros(3)).to(device)", "return x * self.mask", [("QG323", 3)]),
        ("nn.Parameter(torch.zeros(3)).cuda()", "return x * self.mask", [("QG323", 3)]),
        ("nn.Parameter(torch.zeros(3)).to(torch.float32)", "return x * self.mask", []),
    ],
)
def test_a_tensor_that_is_not_registered_and_used_as_it_is(
    made: str, used: str, expected: list[tuple[str, int]]
) -> None:
    assert codes(INIT.format(made, used)) == expected


def test_a_tensor_that_the_apply_of_another_class_moves() -> None:
    init = INIT.format("torch.ones(3)", "return x * self.mask").replace("\n", "\n    ")
    net = f"class Net(nn.Module):\n    {init}\n"
    outer = "class Outer(nn.Module):\n    net: nn.Module\n    def _apply(self, fn, recurse=True):\n"
    outer += "        self.net.mask = fn(self.net.mask)\n        return super()._apply(fn)\n"
    assert [item.code for item in findings(net=net)] == ["QG323"]
    assert findings(net=net, outer=outer) == ()


def test_classes_inside_functions_are_looked_at_too() -> None:
    text = (
        "def make():\n    class Net(nn.Module):\n        def __init__(self):\n            self.x = 1\n    return Net\n"
    )
    assert [(item.code, item.span.line) for item in findings(net=text)] == [("QG501", 6)]


def test_declared_classes_are_left_to_the_generator() -> None:
    text = "from qten_gen import Module\nclass Net(Module):\n    def forward(self, x):\n        return self.norm(x)\n"
    assert findings(net=text) == ()


def test_every_attribute_of_a_module_of_torch_is_known() -> None:
    assert {name for name in dir(nn.Module()) if not name.startswith("__")} <= MODULE | PRIVATE


def test_the_command_reports_and_exits_with_1(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("net.py").write_text(HEAD + "class Net(nn.Module):\n    def __init__(self):\n        self.x = 1\n")
    assert main(["check", "net.py", "--output-format", "concise"]) == 1
    said = capsys.readouterr().out
    assert said.startswith("net.py:5:9: warning QG501 [missing-super-init]: __init__ of Net does not call")
    assert "1 finding in 1 module of 1 file in " in said
    assert list(tmp_path.iterdir()) == [tmp_path / "net.py"]


def test_a_second_check_finds_the_same_until_the_file_is_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("pyproject.toml").write_text("[tool.qten-gen]\n")
    Path("net.py").write_text(HEAD + "class Net(nn.Module):\n    def __init__(self):\n        self.x = 1\n")
    assert main(["check"]) == 1
    first = capsys.readouterr().out
    assert main(["check"]) == 1
    assert capsys.readouterr().out.rpartition(" in ")[0] == first.rpartition(" in ")[0]
    Path("net.py").write_text("")
    assert main(["check"]) == 0
    assert "no plain modules in 1 file; qten-gen checks declared ones, in " in capsys.readouterr().out


LIST = "    def __init__(self):\n        super().__init__()\n        self.layers = [nn.Linear(2, 2)]\n"


@pytest.mark.parametrize(
    ("name", "files"),
    [
        ("torch.nn.Module", {}),
        ("Base", {"layers": "from torch.nn import Module as Base\n"}),
        ("Base", {"layers": "from bases import *\n", "bases": "from torch import nn\nclass Base(nn.Module): ...\n"}),
        ("Base", {"layers": "from torch import nn\nBase = nn.Module\n"}),
        ("Base", {"layers": "from torch import nn\nclass Inner(nn.Module): ...\nBase = Inner\n"}),
    ],
)
def test_a_module_is_found_whatever_way_leads_to_its_base(name: str, files: dict[str, str]) -> None:
    imported = "from layers import *\n" if name == "Base" else f"import {name.partition('.')[0]}\n"
    texts = {**files, "net": f"{imported}from torch import nn\nclass Net({name}):\n{LIST}", "plain": "x = (\n"}
    data = {f"{each}.py": text.encode() for each, text in texts.items()}
    origins = {path: Origin("", path.removesuffix(".py")) for path in data}
    checked = check(Sources.of(data, origins, origins))
    assert [(item.path, item.code) for item in checked.findings] == [("net.py", "QG323")]


MADE = {
    "": [("QG505", 3)],
    "def forward(self, x):\n    return x * self.table\n": [("QG505", 3)],
    "def reset_parameters(self):\n    self.table.copy_(torch.ones(2))\n": [],
    "def init_weights(self):\n    torch.nn.init.ones_(self.table)\n": [],
    "def grow(self):\n    self.table = torch.ones(4)\n": [],
    "def grow(self):\n    self.table[0] = 1\n": [],
    "def grow(self):\n    self.register_buffer('table', torch.ones(4), persistent=False)\n": [],
}


@pytest.mark.parametrize("method", MADE)
def test_a_buffer_that_is_in_no_state_dict_and_that_only_the_constructor_makes(method: str) -> None:
    body = "def __init__(self):\n    super().__init__()\n    self.{}\n{}"
    registers, assigns = "register_buffer('table', torch.ones(2){})", "table = nn.Buffer(torch.ones(2){})"
    assert not codes(body.format(registers.format(", persistent=False"), method))
    body += "# after to_empty()"
    for buffer in (registers, assigns, assigns.replace(" =", ": torch.Tensor =")):
        assert codes(body.format(buffer.format(", persistent=False"), method)) == MADE[method]
        assert not codes(body.format(buffer.format(""), method))
        assert not codes(body.format(buffer.format(", persistent=True"), method))
    assert codes(body.format(registers.format(", False"), method)) == MADE[method]


@pytest.mark.parametrize("write", ["init.ones_(module.table)", "module.table.fill_(1)", "module.table = torch.ones(2)"])
def test_a_buffer_that_another_class_fills(write: str) -> None:
    body = "def __init__(self):\n    super().__init__()\n    self.table = nn.Buffer(torch.ones(2), persistent=False)\n"
    other = f"class Model(nn.Module):\n    def _init_weights(self, module):  # after to_empty()\n        {write}\n"
    assert not codes(body, model=other)


@pytest.mark.parametrize("tensor", ["None", "torch.empty(0)", "torch.ones(2).new_empty(0)", "torch.empty(2)"])
def test_a_buffer_without_elements_has_no_values_to_lose(tensor: str) -> None:
    body = f"def __init__(self):  # to_empty\n    super().__init__()\n    self.register_buffer('at', {tensor}, persistent=False)"
    assert codes(body) == ([("QG505", 3)] if tensor == "torch.empty(2)" else [])


@pytest.mark.parametrize(("at", "other"), [("Base", "nn.Module"), ("Deeper", "Net")])
def test_a_buffer_that_a_base_or_a_subclass_fills(at: str, other: str) -> None:
    init = "super().__init__(); self.at = nn.Buffer(torch.ones(2), persistent=False)"
    made = f"class Net({{}}):\n    def __init__(self): {init}\n"
    filling = f"class {at}({other}):\n    def {{}}(self):  # after to_empty()\n        self.at.fill_(1)\n"
    for method, expected in (("reset_parameters", []), ("forward", ["QG505"])):
        classes = [filling.format(method), made.format("Base" if at == "Base" else "nn.Module")]
        text = "".join(classes if at == "Base" else reversed(classes))
        assert [item.code for item in findings(net=text)] == expected
