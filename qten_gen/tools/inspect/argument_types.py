"""Checks the values of a call against the annotations of the function that gets them, containers and TensorClasses included."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence

from torch import Tensor, nn

from ...model import TypeExpr
from ...model.field_kinds import members_of
from ...runtime.tensorclass.core.contents import contents
from ...runtime.tensorclass.core.stored import Stored
from .named_sizes import Binding, config_sizes
from .shape_matching import Matcher, Mismatch, Tally, described, merged
from .signatures import Annotations, annotations_of

_TUPLES = ("builtins.tuple", "typing.Tuple")
_SEQUENCES = ("builtins.list", "typing.List", "collections.abc.Sequence", "typing.Sequence", "collections.abc.Iterable")
_MAPPINGS = ("builtins.dict", "typing.Dict", "collections.abc.Mapping", "typing.Mapping")


class CallCheck:
    """The check of one call: its arguments before it runs, its result afterwards, with the same names."""

    def __init__(self, module: nn.Module, path: str, function: Callable[..., object], tally: Tally) -> None:
        self.annotations: Annotations = annotations_of(function)
        self.function = function
        self._names: dict[str, Binding] = config_sizes(module, path) if self.annotations.mentions_shapes else {}
        self.matcher = Matcher(self._names, module, tally)

    def arguments(self, args: Sequence[object], keywords: Mapping[str, object]) -> list[Mismatch]:
        """The problem with the arguments; `args` begins with the module."""
        try:
            bound = inspect.signature(self.function).bind(*args, **keywords)
        except (TypeError, ValueError):  # the call itself raises then
            return []
        for name, value in bound.arguments.items():
            if isinstance(value, int) and not isinstance(value, bool):
                self._names.setdefault(name, Binding(value, f"the argument {name}"))
        variadic = {
            parameter.name: parameter.kind
            for parameter in inspect.signature(self.function).parameters.values()
            if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
        }
        found: list[Mismatch] = []
        for name, value in bound.arguments.items():
            expr = self.annotations.parameters.get(name, _UNSAID)
            if name in variadic:
                items = value.items() if isinstance(value, dict) else enumerate(value)
                found += [item for key, each in items for item in check(self.matcher, f"{name}[{key!r}]", each, expr)]
            else:
                found += check(self.matcher, name, value, expr)
        return merged([*found, *self.matcher.expressions()])

    def result(self, value: object) -> list[Mismatch]:
        """The problem with the result."""
        found = list(check(self.matcher, "result", value, self.annotations.result or _UNSAID))
        return merged([*found, *self.matcher.expressions()])


_UNSAID = TypeExpr("")


def check(matcher: Matcher, name: str, value: object, expr: TypeExpr) -> Iterator[Mismatch]:
    """Compare a value with an annotation; whatever says nothing about tensors is left alone."""
    if isinstance(value, Stored):
        yield from _tensorclass(matcher.tally, name, value)
        return
    if expr.name.startswith("jaxtyping."):
        yield from _array(matcher, name, value, expr)
    elif expr.name == "|":
        yield from _union(matcher, name, value, expr)
    elif expr.name in _TUPLES and isinstance(value, tuple):
        yield from _tuple(matcher, name, value, expr)
    elif expr.name in _SEQUENCES and isinstance(value, (list, tuple)):
        for position, item in enumerate(value):
            yield from check(matcher, f"{name}[{position}]", item, _argument(expr, 0))
    elif expr.name in _MAPPINGS and isinstance(value, dict):
        for key, item in value.items():
            yield from check(matcher, f"{name}[{key!r}]", item, _argument(expr, 1))
    elif isinstance(value, (list, tuple, dict)):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for key, item in items:
            if isinstance(item, (Stored, list, tuple, dict)):
                yield from check(matcher, f"{name}[{key!r}]", item, _UNSAID)


def _argument(expr: TypeExpr, position: int) -> TypeExpr:
    found = expr.args[position] if len(expr.args) > position else _UNSAID
    return found if isinstance(found, TypeExpr) else _UNSAID


def _array(matcher: Matcher, name: str, value: object, expr: TypeExpr) -> Iterator[Mismatch]:
    dims = expr.args[1] if len(expr.args) > 1 else ""
    dtype = expr.name.removeprefix("jaxtyping.")
    if not isinstance(value, Tensor):
        text = f'{dtype}[Tensor, "{dims}"]'
        yield Mismatch(name, text, described(value), ("it is not a tensor",))
        return
    yield from matcher.tensor(name, value, dtype, str(dims))


def _says_shapes(expr: TypeExpr) -> bool:
    """Whether an annotation, or a part of it, is one of jaxtyping. Any other is left to type checkers."""
    return any(part.startswith("jaxtyping.") for part in expr.mentioned)


def _union(matcher: Matcher, name: str, value: object, expr: TypeExpr) -> Iterator[Mismatch]:
    """A member that fits is enough; without one, what is wrong with the first that says a shape."""
    members = members_of(expr)
    if value is None and any(member.name == "None" for member in members):
        return
    shaped = [member for member in members if _says_shapes(member)]
    others = [member for member in members if member not in shaped and member.name != "None"]
    if not shaped or (others and not isinstance(value, Tensor)) or any(m.name == "torch.Tensor" for m in others):
        return
    tries = []
    for member in shaped:
        attempt = matcher.attempt()
        found = [*check(attempt, name, value, member), *attempt.wrong_expressions()]
        if not found:
            matcher.take(attempt)
            return
        tries.append(found)
    yield from tries[0]


def _tuple(matcher: Matcher, name: str, value: tuple[object, ...], expr: TypeExpr) -> Iterator[Mismatch]:
    """The mismatches of a tuple, part by part."""
    items = [item for item in expr.args if isinstance(item, TypeExpr)]
    if len(items) == 2 and items[1].name == "...":
        items = [items[0]] * len(value)
    if items and len(items) != len(value) and not _says_shapes(expr):
        items = [_UNSAID] * len(value)
    if items and len(items) != len(value):
        reason = f"it has {len(value)} parts, expected {len(items)}"
        yield Mismatch(name, expr.text or "tuple", f"a tuple of {len(value)}", (reason,))
        return
    for position, (item, part) in enumerate(zip(value, items, strict=False)):
        yield from check(matcher, f"{name}[{position}]", item, part)


def _tensorclass(tally: Tally, name: str, value: Stored) -> Iterator[Mismatch]:
    """The fields of a TensorClass: a name has one size in all of them, whatever it means elsewhere."""
    declaration = type(value)._declared_as
    batch = Binding(tuple(value._batch_size), f"the batch size of {name}")
    matcher = Matcher({"*batch": batch}, None, tally)
    said = {field.name: (field.dtype or "Shaped", field.dims) for field in declaration.fields if field.dims is not None}
    for field, held in contents(value).items():
        where = f"{name}.{field}"
        if field in said and isinstance(held, Tensor):
            dtype, dims = said[field]
            yield from matcher.tensor(where, held, dtype, dims or "")
        elif isinstance(held, Stored):
            yield from _tensorclass(tally, where, held)
    yield from matcher.expressions()
