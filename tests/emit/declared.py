"""Declarations as the reader and the linker hand them to the emitters."""

from textwrap import dedent

from qten_gen.model import FileDecl
from qten_gen.read.module import read
from tests.linking import link

HEAD = "from torch import Tensor, nn\nfrom qten_gen import Module, TensorClass, param\n"


def linked(**files: str) -> dict[str, FileDecl]:
    """The linked files by module: `linked(shop__model="...")`, below the usual imports."""
    sources = []
    for name, text in files.items():
        data = (HEAD + dedent(text)).encode()
        source, found = read(data, f"{name.replace('__', '/')}.py", name.replace("__", "."))
        assert found == ()
        sources.append(source)
    return {file.source.module: file for file in link(sources)[0]}
