"""The playground of the built site, in a browser: `make test-playground` builds it first."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from docs.site.playground import REPOSITORY
from qten_gen.generate.plan import plan
from tests import browser

from .serving import Server, served

SITE = REPOSITORY / "build" / "site"
EXAMPLES = sorted((SITE / "_static" / "playground" / "examples").glob("*.py"))

pytestmark = [
    pytest.mark.skipif(browser.PATH is None, reason="needs Chromium"),
    pytest.mark.skipif(
        not (SITE / "_static" / "playground" / "files.json").exists(), reason="needs `make docs`, with npm"
    ),
]

MISTAKE = """from qten_gen import Module, param
from torch import nn


class Scale(Module):
    dim: int
    weight: nn.Parameter = param("dmi", initializer=nn.init.ones_)
"""


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with served(SITE) as running:
        yield running


@pytest.fixture(scope="module")
def page(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[browser.Page]:
    """The page, with the first example generated."""
    with browser.opened(f"{server.url}playground.html", tmp_path_factory.mktemp("profile")) as opened:
        opened.wait_until("/^Generated|cannot/.test(document.querySelector('.playground-status').textContent)")
        yield opened


@pytest.fixture(params=[1280, 390])
def screen(page: browser.Page, request: pytest.FixtureRequest) -> browser.Page:
    """The page on a wide and on a narrow screen."""
    page.resize(request.param)
    return page


def text_of(page: browser.Page, name: str) -> str:
    text: str = page.read(f"document.querySelector('.playground-{name}').innerText")
    return text


def write(page: browser.Page, text: str) -> None:
    """Type a text in place of what the editor has, and wait until its result is shown."""
    page.read("document.querySelector('.playground-text').select()")
    page.read("document.querySelector('.playground-status').textContent = ''")
    page.read("document.querySelector('.playground-text').focus()")
    page.type(text)
    page.wait_until("document.querySelector('.playground-status').textContent", 20)


def generated(page: browser.Page, panel: str) -> str:
    text: str = page.read(f"document.querySelector('#panel-{panel} pre').textContent")
    return text


def test_a_mistake_is_found_and_marked_and_gone_when_it_is_mended(screen: browser.Page) -> None:
    write(screen, MISTAKE)
    assert text_of(screen, "findings").splitlines() == [
        "model.py:7:35: error QG302 [unknown-dimension]: there is no config field dmi",
        "  |",
        '7 |     weight: nn.Parameter = param("dmi", initializer=nn.init.ones_)',
        "  |                                   ^^^",
        "help: did you mean dim?",
    ]
    assert screen.read("[...document.querySelectorAll('.playground mark')].map(m => m.textContent)") == ["dmi"]
    write(screen, MISTAKE.replace("dmi", "dim"))
    assert text_of(screen, "findings") == ""
    assert screen.read("document.querySelectorAll('.playground mark').length") == 0
    assert "class _Scale_(" in generated(screen, "python")
    assert "from model import Scale as Scale" in generated(screen, "stub")


def test_a_click_on_a_finding_selects_its_place(screen: browser.Page) -> None:
    write(screen, MISTAKE)
    screen.read("document.querySelector('.playground-findings button').click()")
    assert screen.read("document.activeElement.className") == "playground-text"
    assert screen.read("getSelection().toString()") == "dmi"


def test_the_page_does_not_scroll_sideways(screen: browser.Page) -> None:
    write(
        screen, MISTAKE.replace("dmi", "a_very_long_name_of_a_field_that_does_not_exist_anywhere_in_this_declaration")
    )
    assert screen.read("document.documentElement.scrollWidth <= innerWidth")


def test_a_link_carries_the_text_and_nothing_in_it_becomes_a_part_of_the_page(
    page: browser.Page, server: Server
) -> None:
    text = MISTAKE.replace("Scale(Module):", 'Größe(Module):\n    """Of <b>one</b> kind."""\n').replace("dmi", "dim")
    write(page, text)
    page.read("document.querySelector('.playground-link').click()")
    page.wait_until("location.hash")
    link = page.read("location.href")
    page.open("about:blank")
    page.open(link)
    page.wait_until("/^Generated/.test(document.querySelector('.playground-status').textContent)")
    assert page.read("document.querySelector('.playground-text').value") == text
    assert "class _Größe_(" in generated(page, "python")
    write(page, text.replace('"dim"', '"<b>"'))
    assert "<b>" in text_of(page, "findings")
    assert page.read("document.querySelectorAll('.playground b').length") == 0


@pytest.mark.parametrize("example", EXAMPLES, ids=[path.stem for path in EXAMPLES])
def test_an_example_gives_what_the_command_writes(page: browser.Page, example: Path) -> None:
    page.read("document.querySelector('.playground-status').textContent = ''")
    page.read(
        f"(list => {{ list.value = {json.dumps(example.stem)}; list.dispatchEvent(new Event('change')) }})"
        "(document.querySelector('.playground-example'))"
    )
    page.wait_until("document.querySelector('.playground-status').textContent", 20)
    outputs = plan({"model.py": example.read_bytes()}, {}).outputs
    assert generated(page, "python") == outputs["model_qten.py"]
    assert generated(page, "stub") == outputs["model_qten.pyi"]
    assert text_of(page, "findings") == ""


def test_a_new_line_is_indented_and_tab_leaves_the_editor(page: browser.Page) -> None:
    write(page, "class Batch:")
    page.press("Enter", 13, "\r")
    page.type("x: int")
    assert page.read("document.querySelector('.playground-text').value") == "class Batch:\n    x: int"
    page.press("Tab", 9)
    assert page.read("document.activeElement.className") != "playground-text"


def test_arrows_choose_the_file_that_is_shown(page: browser.Page) -> None:
    page.read("document.querySelector('#tab-python').focus()")
    page.press("ArrowRight", 39)
    assert page.read("[document.activeElement.id, document.querySelector('#panel-python').hidden]") == [
        "tab-stub",
        True,
    ]
    page.press("ArrowRight", 39)
    assert page.read("[document.activeElement.id, document.querySelector('#panel-stub').hidden]") == [
        "tab-python",
        True,
    ]


def test_no_request_leaves_the_site(page: browser.Page, server: Server) -> None:
    """The policy of the server forbids it, and the browser reports what it was kept from: at last a request on purpose."""
    assert server.reports == []
    page.read("void fetch('https://example.com/').catch(() => 0)")
    for _ in range(100):
        if server.reports:
            break
        page.call("Runtime.evaluate", expression="new Promise(done => setTimeout(done, 50))", awaitPromise=True)
    assert ["https://example.com" in report for report in server.reports] == [True]


def test_a_site_that_was_built_without_npm_says_so(tmp_path: Path) -> None:
    leave_out = shutil.ignore_patterns("files.json", "pyodide", "generator.zip")
    shutil.copytree(SITE, tmp_path / "site", ignore=leave_out)
    with (
        served(tmp_path / "site") as server,
        browser.opened(f"{server.url}playground.html", tmp_path / "profile") as opened,
    ):
        opened.wait_until("/cannot/.test(document.querySelector('.playground-status').textContent)")
        assert text_of(opened, "status") == (
            "The playground cannot start: this copy of the site was built without the playground, which needs npm."
        )
