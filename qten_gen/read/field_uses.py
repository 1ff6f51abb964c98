"""Finds where a file uses fields of objects whose class its text says: by an annotation, a constructor call or `self`."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from ..model import NO_PATH, NodePath, ReplaceSource
from .bindings import Function, dotted, string_value
from .dotted_names import Scope
from .values import keywords, value

_ALIKE = frozenset({"clone", "contiguous", "copy", "cpu", "cuda", "detach", "pin_memory", "replace", "to"})
"""Methods that return an object of the same class."""
_DIVIDING = frozenset({"chunk", "split", "unbind"})
"""Methods that return several of them."""
_MAKING = frozenset({"cat", "load", "load_memmap", "stack"})
"""Methods of a class that return an object of it."""
_WITH_KEYS = frozenset({"exclude", "get", "pop", "replace", "select", "set", "set_", "setdefault", "update"})
_LOCAL = "<locals>."
"""Stands before the names of classes that are defined in functions."""

_ITEMS, _VALUES = "[]", "{}"
"""Before an object: what contains several of it, and a dict whose values they are."""
_CONTAINERS = dict.fromkeys(
    "list tuple set frozenset deque Sequence Iterable Iterator Collection List Tuple Set".split(), _ITEMS
)
_CONTAINERS |= dict.fromkeys("dict Mapping MutableMapping defaultdict OrderedDict Dict".split(), _VALUES)

Object = tuple[str, ...]
"""An object: its class as the file writes it, `Batch` or `model.Batch`, and the steps that lead to it from one of the class: its
fields and properties, and the results of its methods, `doubled()`."""


class FieldUse(NamedTuple):
    """The name of a field where something is done with it. It may be another attribute, keyword or string."""

    owner: Object
    name: str
    node: ast.expr | ast.pattern | ast.keyword
    """What has the name: the attribute, the keyword, the string, or the pattern behind the name."""
    how: Literal["attribute", "keyword", "key", "pattern", "declaration"] = "attribute"
    replacing: ast.Call | None = None
    """The call of `replace` that the keyword belongs to, unless a question for the class of the object stands around it."""


_Known = Mapping[str, Object | None]
"""The objects by the names of variables; None for a variable whose class is not known. `cls()` is what a call of `cls` gives."""
_NOTHING: _Known = {}


def replacements(tree: ast.Module, scope: Scope) -> Iterator[ReplaceSource]:
    """The keywords that calls of `replace` in a file give objects of known classes."""
    owners = {id(use.replacing): (use.replacing, use.owner) for use in field_uses(tree) if use.replacing is not None}
    for call, owner in owners.values():
        named = keywords(call.keywords, (_path_to(call, tree) or NO_PATH) / "keywords")
        given = tuple((each.keyword, value(each.value, each.place, scope)) for each in named if each.keyword)
        yield ReplaceSource((scope.resolve(owner[0]), *owner[1:]), given)


def _path_to(node: ast.expr, tree: ast.AST, place: NodePath = NO_PATH) -> NodePath | None:
    """The path to a node in a tree."""
    if tree is node:
        return place
    for name, content in ast.iter_fields(tree):
        for index, part in enumerate(content) if isinstance(content, list) else [(None, content)]:
            first, last = getattr(part, "lineno", 0), getattr(part, "end_lineno", None)
            if isinstance(part, ast.AST) and first <= node.lineno <= (last or node.lineno):
                found = _path_to(node, part, place / name if index is None else place / name / index)
                if found is not None:
                    return found
    return None


def field_uses(tree: ast.Module) -> Iterator[FieldUse]:
    """The uses in a file."""
    elsewhere = (each for each in ast.walk(tree) if isinstance(each, ast.Global | ast.Nonlocal))
    return _in_scope(tree.body, _NOTHING, first={name: None for each in elsewhere for name in each.names})


def _in_scope(
    body: Iterable[ast.AST],
    around: _Known,
    within: str = "",
    first: _Known = _NOTHING,
    own: Object | None = None,
    asked: frozenset[str] = frozenset(),
) -> Iterator[FieldUse]:
    """The uses in the body of a module, of a function with the parameters `first`, or of the class that `own` is.

    `asked` are the variables whose objects may be of a subclass, because the code asks for their class.
    """
    nodes = list(_outside_functions(body))
    found, questions = _variables(nodes, around, first, is_local=within == _LOCAL)
    known, asked = {**around, **found}, asked | questions
    inner = known if own is None else around  # functions do not see what the body of their class binds
    for node in nodes:
        yield from _of_node(node, known, asked)
        if isinstance(node, ast.ClassDef):
            name = f"{within}{node.name}"
            yield from _in_scope(node.body, inner, f"{name}.", own=(name,), asked=asked)
        elif isinstance(node, Function | ast.Lambda):
            inside = [node.body] if isinstance(node, ast.Lambda) else node.body
            yield from _in_scope(inside, inner, _LOCAL, _parameters(node, own), asked=asked)
        elif own is not None and isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield FieldUse(own, node.target.id, node.target, "declaration")


def _outside_functions(body: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """The nodes of a scope: of functions and classes in it what stands before their bodies."""
    waiting = [*body]
    while waiting:
        node = waiting.pop(0)
        yield node
        inside = node.body if isinstance(node, Function | ast.Lambda | ast.ClassDef) else ()
        left_out = inside if isinstance(inside, Sequence) else [inside]
        waiting[:0] = [each for each in ast.iter_child_nodes(node) if each not in left_out]


def _parameters(
    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, own: Object | None
) -> dict[str, Object | None]:
    """The parameters of a function; the first one of a method in the class `own` is an object of that class, or the class."""
    given = node.args
    positional = [*given.posonlyargs, *given.args]
    found = {each.arg: _annotated(each.annotation) for each in (*positional, *given.kwonlyargs)}
    found.update({each.arg: None for each in (given.vararg, given.kwarg) if each is not None})
    decorators = {dotted(each) for each in node.decorator_list} if isinstance(node, Function) else {"staticmethod"}
    if own is not None and positional and "staticmethod" not in decorators:
        first = positional[0].arg
        found[f"{first}()" if "classmethod" in decorators else first] = own
    return found


def _variables(
    nodes: Iterable[ast.AST], around: _Known, first: _Known, *, is_local: bool
) -> tuple[dict[str, Object | None], frozenset[str]]:
    """The variables of a scope, and those whose class it asks for.

    A variable whose class is annotated has it; of any other, all bindings have to agree.
    """
    found, asked = dict(first), set[str]()
    annotated = {name for name, each in first.items() if each is not None}
    targets: set[int] = set()
    for node in nodes:
        given = None
        match node:
            case ast.AnnAssign(target=ast.Name(id=name) as target, annotation=annotation):
                given = _annotated(annotation)
                annotated |= {name} if given is not None else set()
                targets.add(id(target))
            case ast.Assign(targets=[ast.Name(id=name) as target], value=assigned):
                given = _object(assigned, {**around, **found})
                targets.add(id(target))
            case ast.MatchAs(pattern=ast.MatchClass(cls=cls), name=str(name)):
                given = _class(cls, around)
            case ast.NamedExpr(target=ast.Name(id=name) as target, value=assigned):
                given = _object(assigned, {**around, **found})
                targets.add(id(target))
            case ast.For(target=ast.Name(id=name) as target, iter=several):
                given = _item(_object(several, {**around, **found}))
                targets.add(id(target))
            case ast.comprehension(target=ast.Name(id=name) as target, iter=several):
                annotated.discard(name)
                given = _item(_object(several, {**around, **found}))
                targets.add(id(target))
            case ast.Call(func=ast.Name(id="isinstance" | "type"), args=[subject, *_]) | ast.Match(subject=subject):
                asked.add((dotted(subject) or "").partition(".")[0])
                continue
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()) if id(node) not in targets:
                pass
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)) | ast.ExceptHandler(name=str(name)):
                pass
            case ast.FunctionDef(name=name, returns=result, decorator_list=[]):
                found[f"{name}()"] = _annotated(result)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                pass
            case ast.ClassDef(name=name) if is_local:
                pass
            case _:
                continue
        if name not in found or name not in annotated:
            found[name] = given if found.get(name, given) == given else None
    return found, frozenset(asked)


def _of_node(node: ast.AST, known: _Known, asked: frozenset[str]) -> Iterator[FieldUse]:
    """What a node by itself does with fields."""
    match node:
        case ast.Attribute(value=inner, attr=name) if owner := _object(inner, known):
            yield FieldUse(owner, name, node)
        case ast.MatchClass(cls=cls) if owner := _class(cls, known):
            named = zip(node.kwd_attrs, node.kwd_patterns, strict=True)
            yield from (FieldUse(owner, name, pattern, "pattern") for name, pattern in named)
        case ast.Call() if (called := _method(node)) and (owner := _object(called[0], known)):
            _, name, args = called
            if name in ("replace", "update"):
                args = [key for each in args[:1] if isinstance(each, ast.Dict) for key in each.keys if key is not None]
                roots = {each.id for each in ast.walk(called[0]) if isinstance(each, ast.Name)}
                is_exact = name == "replace" and roots.isdisjoint(asked)
                yield from _of_keywords(node, owner, node if is_exact else None)
            for key in args if name in _WITH_KEYS else ():
                yield from _of_key(key, owner)
        case ast.Call(func=function) if owner := _class(function, known):
            yield from _of_keywords(node, owner)


def _of_keywords(call: ast.Call, owner: Object, replacing: ast.Call | None = None) -> Iterator[FieldUse]:
    return (FieldUse(owner, each.arg, each, "keyword", replacing) for each in call.keywords if each.arg)


def _of_key(key: ast.expr, owner: Object) -> Iterator[FieldUse]:
    """The fields that a key names: a string, or a tuple of strings that leads into nested objects."""
    for each in key.elts if isinstance(key, ast.Tuple) else [key]:
        name = string_value(each)
        if name is None:
            return
        yield FieldUse(owner, name, each, "key")
        owner = (*owner, name)


def _method(node: ast.Call) -> tuple[ast.expr, str, list[ast.expr]] | None:
    """The object, the name and the arguments of a method call. `copy.replace(x, ...)` reads as `x.replace(...)`."""
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id="copy" | "dataclasses"), attr="replace"), args=[changed]):
            return changed, "replace", []
        case ast.Call(func=ast.Attribute(value=inner, attr=name), args=args):
            return inner, name, args
    return None


def _object(node: ast.expr, known: _Known) -> Object | None:
    """The object that an expression gives, if the text says its class."""
    match node:
        case ast.Name(id=name):
            return known.get(name)
        case ast.NamedExpr(value=inner):
            return _object(inner, known)
        case ast.Attribute(value=inner, attr=name) if owner := _object(inner, known):
            return (*owner, name)
        case ast.IfExp(body=first, orelse=second) if _object(first, known) == _object(second, known):
            return _object(first, known)
        case ast.Subscript(value=inner, slice=index) if owner := _object(inner, known):
            if owner[0] == _VALUES:
                return owner[1:]
            is_item = owner[0] == _ITEMS and not isinstance(index, ast.Slice)
            return None if string_value(index) is not None else owner[1:] if is_item else owner
        case ast.Call() if (called := _method(node)) and (owner := _object(called[0], known)):
            if owner[0] == _VALUES:
                return (_ITEMS, *owner[1:]) if called[1] == "values" else None
            if called[1] in _DIVIDING:
                return (_ITEMS, *owner)
            return owner if called[1] in _ALIKE else (*owner, f"{called[1]}()")
        case ast.Call(func=ast.Attribute(value=cls, attr=name)) if name in _MAKING and (made := _class(cls, known)):
            return made
        case ast.Call(func=ast.Name() as function) if owner := _object(function, known):
            return (*owner, "forward()")
        case ast.Call(func=function):
            return _class(function, known)
    return None


def _item(several: Object | None) -> Object | None:
    """What a loop over an object gives: what a container holds, another object of the class, or, of a dict, something else."""
    if several is None or several[0] == _VALUES:
        return None
    return several[1:] if several[0] == _ITEMS else several


def _class(node: ast.expr, known: _Known) -> Object | None:
    """An object of the class that an expression names; None if it is no name, or names a variable that is no class."""
    name = dotted(node)
    if name is None or name.partition(".")[0] in known:
        return known.get(f"{name}()")
    return (name,)


def _annotated(node: ast.expr | None) -> Object | None:
    """The object that an annotation describes: of one class, or None."""
    match node:
        case ast.Constant(value=str(text)):
            try:
                return _annotated(ast.parse(text.strip(), mode="eval").body)
            except SyntaxError:
                return None
        case ast.BinOp(left=left, op=ast.BitOr(), right=ast.Constant(value=None)):
            return _annotated(left)
        case ast.Subscript(value=generic, slice=inner):
            name = (dotted(generic) or "").rpartition(".")[2]
            if name not in _CONTAINERS:
                return _annotated(inner if name in ("Optional", "Final") else generic)
            kind, parts = _CONTAINERS[name], inner.elts if isinstance(inner, ast.Tuple) else [inner]
            parts = [each for each in parts if ast.unparse(each) != "..."]
            item = _annotated(parts[-1]) if len(parts) == (2 if kind == _VALUES else 1) else None
            return None if item is None else (kind, *item)
    cls = None if node is None else dotted(node)
    return None if cls is None else (cls,)
