"""Which way the types in brackets go: what is known of the generic types of the standard library."""

from __future__ import annotations

import builtins

from ..model import SourceFile
from .renaming import Passing

_STRINGS = frozenset({"Literal", "Annotated"})
_SAME = frozenset(
    """
    AbstractAsyncContextManager AbstractContextManager Annotated AsyncContextManager AsyncIterable AsyncIterator Awaitable
    ClassVar Collection Concatenate Container ContextManager Final FrozenSet ItemsView Iterable Iterator KeysView Mapping
    Optional ReadOnly Required Reversible Sequence Set Tuple Type Union Unpack ValuesView frozenset tuple type
    """.split()
)
"""Types of `typing`, `collections.abc`, `contextlib` and builtins that are covariant in what is in brackets."""
_SENT = frozenset({"AsyncGenerator", "Coroutine", "Generator"})
_MODULES = frozenset({"builtins", "collections.abc", "contextlib", "typing", "typing_extensions"})


def passing(name: str, source: SourceFile) -> Passing:
    """Which way the arguments in brackets after a name go, in the annotations of a file."""
    module, _, word = qualified(name, source).rpartition(".")
    if module == "jaxtyping" or (word in _STRINGS and module in _MODULES):
        return Passing.STRINGS
    # `typing.Set` is `set`, and only `collections.abc.Set` cannot change.
    if module not in _MODULES or (word == "Set" and module != "collections.abc"):
        return Passing.EITHER
    if word == "Callable":
        return Passing.CALLED
    if word in _SENT:
        return Passing.SENT
    return Passing.SAME if word in _SAME else Passing.EITHER


def qualified(name: str, source: SourceFile) -> str:
    """The qualified name, as far as the file itself tells."""
    head, _, rest = name.partition(".")
    imported = source.imports.get(head)
    if imported is not None:
        return ".".join(part for part in (imported.module, imported.name, rest) if part)
    if head in source.names:
        return f"{source.module}.{name}"
    known = head in dir(builtins) or not source.has_star_import
    return f"{'builtins' if known else 'typing'}.{name}"
