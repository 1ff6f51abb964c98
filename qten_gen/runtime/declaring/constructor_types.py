"""The types of a generated constructor's parameters, for tools that read them: `inspect.signature`, jsonargparse.

Generated code imports no module of the user, so that the names in its annotations mean nothing where it runs. The class statement
knows what they mean.
"""

from __future__ import annotations

import re
import types
import typing
from collections.abc import Callable
from typing import TYPE_CHECKING

from .class_scope import Scope

if TYPE_CHECKING:
    from .declared_class import Summary
    from .statement import Body


def annotate(constructor: Callable[..., None], cls: type, body: Body, summary: Summary) -> None:
    """Replace the annotations of the generated `__init__` of `cls`, which are text, by the types that the declaration gives.

    A name that is not bound yet stays a forward reference to the module of the class.
    """
    is_visible = body.qualname == body.name or body.qualname.endswith(f"<locals>.{body.name}")
    itself = {cls.__name__: cls} if is_visible else {}
    known: dict[str, object] = {}
    for base in reversed(body.bases):
        for ancestor in reversed(base.__mro__):
            if "_fingerprint" in vars(ancestor) and "__init__" in vars(ancestor):
                known |= vars(ancestor)["__init__"].__annotations__
    for field in summary.fields:
        argument = field.argument
        if argument is None or argument not in constructor.__annotations__:
            continue
        if field.owner == body.qualified:
            constructor.__annotations__[argument] = _resolved(body.annotations[field.name], body.scope, itself, cls)
        # As its own statement resolved it: here the names may mean something else.
        elif argument in known:
            constructor.__annotations__[argument] = known[argument]


def _resolved(annotation: object, scope: Scope, itself: dict[str, type], cls: type) -> object:
    """An annotation with the names in its strings replaced by what they mean where the statement stands."""
    if isinstance(annotation, type):
        return annotation
    names = _names(annotation, scope) | itself
    # A space at its beginning would be an indentation.
    given = annotation.strip() if isinstance(annotation, str) else annotation
    holder = types.SimpleNamespace(__annotations__={"field": given})
    try:
        return typing.get_type_hints(holder, {}, names, include_extras=True)["field"]
    except Exception:  # whatever an expression of the user's may raise; for a class that is what the readers say
        return _forward_reference(annotation, cls.__module__) if isinstance(annotation, str) else annotation


def _forward_reference(text: str, module: str) -> object:
    """A reference to be resolved later; the text itself if it is not an expression."""
    try:
        return typing.ForwardRef(text.strip(), module=module)
    except SyntaxError:
        return text


_WORD = re.compile(r"[^\W\d]\w*")


def _names(annotation: object, scope: Scope) -> dict[str, object]:
    """The meanings of the words of an annotation where the statement stands, those in its strings included.

    A plain dict, because Python 3.14 copies what it is given to look names up in.
    """
    found: dict[str, object] = {}
    for word in set(_WORD.findall(annotation if isinstance(annotation, str) else repr(annotation))):
        try:
            found[word] = scope.resolve(word)
        except NameError:
            continue
    return found
