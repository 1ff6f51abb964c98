"""What the rules report of a file among others of its package, without a run."""

from textwrap import dedent

from qten_gen import rules
from qten_gen.model.diagnostics import Diagnostic, ordered
from qten_gen.read.module import read
from qten_gen.read.positions import locate
from tests.linking import link


def reported(head: str, text: str, **others: str) -> list[Diagnostic]:
    """What is said about `shop/model.py` with this text below some imports, and about other files of the package."""
    sources = {f"shop/{name}.py": (head + dedent(other)).encode() for name, other in {"model": text, **others}.items()}
    files = [read(data, path, path.removesuffix(".py").replace("/", "."))[0] for path, data in sources.items()]
    linked, said = link(files)
    said += rules.check(linked[0])
    return [*ordered(locate(said, sources))]
