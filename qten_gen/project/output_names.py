"""Maps the names of sources to those of their outputs, and back."""

from os.path import join, split

OUTPUT_SUFFIXES = ("_qten.py", "_qten.pyi")


def outputs_of(source: str) -> tuple[str, str]:
    """The module and the stub generated for a source.

    >>> outputs_of("pkg/model.py")
    ('pkg/model_qten.py', 'pkg/model_qten.pyi')
    >>> outputs_of("pkg/__init__.py")
    ('pkg/_qten.py', 'pkg/_qten.pyi')
    """
    folder, name = split(source)
    stem = name.removesuffix(".py")
    base = join(folder, "_qten" if stem == "__init__" else f"{stem}_qten")
    return f"{base}.py", f"{base}.pyi"


def source_of(output: str) -> str:
    """The source that a file with the name of an output belongs to.

    >>> source_of("pkg/model_qten.pyi"), source_of("pkg/_qten.py")
    ('pkg/model.py', 'pkg/__init__.py')
    """
    folder, name = split(output)
    stem = name.rpartition(".")[0].removesuffix("_qten")
    return join(folder, f"{stem or '__init__'}.py")


def is_output(path: str) -> bool:
    """Whether the name of a file is that of an output."""
    return path.endswith(OUTPUT_SUFFIXES)
