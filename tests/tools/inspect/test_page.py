"""The page of HTML: complete, self-contained and safe as text; foldable, readable and usable by keyboard in a browser."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qten_gen.tools.inspect.inspection import inspect
from qten_gen.tools.inspect.request import Request
from qten_gen.tools.inspect.views.page import as_html
from qten_gen.tools.inspect.views.treemap import Area, Cell, layout, squarified

from . import browser

NET = Request(
    "tests.tools.inspect.samples:Net", ("width=8",), inputs=("Batch(tokens=Int[2,7], batch_size=[2])",), ranks=3
)

VOID = {"meta", "br", "hr", "img", "link", "input"}


class Elements(HTMLParser):
    """The elements of a page, which have to be closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str]]] = []
        self.texts: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


@pytest.fixture(scope="module")
def page() -> str:
    return as_html(inspect(NET))


def test_every_element_is_closed_and_every_reference_leads_somewhere(page: str) -> None:
    elements = Elements(page).found
    ids = [attributes["id"] for _, attributes in elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    referred = {attributes["data-item"] for _, attributes in elements if "data-item" in attributes}
    assert referred
    assert referred <= set(ids)


def test_the_page_loads_nothing(page: str) -> None:
    elements = Elements(page).found
    loading = {"src", "href", "srcset", "action", "data", "poster"}
    assert [
        tag for tag, attributes in elements if loading & attributes.keys() or tag in ("link", "iframe", "object")
    ] == []
    assert not re.search(r"https?:|//cdn|@import|url\(|fetch\(|XMLHttpRequest", page)
    policy = next(attributes["content"] for tag, attributes in elements if attributes.get("http-equiv"))
    assert policy.startswith("default-src 'none'")


def test_the_tree_has_a_line_for_each_module_and_tensor(page: str) -> None:
    items = [attributes for _, attributes in Elements(page).found if attributes.get("role") == "treeitem"]
    # The model, its two embeddings, the list, one of three blocks with a buffer and a layer of two, the norm of two.
    assert len(items) == 1 + 2 + 1 + (1 + 1 + 3) + 3
    assert [item["aria-level"] for item in items[:4]] == ["1", "2", "2", "2"]
    assert "3 × Attention" in page  # noqa: RUF001
    assert "tied to embedding" in page


def test_names_are_escaped() -> None:
    text = as_html(inspect(Request("tests.tools.inspect.samples:Weird")))
    elements = Elements(text).found
    assert [tag for tag, _ in elements if tag == "img"] == []
    assert "&lt;img src=x onerror=alert(1)&gt;" in text
    assert not [name for _, attributes in elements for name in attributes if name.startswith("on")]


def cells_of(cells: tuple[Cell, ...], place: tuple[float, float]) -> Iterator[tuple[str, float]]:
    """The part of the whole that each cell of the first level takes."""
    for cell in cells:
        yield cell.area.key, cell.width * cell.height / 10_000


@given(st.lists(st.floats(0.5, 1000), min_size=1, max_size=12))
def test_rectangles_fill_the_place_in_proportion_and_do_not_overlap(weights: list[float]) -> None:
    falling = sorted(weights, reverse=True)
    found = squarified(falling, (0.0, 0.0, 100.0, 60.0))
    for weight, (left, top, width, height) in zip(falling, found, strict=True):
        assert width * height == pytest.approx(6000 * weight / sum(falling), rel=1e-6)
        assert left >= -1e-6 and top >= -1e-6
        assert left + width <= 100 + 1e-6 and top + height <= 60 + 1e-6
    for i, (left, top, width, height) in enumerate(found):
        for other_left, other_top, other_width, other_height in found[:i]:
            across = min(left + width, other_left + other_width) - max(left, other_left)
            along = min(top + height, other_top + other_height) - max(top, other_top)
            assert across < 1e-6 or along < 1e-6


def test_the_areas_of_the_map_are_those_of_the_weights() -> None:
    areas = tuple(Area(name, name, name, weight) for name, weight in (("a", 5.0), ("b", 3.0), ("c", 0.0), ("d", 2.0)))
    found = dict(cells_of(layout(Area("", "", "", 10.0, areas)), (100, 100)))
    assert found == pytest.approx({"a": 0.5, "b": 0.3, "d": 0.2})


in_browser = pytest.mark.skipif(browser.PATH is None, reason="needs Chromium: apt-get install chromium")


@pytest.fixture(scope="module")
def opened(page: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[browser.Page]:
    folder = tmp_path_factory.mktemp("page")
    (folder / "page.html").write_text(page, encoding="utf-8")
    with browser.opened(folder / "page.html", folder / "profile") as found:
        yield found


def focused(page: browser.Page) -> str:
    """The label of the line or rectangle that has the focus."""
    text = page.read("(document.activeElement.querySelector('.label') ?? document.activeElement).innerText")
    return str(text).split("\n")[0].strip()


@in_browser
@pytest.mark.long(5)
def test_the_tree_is_walked_and_folded_by_keys(opened: browser.Page) -> None:
    opened.read("document.querySelector('[role=tree] [role=treeitem]').focus()")
    assert focused(opened) == "Net"
    opened.press("ArrowDown", "ArrowDown", "ArrowDown")
    assert focused(opened) == "blocks ModuleList"
    shown = "document.querySelectorAll('[role=treeitem]').length - [...document.querySelectorAll('[role=treeitem]')]"
    shown += ".filter((item) => item.offsetParent === null).length"
    before = opened.read(shown)
    opened.press("ArrowLeft")
    assert opened.read(shown) == before - 5
    assert opened.read("document.activeElement.getAttribute('aria-expanded')") == "false"
    opened.press("ArrowDown")
    assert focused(opened).startswith("norm")
    opened.press("ArrowUp", "ArrowRight", "ArrowRight")
    assert focused(opened) == "0-2 3 \u00d7 Attention"
    opened.press("End")
    assert focused(opened) == "bias"
    opened.press("Home", "Enter")
    assert opened.read(shown) == 1
    opened.press(" ")
    assert opened.read(shown) == before
    assert opened.read("document.querySelectorAll('[role=treeitem][tabindex=\"0\"]').length") == 1


@in_browser
def test_a_rectangle_leads_to_its_line_by_keys_and_by_click(opened: browser.Page) -> None:
    opened.read("document.querySelector('[data-fold=true]').click()")
    opened.read("document.querySelector('.map .cell').focus()")
    first = opened.read("document.activeElement.getAttribute('aria-label')")
    opened.press("ArrowRight", "ArrowLeft")
    assert opened.read("document.activeElement.getAttribute('aria-label')") == first
    opened.press("Enter")
    assert focused(opened) == "embedding"
    opened.read("document.querySelector('.cell[title^=\"blocks.0.qkv.weight\"]').click()")
    assert focused(opened) == "weight"
    assert opened.read("document.activeElement.offsetParent !== null")


def _contrast(page: browser.Page, selector: str) -> float:
    """The contrast of the text of an element with what is behind it, as WCAG defines it."""
    script = """(() => {
      const element = document.querySelector(%r);
      const numbers = (color) => color.match(/[\\d.]+/g).map(Number);
      let behind = element;
      while (behind && (numbers(getComputedStyle(behind).backgroundColor)[3] ?? 1) === 0) behind = behind.parentElement;
      return [numbers(getComputedStyle(element).color), numbers(getComputedStyle(behind ?? document.body).backgroundColor)];
    })()"""
    ink, paper = page.read(script % selector)
    light, dark = sorted((_luminance(ink), _luminance(paper)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(color: list[float]) -> float:
    parts = [part / 255 for part in color[:3]]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@in_browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_is_readable_on_a_light_and_a_dark_screen(opened: browser.Page, scheme: str) -> None:
    opened.prefer(scheme)
    background = opened.read("getComputedStyle(document.body).backgroundColor")
    assert (_luminance([float(part) for part in re.findall(r"\d+", background)]) > 0.5) is (scheme == "light")
    for selector in (".label", ".faint", ".dtype", ".figure", ".calls", "th", ".cell", "pre"):
        assert _contrast(opened, selector) >= 4.5, selector


@in_browser
def test_the_page_is_as_wide_as_a_phone_and_its_tree_scrolls_by_itself(opened: browser.Page) -> None:
    opened.resize(390)
    try:
        assert opened.read("document.documentElement.scrollWidth") <= 390
        assert opened.read(
            "[...document.querySelectorAll('h1, h2, p')].every((it) => it.getBoundingClientRect().right <= 390)"
        )
    finally:
        opened.resize(0, 0)


@in_browser
def test_what_has_the_focus_is_outlined_within_its_line(opened: browser.Page) -> None:
    opened.read("document.querySelector('[role=tree] [role=treeitem]').focus()")
    style = "getComputedStyle(document.activeElement.querySelector('.row'))"
    assert opened.read(f"{style}.outlineStyle") == "solid"
    assert (opened.read(f"{style}.outlineWidth"), opened.read(f"{style}.outlineOffset")) == ("2px", "-2px")


@in_browser
def test_nothing_is_requested_and_no_error_is_logged(opened: browser.Page) -> None:
    requested = [
        event["params"]["request"]["url"] for event in opened.events if event["method"] == "Network.requestWillBeSent"
    ]
    assert [url for url in requested if not url.startswith("file:")] == []
    assert len(requested) <= 1
    wrong = ("Runtime.exceptionThrown", "Log.entryAdded")
    assert [event for event in opened.events if event["method"] in wrong] == []
