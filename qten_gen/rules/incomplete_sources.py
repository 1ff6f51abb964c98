"""The rule about the sources of cached virtual tensors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ..model import BufferDecl, ConfigDecl, DerivedDecl, MethodSource, ModuleDecl, ParameterDecl, VirtualDecl, declares
from ..model.diagnostics import Fix
from .rule_input import Problem, RuleContext

_VALUES = (ConfigDecl, DerivedDecl)

_TENSORS = (ParameterDecl, BufferDecl)

_COMPARED = frozenset({"training", "dtype", "device"})
"""The values that a cached value follows without being told."""


def incomplete_sources(context: RuleContext) -> Iterator[Problem]:
    """A cached virtual tensor does not name what it is derived from.

    A cached value is computed again when one of its `sources` changes. If the function reads another field, a change of that
    field does not count: the module goes on using the old value, without an error. So a cached virtual tensor names every field
    that its function reads, in the methods of the class that it calls too. With `sources=()`, it reads none. A subclass that
    replaces such a method, and reads further fields in it, declares the virtual tensor again.

    Example:

     import torch
     from qten_gen import Module, buffer, virtual
     from torch import Tensor, nn


     class Decay(Module):
         size: int
         rate: Tensor = buffer("size", initializer=nn.init.ones_)

    -    @virtual(cached="may_be_stale", sources=("size",))
    +    @virtual(cached="may_be_stale", sources=("rate",))
         def factor(self, dtype: torch.dtype, device: torch.device) -> Tensor:
    -        ^^^^^^
    -        return torch.exp(-self.rate) / self.size
    +        return torch.exp(-self.rate)
    """
    declaration = context.declaration
    if not isinstance(declaration, ModuleDecl):
        return
    methods = {method.name: method for method in context.methods}
    for field in context.module_fields:
        if not isinstance(field, VirtualDecl):
            continue
        method = methods.get(field.name)
        if not field.cached:
            if field.sources and not _is_given(method, "cached"):
                message = f"{field.name} is not cached, so its sources have no effect"
                yield Problem(message, field.place / "name", "write cached=True, or remove sources")
        elif field.sources is not None and _comparable(context, declaration).issuperset(field.sources):
            left_out = [name for name in _fields_read(context, declaration, field) if name not in field.sources]
            if left_out:
                message = f"{field.name} reads {' and '.join(left_out)}, which its sources leave out"
                text = _tuple((*field.sources, *left_out))
                fix = _fix(method, "sources", text)
                yield Problem(message, field.place / "name", f"write sources={text}", fix=fix)
        elif field.sources is None and not _is_given(
            method, "sources"
        ):  # what is no tuple of names, another rule refuses
            yield _unnamed(context, declaration, field, method)
    yield from _replaced(context, declaration)


def _replaced(context: RuleContext, declaration: ModuleDecl) -> Iterator[Problem]:
    """Methods that let an inherited virtual tensor read fields that it did not read in its own class."""
    known, inherited = _comparable(context, declaration), tuple(_inherited_methods(context, declaration))
    for field in declaration.fields:
        if not isinstance(field, VirtualDecl) or declares(declaration, field) or not field.cached or not field.sources:
            continue
        before = {*field.sources, *_read(field.name, inherited, declaration)}
        reads = _read(field.name, _methods(context, declaration), declaration)
        left_out = [name for name in reads if name in known and name not in before]
        method = next((method for method in context.methods if method.name in reads), None)
        if left_out and method is not None:
            message = f"{method.name} lets {field.name} read {' and '.join(left_out)}, which its sources leave out"
            help = f"declare {field.name} in {declaration.name} too, with sources={_tuple((*field.sources, *left_out))}"
            yield Problem(message, method.place / "name", help)


def _methods(context: RuleContext, declaration: ModuleDecl) -> tuple[MethodSource, ...]:
    """The methods of a class and its declared ancestors, the ancestors' first: of two with one name, the last counts."""
    return (*_inherited_methods(context, declaration), *context.methods)


def _inherited_methods(context: RuleContext, declaration: ModuleDecl) -> Iterator[MethodSource]:
    for ancestor in reversed(context.project.ancestors(declaration)):
        source = context.project.classes.get(ancestor.qualified)
        yield from () if source is None else source.methods


def _unnamed(context: RuleContext, declaration: ModuleDecl, field: VirtualDecl, method: MethodSource | None) -> Problem:
    """The finding about a cached virtual tensor without `sources=`."""
    message = f"{field.name} is cached, and does not name the fields that it reads"
    place = field.place / "name"
    names = _fields_read(context, declaration, field)
    sources = f"sources={_tuple(names)}"
    if field.cached is True and any(isinstance(f, _TENSORS) and f.name in names for f in declaration.fields):
        return Problem(message, place, f'leave cached out, or write cached="may_be_stale", {sources}')
    if method is None or method.specifier is None:  # of a class statement, functions are not read
        return Problem(message, place, 'write sources=("size",) with all of them; qten-gen --fix does it')
    if others := _others(context, declaration, field):
        note = f"{' and '.join(name or 'self as a whole' for name in others)} may depend on further fields"
        return Problem(message, place, f"write {sources}, with every field that it reads", (note,))
    cached = "True" if field.cached is True else f'"{field.cached}"'
    return Problem(message, place, f"write {sources}", fix=_fix(method, "cached", f"{cached}, {sources}"))


def _comparable(context: RuleContext, declaration: ModuleDecl) -> set[str]:
    """The names that can be a source; in a class with its own `__init__`, also those of assigned attributes."""
    known = {f.name for f in declaration.fields if isinstance(f, (*_VALUES, *_TENSORS))}
    if declaration.custom_init:
        constructors = (method for method in context.methods if method.name == "__init__")
        known |= {change.name for method in constructors for change in method.changes if change.action == "assign"}
    return known


def _fields_read(context: RuleContext, declaration: ModuleDecl, field: VirtualDecl) -> list[str]:
    known = _comparable(context, declaration)
    return [name for name in _read(field.name, _methods(context, declaration), declaration) if name in known]


def _others(context: RuleContext, declaration: ModuleDecl, field: VirtualDecl) -> list[str]:
    """The names that a virtual tensor reads and that may depend on anything: children, methods of other bases, `self`."""
    methods = _methods(context, declaration)
    known = {*_COMPARED, *context.attributes, *(method.name for method in methods)}
    known.update(_fields_read(context, declaration, field))
    known.update(f.name for f in declaration.fields if isinstance(f, VirtualDecl) and f.sources is not None)
    return [name for name in _read(field.name, methods, declaration) if name not in known]


def _read(name: str, methods: Iterable[MethodSource], declaration: ModuleDecl) -> tuple[str, ...]:
    """The attributes that the function of a virtual tensor reads, in the methods that it calls too."""
    reads = {f.name: f.sources or () for f in declaration.fields if isinstance(f, VirtualDecl)}
    reads.update((method.name, method.reads) for method in methods)
    found: dict[str, None] = {}
    todo = [name]
    while todo:
        new = reads.get(todo.pop(), ())
        todo += [read for read in new if read not in found]
        found.update(dict.fromkeys(new))
    return tuple(found)


def _is_given(method: MethodSource | None, keyword: str) -> bool:
    argument = None if method is None or method.specifier is None else method.specifier.get(keyword)
    return argument is not None and getattr(argument.value, "literal", "") not in ("None", "False")


def _fix(method: MethodSource | None, keyword: str, text: str) -> Fix | None:
    argument = None if method is None or method.specifier is None else method.specifier.get(keyword)
    return None if argument is None else Fix(text, argument.place)


def _tuple(names: Sequence[str]) -> str:
    written = ", ".join(f'"{name}"' for name in names)
    return f"({written},)" if len(names) == 1 else f"({written})"
