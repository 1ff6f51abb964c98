"""The arguments of a constructor → config fields, in their order."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from ....rules.reserved import MODULE
from .context import CLASSES, Context, self_attribute
from .evidence import Witnesses, evidence, witnesses
from .pieces import FieldPiece, Stays

_TENSORS = ("Tensor", "Parameter")
_SCALARS = ("bool", "int", "float", "str")


def config_fields(init: ast.FunctionDef, context: Context, of_class: frozenset[str]) -> Iterator[FieldPiece]:
    """The config fields. Their types go into the context.

    Args:
        init: The constructor.
        context: What is known of the class.
        of_class: The names of its methods and class attributes.

    Raises:
        Stays: an argument cannot be one, or its type is not certain.
    """
    arguments = init.args
    if arguments.vararg or arguments.kwarg:
        raise Stays("it takes any number of arguments", arguments.vararg or arguments.kwarg)
    if arguments.posonlyargs:
        raise Stays("an argument can be given by position only", arguments.posonlyargs[0])
    plain = arguments.args[1:]
    defaults: list[ast.expr | None] = [*[None] * (len(plain) - len(arguments.defaults)), *arguments.defaults]
    read = _Arguments(
        context, witnesses(init, context), _something_else(init, of_class), _taken(init) | of_class | MODULE
    )
    for each, default in zip(plain, defaults[-len(plain) :] if plain else [], strict=True):
        if _is_factory(each, default, context):
            continue
        yield _field(each, default, read, keyword_only=False)
    for each, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        if _is_factory(each, default, context):
            continue
        yield _field(each, default, read, keyword_only=True)


def _is_factory(node: ast.arg, default: ast.expr | None, context: Context) -> bool:
    """Whether an argument is the device or dtype that every declared constructor has. Only children and tensors may use it."""
    if node.arg not in ("device", "dtype") or not (isinstance(default, ast.Constant) and default.value is None):
        return False
    context.factory.add(node.arg)
    context.names[node.arg] = None
    return True


@dataclass(frozen=True, slots=True)
class _Arguments:
    """What decides how arguments become fields."""

    context: Context
    witnesses: Witnesses
    """What is known of their types."""
    something_else: frozenset[str]
    """Those whose names are something else in the class."""
    taken: frozenset[str]
    """The names that a field cannot have."""


def _something_else(init: ast.FunctionDef, of_class: frozenset[str]) -> frozenset[str]:
    """The arguments whose names are a child, another attribute or a method, so that their fields need other names."""
    names = {each.arg for each in (*init.args.args[1:], *init.args.kwonlyargs)}
    bound = [each for each in ast.walk(init) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)]
    found: set[str] = set()
    stored: set[str] = set()
    for name, value in _assignments(init):
        if name in names:
            stored.add(name)
            is_changed = any(each.id == name and value is not None and each.lineno < value.lineno for each in bound)
            if not (isinstance(value, ast.Name) and value.id == name) or is_changed:
                found.add(name)
    return frozenset(found | ((names - stored) & (of_class | MODULE)))


def _assignments(init: ast.FunctionDef) -> Iterator[tuple[str, ast.expr | None]]:
    """The attributes that a constructor gives values, and names that it registers, each with the value if it is alone."""
    for node in ast.walk(init):
        match node:
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    yield from _parts(target, value)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                yield from _parts(target, value)
            case ast.AugAssign(target=target) | ast.For(target=target):
                yield from _parts(target, None)
            case ast.Call(func=ast.Attribute(attr=called), args=[ast.Constant(value=str(name)), *_]) if (
                called in _BY_NAME
            ):
                yield name, None


_BY_NAME = ("register_buffer", "register_parameter", "register_module", "add_module")


def _parts(target: ast.expr, value: ast.expr | None) -> Iterator[tuple[str, ast.expr | None]]:
    """The attributes in a target, each with its part of the value."""
    name = self_attribute(target)
    if name is not None:
        yield name, value
    elif isinstance(target, ast.Tuple | ast.List):
        values = value.elts if isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(target.elts) else None
        for position, each in enumerate(target.elts):
            yield from _parts(each, None if values is None else values[position])


def _taken(init: ast.FunctionDef) -> frozenset[str]:
    """The names of a constructor: arguments, local names, and attributes of the module."""
    names: set[str] = set()
    for each in ast.walk(init):
        match each:
            case ast.arg(arg=name) | ast.Name(id=name) | ast.Attribute(attr=name):
                names.add(name)
    return frozenset(names)


def _renamed(node: ast.arg, annotation: str, read: _Arguments) -> str:
    """The name of the field for an argument whose own is something else.

    Raises:
        Stays: there is none, or the argument may be a module, which would be registered under that name.
    """
    name, context = node.arg, read.context
    is_class = annotation.startswith(CLASSES)
    found = next(
        (
            each
            for each in (f"{name}_class" if is_class else f"given_{name}", f"{name}_argument")
            if each not in read.taken
        ),
        None,
    )
    if found is None:
        raise Stays(f"`{name}` is something other than the argument `{name}`", node)
    context.types[found] = _normal(annotation)
    if name in context.plain:
        context.plain.add(found)
    if context.may_be_module(found):
        raise Stays(f"the argument `{name}` may be a module, and the class uses its name for something else", node)
    context.names[name] = ast.Name(found, ast.Load())
    context.renamed[name] = found
    return found


def _field(node: ast.arg, default: ast.expr | None, read: _Arguments, *, keyword_only: bool) -> FieldPiece:
    """A config field for one argument, whose type goes into the context."""
    name, context = node.arg, read.context
    if name in ("device", "dtype", "self"):
        raise Stays(f"a declared constructor has an argument `{name}` of its own", node)
    if node.annotation is not None:
        annotation = _with_none(context.file.text.of(node.annotation), default)
    else:
        found = evidence(node, default, read.witnesses, context)
        annotation = found.annotation
        why = f"by {found.source}" if found.source else "without evidence"
        context.inferred.append(f"{name}: {annotation} {why}")
    plain = annotation.strip("\"'")
    if any(word in plain for word in _TENSORS):
        raise Stays(f"the argument `{name}` is a tensor", node)
    if name in read.something_else:
        name = _renamed(node, plain, read)
    else:
        context.types[name] = _normal(plain)
    if isinstance(default, ast.List | ast.Dict | ast.Set | ast.Call | ast.ListComp):
        raise Stays(f"the default of `{node.arg}` is an object that all instances would share", node)
    value = None if default is None else context.file.text.of(default)
    keywords = [f'alias="{node.arg}"'] if name != node.arg else []
    keywords += ["kw_only=True"] if keyword_only else []
    if keywords:
        value = f"{context.spell('field')}({', '.join([*([] if value is None else [f'default={value}']), *keywords])})"
    return FieldPiece(name, annotation, value, node)


def _with_none(annotation: str, default: ast.expr | None) -> str:
    """An annotation that says that the default None is allowed."""
    is_none = isinstance(default, ast.Constant) and default.value is None
    words = re.findall(r"\w+", annotation)
    if not is_none or not {"None", "Optional", "Any", "object"}.isdisjoint(words) or "\n" in annotation:
        return annotation
    quote = annotation[0] if annotation[0] in "\"'" else ""
    return f"{quote}{annotation.strip(quote)} | None{quote}" if quote else f"{annotation} | None"


def _normal(annotation: str) -> str:
    """`Optional[int]` is `int | None`."""
    for head in ("Optional[", "typing.Optional["):
        if annotation.startswith(head) and annotation.endswith("]"):
            return f"{annotation[len(head) : -1]} | None"
    return annotation


def scalar(kind: str | None) -> bool:
    """Whether a type is one of numbers and strings, which cannot be a module."""
    return kind is not None and all(part.strip() in (*_SCALARS, "None") for part in kind.split("|"))
