"""Link a name of torch that stands in code, `torch.stack`, to the page that documents it."""

import re

import torch
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

PAGES = "https://docs.pytorch.org/docs/stable/generated/{}.html"

# What has a page of its own; other names are sections of longer pages.
OWN_PAGE = re.compile(r"torch(\.nn|\.nn\.functional|\.nn\.init|\.func|\.optim|\.Tensor)?\.\w+$")
NO_PAGE = {"torch.device", "torch.dtype", "torch.Tensor", "torch.Size", "torch.Generator", "torch.layout"}


class TorchLinks(SphinxPostTransform):
    """Wraps literals that name something of torch in links."""

    default_priority = 400

    def run(self, **kwargs: object) -> None:
        for literal in list(self.document.findall(nodes.literal)):
            page = page_of(literal.astext())
            if page is None or isinstance(literal.parent, nodes.reference):
                continue
            link = nodes.reference("", "", refuri=page, internal=False)
            literal.replace_self(link)
            link += literal


def page_of(name: str) -> str | None:
    """The address of the page of a function, class or method of torch."""
    name = name.removesuffix("()")
    if name in NO_PAGE or not OWN_PAGE.match(name):
        return None
    found: object = torch
    for part in name.split(".")[1:]:
        found = getattr(found, part, None)
    return PAGES.format(name) if callable(found) and not isinstance(found, torch.dtype) else None


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_post_transform(TorchLinks)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
