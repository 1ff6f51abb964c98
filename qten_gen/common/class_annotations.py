"""Reads the annotations of a class: those in the namespace of a class statement, or those of a finished class."""

from __future__ import annotations

import sys
from collections.abc import Mapping


def class_annotations(namespace: Mapping[str, object]) -> Mapping[str, object]:
    """The annotations in the namespace of one class, without those of its bases.

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
