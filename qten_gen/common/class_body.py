"""What the body of a class statement that runs says: its annotations, and the methods that somebody wrote by hand."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping


def class_annotations(namespace: Mapping[str, object]) -> Mapping[str, object]:
    """The annotations in the namespace of one class, without inherited ones.

    From Python 3.14 on, they are a function until somebody asks. Names that are not bound yet become forward references. Other
    mistakes in an annotation are raised, as before Python 3.14.

    Raises:
        Exception: What evaluating an annotation raises, except for a name that is not bound yet.
    """
    found = namespace.get("__annotations__")
    if isinstance(found, Mapping):
        return found
    if sys.version_info >= (3, 14):
        from annotationlib import Format, ForwardRef, call_annotate_function, get_annotate_from_class_namespace

        annotate = get_annotate_from_class_namespace(namespace)
        if annotate is None:
            return {}
        try:
            return call_annotate_function(annotate, Format.VALUE)
        except NameError:
            found = call_annotate_function(annotate, Format.FORWARDREF)
        for annotation in found.values():
            if isinstance(annotation, ForwardRef):  # one also stands where evaluating raised anything else
                try:
                    annotation.evaluate()
                except NameError:
                    continue
        return found
    return {}


def defines(namespace: Mapping[str, object], bases: Iterable[type], name: str) -> bool:
    """True if a class body, or an ancestor outside of torch and this package, defines `name`; generated classes do not count."""
    return name in namespace or any(
        name in vars(ancestor)
        for base in bases
        for ancestor in base.__mro__
        if ancestor.__module__.partition(".")[0] not in ("qten_gen", "torch", "builtins")
        and "_fingerprint" not in vars(ancestor)
    )
