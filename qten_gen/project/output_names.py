"""Maps the names of sources to the names of their outputs, and back."""

from functools import cache
from os.path import basename, split

NO_OUTPUT = b"\0"
"""Stands for the bytes of what is no output: qten-gen writes no such file, and none that is empty."""

OUTPUT_SUFFIXES = ("_qten.py", "_qten.pyi")


@cache
def outputs_of(source: str) -> tuple[str, str]:
    """The module and the stub generated for a source.

    >>> outputs_of("pkg/model.py")
    ('pkg/model_qten.py', 'pkg/model_qten.pyi')
    >>> outputs_of("pkg/__init__.py")
    ('pkg/_qten.py', 'pkg/_qten.pyi')
    """
    start = _start_of_name(source)
    stem = source[start:].removesuffix(".py")
    base = f"{source[:start]}{'' if stem == '__init__' else stem}_qten"
    return f"{base}.py", f"{base}.pyi"


@cache
def source_of(output: str) -> str:
    """The source that a file with the name of an output belongs to.

    >>> source_of("pkg/model_qten.pyi"), source_of("pkg/_qten.py")
    ('pkg/model.py', 'pkg/__init__.py')
    """
    start = _start_of_name(output)
    stem = output[start:].rpartition(".")[0].removesuffix("_qten")
    return f"{output[:start]}{stem or '__init__'}.py"


def is_ours(path: str, data: bytes) -> bool:
    """True if an output can be removed: it has a header that names the source which its own name implies."""
    from ..common.header import read_header  # a run over an unchanged tree reads no header

    header = read_header(data)
    return header is not None and header.source == basename(source_of(path))


def is_output(path: str) -> bool:
    """True if a file has the name of an output."""
    return path.endswith(OUTPUT_SUFFIXES)


@cache
def name_of(path: str) -> str:
    """The name of a file without its folder."""
    return path[_start_of_name(path) :]


def _start_of_name(path: str) -> int:
    """Where the name of a file starts in its path. A path with forward slashes alone needs no `split`, which takes long."""
    return len(path) - len(split(path)[1]) if "\\" in path or ":" in path else path.rfind("/") + 1
