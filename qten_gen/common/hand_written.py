"""Which methods a class has from code that somebody wrote by hand."""

from __future__ import annotations

from collections.abc import Iterable, Mapping


def defines(namespace: Mapping[str, object], bases: Iterable[type], name: str) -> bool:
    """Whether a class body, or an ancestor outside of torch and this package, defines `name`; generated classes do not count."""
    return name in namespace or any(
        name in vars(ancestor)
        for base in bases
        for ancestor in base.__mro__
        if ancestor.__module__.partition(".")[0] not in ("qten_gen", "torch", "builtins")
        and "_fingerprint" not in vars(ancestor)
    )
