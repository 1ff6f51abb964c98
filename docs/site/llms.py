"""Write `llms.txt` beside the pages of the site: each page with the first sentence of what it says, by the groups of the index.

It is made from the pages whenever the site is, so it says what they say. https://llmstxt.org describes the format.
"""

import re
from pathlib import Path

from sphinx.application import Sphinx


def listing(docs: Path) -> str:
    """The text of `llms.txt`. The sources of the pages are Markdown, and lie beside it in the site."""
    readme = (docs.parent / "README.md").read_text(encoding="utf-8")
    parts = [f"# qten-gen\n\n> {summary(readme)}\n"]
    index = (docs / "index.md").read_text(encoding="utf-8")
    for group, names in re.findall(r":caption: (.+)\n\n((?:[\w/-]+\n)+)", index):
        pages = [docs / f"{name}.md" for name in names.split() if not name.startswith("reference/")]
        lines = [entry(page, docs) for page in pages if page.stem != "contributing"]
        parts += [f"## {group}\n\n" + "\n".join(lines) + "\n"] if lines else []
    return "\n".join(parts)


def entry(page: Path, docs: Path) -> str:
    """One line: the title of a page, a link to its source, and its first sentence."""
    text = page.read_text(encoding="utf-8")
    title = text.partition("\n")[0].removeprefix("# ")
    return f"- [{title}]({page.relative_to(docs)}): {summary(text)}"


def summary(text: str) -> str:
    """The first sentence below the title, without links."""
    paragraph = " ".join(text.split("\n\n")[1].split())
    return re.sub(r"\[([^]]+)\]\([^)]+\)", r"\1", re.split(r"(?<=\.) ", paragraph)[0])


def write(app: Sphinx, error: Exception | None) -> None:
    """Put the listing, and the pages that it links to, into the site."""
    if error is None:
        docs, site = Path(app.srcdir), Path(app.outdir)
        text = listing(docs)
        (site / "llms.txt").write_text(text, encoding="utf-8")
        for name in re.findall(r"\]\(([\w/-]+\.md)\)", text):
            (site / name).parent.mkdir(exist_ok=True)
            (site / name).write_text((docs / name).read_text(encoding="utf-8"), encoding="utf-8")


def setup(app: Sphinx) -> None:
    app.connect("build-finished", write)
