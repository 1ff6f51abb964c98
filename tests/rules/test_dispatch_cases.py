"""What the rules about handlers report beyond their own examples."""

from textwrap import dedent

import pytest

from qten_gen.generate.plan import plan

NET = "from qten_gen import Module\nclass Net(Module): ...\n"
HANDLER = "from shop.net import Net\n@Net.register(str)\ndef handle(net, text): ...\n"


def codes(files: dict[str, str]) -> list[str]:
    """The codes of what a run says about files of a package `shop` and others."""
    texts = {"shop/__init__.py": "", "shop/net.py": NET, **files}
    return [item.code for item in plan({path: dedent(text).encode() for path, text in texts.items()}, {}).diagnostics]


def test_a_handler_in_a_module_that_nobody_imports_is_reported_where_it_stands() -> None:
    sources = {"shop/__init__.py": b"", "shop/net.py": NET.encode(), "shop/more.py": HANDLER.encode()}

    (item,) = plan(sources, {}).diagnostics

    assert (item.path, item.span.line, item.kind.severity) == ("shop/more.py", 2, "warning")
    assert item.message == "nothing imports shop.more, so its handlers for Net are not registered"
    assert item.help == "import it where Net is used, or in shop"


@pytest.mark.parametrize(
    "importing",
    [
        {"shop/__init__.py": "from . import more\n"},
        {"shop/__init__.py": "from .more import handle\n"},
        {"shop/__init__.py": "from .more import *\n"},
        {"shop/net.py": NET + "import shop.more\n"},
        {"main.py": "import shop.more\n"},
        {"shop/use.py": "def f():\n    from shop.more import handle\n"},
    ],
)
def test_any_import_in_another_file_will_do(importing: dict[str, str]) -> None:
    assert codes({"shop/more.py": HANDLER, **importing}) == []


def test_an_import_in_the_file_itself_will_not_do() -> None:
    assert codes({"shop/more.py": f"import shop.more\n{HANDLER}"}) == ["QG403"]


def test_a_module_of_the_same_name_in_another_package_is_another_module() -> None:
    assert codes({"shop/more.py": HANDLER, "other/__init__.py": "from . import more\n", "other/more.py": ""}) == [
        "QG403"
    ]


@pytest.mark.parametrize(
    "path", ["more.py", "shop/__main__.py", "shop/test_more.py", "shop/conftest.py", "shop/deep/__init__.py"]
)
def test_a_file_that_is_run_or_imported_by_its_place_needs_no_import(path: str) -> None:
    assert codes({path: HANDLER}) == []


def test_a_program_needs_no_import() -> None:
    assert codes({"shop/train.py": f"{HANDLER}\nif __name__ == '__main__':\n    print(Net()('a'))\n"}) == []


def test_the_file_of_the_owner_needs_no_import() -> None:
    assert codes({"shop/net.py": f"{NET}@Net.register(str)\ndef handle(net, text): ...\n"}) == []


def uncovered(forward: str, registered: str = "Batch", handler: str = "net: Net, batch: Batch") -> list[str]:
    """The messages, with their help, about one handler of a module with a `forward`."""
    text = (
        "from typing import *\nfrom collections.abc import Sequence\nfrom torch import Tensor\nfrom jaxtyping import Float\n"
        "from qten_gen import Module, Ragged, TensorClass\n"
        "class Batch(TensorClass):\n    x: Tensor\nclass Sub(Batch): ...\n"
        "class Pair(NamedTuple):\n    x: Tensor\nclass HasX(Protocol):\n    x: Tensor\n"
        "T = TypeVar('T')\nS = TypeVar('S', bound=Sub)\n"
        f"class Net(Module):\n{forward}\nclass Heir(Net): ...\n"
        f"@{'Heir' if 'Heir' in handler else 'Net'}.register({registered})\ndef _({handler}) -> int: ...\n"
    )
    found = plan({"net.py": text.encode()}, {}).diagnostics
    return [f"{item.code} {item.message}; {item.help}" for item in found]


@pytest.mark.parametrize(
    ("forward", "registered"),
    [
        ("    def forward(self, x: Tensor | Batch) -> int: ...", "Batch"),
        ("    def forward(self, x: 'Tensor | Batch') -> int: ...", "Sub"),
        ("    def forward(self, x: Optional[Batch]) -> int: ...", "Sub"),
        ("    def forward(self, x: object) -> int: ...", "str"),
        ("    def forward(self, x: int) -> int: ...", "bool"),
        ("    def forward(self, x: Sequence[int]) -> int: ...", "list"),
        ("    def forward(self, x: Any) -> int: ...", "Batch"),
        ("    def forward(self, x): ...", "Batch"),
        ("    def forward(self, x: float) -> int: ...", "int"),
        ("    def forward(self, x: tuple[Tensor, Tensor]) -> int: ...", "Pair"),
        ("    def forward(self, x: HasX) -> int: ...", "Batch"),
        ("    def forward(self, x: T) -> T: ...", "Batch"),
        ("    def forward(self, *x: Any): ...", "Batch"),
        ("    n: int", "Batch"),
        ("    @overload\n    def forward(self, x: Tensor) -> int: ...\n    @overload\n"
         "    def forward(self, x: Batch) -> int: ...\n    def forward(self, x: Any) -> Any: ...", "Batch"),
    ],
)  # fmt: skip
def test_a_handler_is_covered_by_what_forward_takes(forward: str, registered: str) -> None:
    assert uncovered(forward, registered) == []


@pytest.mark.parametrize(
    ("forward", "registered"),
    [
        ("    def forward(self, x: Tensor) -> int: ...", "Batch"),
        ("    def forward(self, x: Ragged[Tensor]) -> int: ...", "Batch"),
        ('    def forward(self, x: Float[Tensor, "n"]) -> int: ...', "Batch"),
        ("    def forward(self, x: Sub) -> int: ...", "Batch"),
        ("    def forward(self, x: Union[Tensor, int]) -> int: ...", "str"),
        ("    def forward(self, *x: Tensor) -> int: ...", "Batch"),
        ("    def forward(self, x: S) -> S: ...", "Batch"),
    ],
)
def test_a_handler_that_forward_does_not_take_is_reported(forward: str, registered: str) -> None:
    (said,) = uncovered(forward, registered)
    assert said.startswith(f"QG404 the forward of Net does not take {registered}, so type checkers refuse the call")
    assert "give it overloads, one of them `def forward(self, x: Batch) -> int: ...`" in said


def test_the_missing_overload_has_the_handlers_signature_and_the_name_in_forward() -> None:
    (said,) = uncovered(
        "    def forward(self, x: Tensor) -> int: ...", "Batch", "heir: Heir, batch, /, *, scale: float = 2.0"
    )
    assert "the forward of Net, a base of Heir, does not take Batch" in said
    assert "`def forward(self, x: Batch, /, *, scale: float=2.0) -> int: ...`" in said


def test_a_module_with_overloads_gets_one_more() -> None:
    text = (
        "from typing import Any, overload\nfrom torch import Tensor\nfrom qten_gen import Module\n"
        "class Net(Module):\n    @overload\n    def forward(self, x: Tensor) -> Tensor: ...\n    @overload\n"
        "    def forward(self, x: int) -> int: ...\n    def forward(self, x: Any) -> Any: ...\n"
        "@Net.register(str)\ndef _(net: Net, text: str) -> str: ...\n"
    )
    (item,) = plan({"net.py": text.encode()}, {}).diagnostics
    assert item.fix is not None and not item.fix.is_sure
    assert item.fix.text == "\n    @overload\n    def forward(self, x: str) -> str: ..."
