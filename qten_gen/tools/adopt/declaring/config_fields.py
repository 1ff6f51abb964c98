"""The arguments of a constructor → config fields, in their order."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ....rules.reserved import MODULE
from .context import CLASSES, Context, self_attribute
from .evidence import Witnesses, evidence, witnesses
from .expressions import CHANGING, literal, said
from .pieces import FieldPiece, Stays

_TENSORS = ("Tensor", "Parameter")
_EMPTY = {"[]": "list", "{}": "dict"}
_SCALARS = ("bool", "int", "float", "str")


def config_fields(
    init: ast.FunctionDef, statements: Sequence[ast.stmt], context: Context, of_class: frozenset[str]
) -> Iterator[FieldPiece]:
    """The config fields. Their types go into the context.

    Args:
        init: The constructor.
        statements: The statements that become fields.
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
    something_else = _something_else(init, of_class) | frozenset(_rebound(init, statements, context))
    stored_as = {name: field for name, field in _stored_as(init, of_class).items() if name not in something_else}
    read = _Arguments(context, witnesses(init, context), something_else, stored_as, _taken(init) | of_class | MODULE)
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
    """The facts that decide how arguments become fields."""

    context: Context
    witnesses: Witnesses
    """The evidence for their types."""
    something_else: frozenset[str]
    """The arguments whose names are something else in the class."""
    stored_as: Mapping[str, str]
    """The arguments that one attribute of another name holds, which is their field."""
    taken: frozenset[str]
    """The names that a field cannot have."""


def _something_else(init: ast.FunctionDef, of_class: frozenset[str]) -> frozenset[str]:
    """The arguments whose names are a child, another attribute or a method, so that their fields need other names."""
    names = {each.arg for each in (*init.args.args[1:], *init.args.kwonlyargs)}
    bound = [each for each in ast.walk(init) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)]
    found: set[str] = set()
    stored: set[str] = set()
    for name, value in assignments(init):
        if name in names:
            stored.add(name)
            is_changed = any(each.id == name and value is not None and each.lineno < value.lineno for each in bound)
            if not (isinstance(value, ast.Name) and value.id == name) or is_changed:
                found.add(name)
    return frozenset(found | ((names - stored) & (of_class | MODULE)))


def _stored_as(init: ast.FunctionDef, of_class: frozenset[str]) -> dict[str, str]:
    """The arguments that the constructor always stores as one attribute of another name: `self.act = activation`."""
    names = {each.arg for each in (*init.args.args[1:], *init.args.kwonlyargs)}
    assigned = list(assignments(init))
    attributes = [name for name, _ in assigned]
    bound = {each.id for each in ast.walk(init) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
    given = [value.id for _, value in assigned if isinstance(value, ast.Name)]
    found: dict[str, str] = {}
    for statement in init.body:
        match statement:
            case ast.Assign(targets=[ast.Attribute(value=ast.Name(id="self"), attr=field)], value=ast.Name(id=name)):
                is_alone = attributes.count(field) == 1 == given.count(name) and name in names - bound
                if is_alone and not field.startswith("_") and field not in {*names, *bound, *of_class, *MODULE}:
                    found[name] = field
    return found


def _rebound(init: ast.FunctionDef, statements: Sequence[ast.stmt], context: Context) -> Iterator[str]:
    """The arguments that get one other value, which the language says: `hidden = hidden or 4 * dim`."""
    names = [each.arg for each in (*init.args.args[1:], *init.args.kwonlyargs)]
    bound = [each.id for each in ast.walk(init) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)]
    probe = Context(context.file, context.project, context.found, dict.fromkeys(names, "Any"))
    for statement in statements:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if name in names and bound.count(name) == 1:
                if not isinstance(value, ast.Constant) and said(value, probe) is not None:
                    yield name


def assignments(init: ast.FunctionDef) -> Iterator[tuple[str, ast.expr | None]]:
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
    made = _factory(default, node, context)
    if node.annotation is not None:
        annotation = _with_none(context.file.text.of(node.annotation), default)
    else:
        found = evidence(node, default, read.witnesses, context, is_stored=name in read.stored_as)
        annotation = found.annotation
        why = f"by {found.source}" if found.source else "without evidence"
        context.inferred.append(f"{name}: {annotation} {why}")
    plain = annotation.strip("\"'")
    if any(word in plain for word in _TENSORS):
        raise Stays(f"the argument `{name}` is a tensor", node)
    if name in read.stored_as:
        name = read.stored_as[name]
        context.types[name] = _normal(plain)
        context.names[node.arg] = ast.Name(name, ast.Load())
        context.renamed[node.arg] = name
        context.plain |= {name} if node.arg in context.plain else set()
    elif name in read.something_else:
        name = _renamed(node, plain, read)
    else:
        context.types[name] = _normal(plain)
    value = None if default is None else context.file.text.of(default)
    given = [f"default_factory={made}"] if made is not None else [] if value is None else [f"default={value}"]
    keywords = [f'alias="{node.arg}"'] if name != node.arg else []
    keywords += ["kw_only=True"] if keyword_only else []
    if keywords or made is not None:
        value = f"{context.spell('field')}({', '.join([*given, *keywords])})"
    return FieldPiece(name, annotation, value, node)


def _factory(default: ast.expr | None, node: ast.arg, context: Context) -> str | None:
    """The factory of a default that is a list, a dict or a set; None for any other.

    Raises:
        Stays: it is another object that all instances share, or one that the class changes for all of them.
    """
    match default:
        case ast.List() | ast.Dict() | ast.Set() if literal(default):
            text = context.file.text.of(default)
            made = _EMPTY.get(text) or f"lambda: {text}"
        case ast.Call(func=ast.Name(id="list" | "dict" | "set" as made), args=[], keywords=[]):
            pass
        case ast.List() | ast.Dict() | ast.Set() | ast.Call() | ast.ListComp():
            raise Stays(f"the default of `{node.arg}` is an object that all instances would share", node)
        case _:
            return None
    if any(_changes(each, node.arg) for each in ast.walk(context.found.node)):
        raise Stays(
            f"the default of `{node.arg}` is an object that all instances share, and the class changes it", node
        )
    context.plain.add(node.arg)
    return made


def _changes(node: ast.AST, name: str) -> bool:
    """Whether a node changes what an argument, or the attribute of its name, holds."""
    match node:
        case ast.Call(func=ast.Attribute(value=held, attr=method)) if method in CHANGING:
            pass
        case ast.Subscript(value=held, ctx=ast.Store() | ast.Del()) | ast.AugAssign(target=held):
            pass
        case _:
            return False
    return ast.unparse(held) in (name, f"self.{name}")


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
