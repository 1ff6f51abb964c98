"""Fragments in the pages of notebooks, light and dark: they are read by a browser, which says what it paints."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import browser

from .test_modules import Net
from .test_objects import full

THEMES = {
    # A page that follows the scheme of the screen.
    "scheme": ":root { color-scheme: light dark }",
    # The classic notebook paints the lines of tables, as for a light page.
    "classic": (
        "body { background: #fff; color: #000 } .output tr, .output td { text-align: right; padding: .5em }"
        ".output tbody tr:nth-child(odd) { background: #f5f5f5 } .output tbody tr:hover { background: #bbdefb }"
    ),
    # A dark theme that does not follow the scheme, and paints the lines of tables for a light one.
    "dark": (
        "body { background: #111; color: rgba(255, 255, 255, .87) } .output td, .output tr { vertical-align: middle }"
        ".output tbody tr:nth-child(even) { background: #eee } .output table { margin: auto; border: 1px solid black }"
    ),
}

# The least contrast of a text with what is painted behind it, by the formula of WCAG.
CONTRAST = """(() => {
  const numbers = text => { const found = text.match(/[\\d.]+/g).map(Number); return found.length > 3 ? found : [...found, 1] }
  const over = (top, below) => [0, 1, 2].map(i => top[i] * top[3] + below[i] * (1 - top[3])).concat(1)
  const canvas = document.createElement('div'); canvas.style.background = 'canvas'; document.body.append(canvas)
  const page = numbers(getComputedStyle(canvas).backgroundColor)
  const light = color => {
    const [r, g, b] = color.slice(0, 3).map(v => v / 255).map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b
  }
  let least = 99
  for (const element of document.querySelectorAll('.qten-gen *:not(style)')) {
    if (![...element.childNodes].some(node => node.nodeType === 3 && node.textContent.trim())) continue
    const chain = []; let opacity = 1
    for (let at = element; at; at = at.parentElement) { chain.unshift(at); opacity *= Number(getComputedStyle(at).opacity) }
    const paper = chain.reduce((below, at) => over(numbers(getComputedStyle(at).backgroundColor), below), page)
    const ink = numbers(getComputedStyle(element).color); ink[3] *= opacity
    const [a, b] = [light(over(ink, paper)), light(paper)].sort((x, y) => y - x)
    least = Math.min(least, (a + 0.05) / (b + 0.05))
  }
  return least
})()"""


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[browser.Page, Path]]:
    """A browser and a folder for its pages."""
    folder = tmp_path_factory.mktemp("pages")
    start = folder / "start.html"
    start.write_text("<!doctype html>", encoding="utf-8")
    with browser.opened(start.as_uri(), folder / "profile") as page:
        yield page, folder


@pytest.mark.skipif(browser.PATH is None, reason="needs Chromium")
@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_stands_out_in_every_theme(opened: tuple[browser.Page, Path], theme: str, scheme: str) -> None:
    page, folder = opened
    shown = f"{full()._repr_html_()}{Net(4, 2)._repr_html_()}"
    path = folder / f"{theme}.html"
    path.write_text(
        f'<!doctype html><meta charset="utf-8"><style>{THEMES[theme]}</style><body><div class="output">{shown}</div>',
        encoding="utf-8",
    )
    page.prefer(scheme)
    page.events.clear()
    page.call("Page.navigate", url=path.as_uri())
    page.wait_for("Page.loadEventFired")
    assert page.read(CONTRAST) >= 4.5
    folded = page.read("[...document.querySelectorAll('details')].every(one => !one.open)")
    page.read("document.querySelectorAll('details').forEach(one => one.open = true)")
    heights = page.read("[...document.querySelectorAll('.qten-gen tbody th')].every(cell => cell.offsetHeight > 8)")
    assert folded and heights, "everything can be unfolded, and is painted then"
    assert page.read("document.documentElement.scrollWidth <= innerWidth"), "a wide table scrolls by itself"
