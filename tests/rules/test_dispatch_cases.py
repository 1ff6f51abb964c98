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
