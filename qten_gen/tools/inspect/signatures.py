"""The annotations of a function, read by name: `x: Float[Tensor, "b t width"]` needs neither jaxtyping nor evaluation."""

from __future__ import annotations

import builtins
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.util import resolve_name
from linecache import getlines

from ...model import TypeExpr
from ...reflection import ClassStatement
from ...reflection.annotations import AnnotationWalk
from ...runtime.declaring.source_names import names_in


@dataclass(frozen=True)
class Annotations:
    """The annotations of a function's arguments and of its result."""

    parameters: Mapping[str, TypeExpr]
    result: TypeExpr | None
    function: str
    """Its name: `Attention.forward`."""
    place: str
    """Its file and line: `shop/model.py:12`; empty where there is none."""

    @property
    def mentions_shapes(self) -> bool:
        """Whether any of them is a jaxtyping annotation."""
        types = [*self.parameters.values(), *([self.result] if self.result else [])]
        return any(name.startswith("jaxtyping.") for found in types for name in found.mentioned)


@cache
def annotations_of(function: Callable[..., object]) -> Annotations:
    """The annotations of a function, those of the function that a decorator wraps included."""
    inner = inspect.unwrap(function)
    walk = AnnotationWalk(scope_of(inner))
    given: Mapping[str, object] = getattr(inner, "__annotations__", {})
    types = {name: walk.expr(annotation) for name, annotation in given.items()}
    result = types.pop("return", None)
    code = getattr(inner, "__code__", None)
    place = f"{code.co_filename}:{code.co_firstlineno}" if code else ""
    return Annotations(types, result, getattr(inner, "__qualname__", "forward"), place)


def scope_of(function: Callable[..., object]) -> ClassStatement:
    """The names that the annotations of a function can mean, in the form in which the reader of class statements takes them."""
    names: Mapping[str, object] = getattr(function, "__globals__", {})
    layers = [_closure(function), names, vars(builtins)]
    lines = tuple(getlines(str(names.get("__file__", "")))) if names.get("__file__") else ()

    def resolve(name: str) -> object:
        for layer in layers:
            if name in layer:
                return layer[name]
        raise NameError(name)

    def import_of(name: str) -> str | None:
        found = names_in(lines).imports.get(name)
        if found is None or not found.startswith("."):
            return found
        try:
            return resolve_name(found, str(names.get("__package__") or ""))
        except ImportError:  # it leads out of the package
            return None

    return ClassStatement(
        name="",
        module=str(getattr(function, "__module__", "")),
        qualname="",
        namespace={},
        annotations={},
        bases=(),
        parents=(),
        mixins=(),
        flags=frozenset(),
        options={},
        passed={},
        resolve=resolve,
        is_declaration=lambda value: False,
        import_of=import_of,
        defines=lambda name: False,
        elsewhere=lambda name: None,
        classes={},
    )


def _closure(function: Callable[..., object]) -> Mapping[str, object]:
    """The variables of the functions around it that it uses."""
    try:
        return inspect.getclosurevars(function).nonlocals
    except (TypeError, ValueError):
        return {}
