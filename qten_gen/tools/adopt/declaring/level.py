"""The level *declare*: which constructors become declared fields, and why the others stay."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from functools import partial

from ....common.language import INIT
from ..adoption import FoundClass, Kind, Proposal, Reason
from ..opened import OpenFile, Project
from .constructor_bases import RESET, TAKEN, calls_reset, names_of_class, refuse_bases, refuse_subclasses
from .constructor_statements import take_apart
from .context import Context, is_any, self_attribute
from .pieces import CheckPiece, FieldPiece, MovedPiece, Stays, Taken
from .proofs import constructor

_DOES = "declare what __init__ registers"


def declare(file: OpenFile, project: Project) -> Iterator[Proposal]:
    """The changes that the level proposes for each module of a file that has an `__init__`."""
    for found in file.classes.values():
        init = constructor(found)
        if found.kind is not Kind.MODULE or init is None or not found.is_adopted:
            continue
        try:
            yield _declared(found, init, partial(Context, file, project, found))
        except Stays as stays:
            yield Proposal(found.name, stays=Reason(stays.why, line=_line_within(stays, init)))


def _line_within(stays: Stays, init: ast.FunctionDef) -> int | None:
    """The line that stands in the way, if it is one of the constructor's body."""
    return stays.line if stays.line is not None and init.lineno < stays.line <= (init.end_lineno or 0) else None


def _declared(found: FoundClass, init: ast.FunctionDef, fresh: Callable[[], Context]) -> Proposal:
    """The proposal for a class.

    Raises:
        Stays: it has to keep its constructor.
    """
    _refuse_class(found, init, fresh())
    taken, context = take_apart(init, fresh)
    _refuse_idle(taken, init)
    if all(is_any(context.types.get(name, "")) for name in context.registered):
        raise Stays("it registers no child, parameter or buffer", init)
    _refuse_functions(taken, context, init)
    _refuse_names(taken, found, context)
    _refuse_documentation(found, init, context.file)
    annotated = _annotated(taken, context)
    from ..rewriting.constructor_changes import declared

    return Proposal(
        found.name,
        does=(_DOES, *_counts(taken)),
        changes=(partial(declared, node=init, taken=taken, annotated=annotated, text=context.file.text),),
        needs=tuple(context.needs),
        notes=tuple(taken.notes),
        init=init,
        unflagged=tuple(_unflagged(found, context.file)),
    )


def _unflagged(found: FoundClass, file: OpenFile) -> Iterator[str]:
    """The subclasses in the file with `init=False`, which says that they keep a constructor that is generated now."""
    for other in file.classes.values():
        if found.qualified in other.ancestors and any(each.arg == INIT for each in other.node.keywords):
            yield other.name


def _annotated(taken: Taken, context: Context) -> frozenset[str]:
    """The fields that the class body annotates without a value.

    Raises:
        Stays: an annotation would become an argument of the constructor, or has a comment.
    """
    fields = {piece.name for piece in taken.pieces if isinstance(piece, FieldPiece)}
    found: set[str] = set()
    for statement in context.found.node.body:
        if not isinstance(statement, ast.AnnAssign) or not isinstance(statement.target, ast.Name):
            continue
        name = statement.target.id
        if "ClassVar" in ast.unparse(statement.annotation):
            continue
        if statement.value is not None or name not in {*fields, *context.annotated}:
            raise Stays(
                f"the annotation of `{name}` in the class body would be an argument of the constructor", statement
            )
        if any("#" in line for line in context.file.text.lines[statement.lineno - 1 : statement.end_lineno]):
            raise Stays(f"the annotation of `{name}` in the class body has a comment", statement)
        found.add(name)
    return frozenset(found)


def _refuse_documentation(found: FoundClass, init: ast.FunctionDef, file: OpenFile) -> None:
    """Keep a constructor whose documentation and that of the class are written in different ways.

    Raises:
        Stays: they are.
    """
    if any(ast.get_docstring(node, clean=False) is None for node in (found.node, init)):
        return
    written = [file.text.of(node.body[0]) for node in (found.node, init)]
    if not all(each.startswith('"""') and each.endswith('"""') for each in written):
        raise Stays("the docstring of the constructor cannot be merged into that of the class", init.body[0])


def _counts(taken: Taken) -> Iterator[str]:
    moved = sum(isinstance(piece, MovedPiece) for piece in taken.pieces)
    if moved:
        yield f"do {moved} statement{'s' if moved > 1 else ''} in __post_init__"


def _refuse_idle(taken: Taken, init: ast.FunctionDef) -> None:
    """Keep a constructor of which nothing would be declared."""
    if not any(isinstance(piece, FieldPiece) for piece in taken.pieces):
        raise Stays("it has no arguments and registers nothing", init)
    names = [piece.name for piece in taken.pieces if isinstance(piece, FieldPiece)]
    double = next((name for name in names if names.count(name) > 1), None)
    if double is not None:
        raise Stays(f"`{double}` would be declared twice", init)
    checks = [piece for piece in taken.pieces if isinstance(piece, CheckPiece)]
    if len({piece.text for piece in checks}) < len(checks):
        raise Stays("a check is written twice", init)


def _refuse_functions(taken: Taken, context: Context, init: ast.FunctionDef) -> None:
    """Keep a constructor that reads better: all that it makes would be functions, of many fields.

    Raises:
        Stays: it does.
    """
    made = context.registered - context.types.keys()
    values = [piece.value or "" for piece in taken.pieces if isinstance(piece, FieldPiece) and piece.name in made]
    functions = [found for value in values if (found := _FUNCTION.search(value)) is not None]
    names = sum(each[1].count(",") + 1 for each in functions)
    if len(functions) == len(values) and names > _MOST_NAMES:
        raise Stays("functions of many fields would make all that it registers", init)


_FUNCTION = re.compile(r"\blambda ([^:]*):")
_MOST_NAMES = 3


def _refuse_names(taken: Taken, found: FoundClass, context: Context) -> None:
    """Keep a constructor with names that mean something else in a class body, or in a subclass.

    Raises:
        Stays: there is one.
    """
    fields = {piece.name: piece for piece in taken.pieces if isinstance(piece, FieldPiece)}
    for piece in fields.values():
        for text in (piece.value, piece.annotation):
            evaluated = names_in(ast.parse(text, mode="eval").body) if text is not None else set()
            hidden = evaluated & {name for name, field in fields.items() if field.value is not None}
            if hidden:
                raise Stays(f"the field `{min(hidden)}` would hide a name that constructs `{piece.name}`", piece.origin)
    for file in context.project.files.values():
        for other in file.classes.values():
            if found.qualified in other.ancestors and (taken_names := fields.keys() & _names_of_subclass(other.node)):
                raise Stays(f"`{min(taken_names)}` is something else in its subclass {other.qualified}", found.node)


def _names_of_subclass(node: ast.ClassDef) -> frozenset[str]:
    """The names of a subclass: of its methods and attributes, and of what its methods assign to `self`."""
    stored = (each for each in ast.walk(node) if isinstance(each, ast.Attribute) and isinstance(each.ctx, ast.Store))
    return names_of_class(node) | {name for each in stored if (name := self_attribute(each)) is not None}


def names_in(node: ast.AST) -> set[str]:
    """The names that an expression reads when it is evaluated; those in a lambda are read later, elsewhere."""
    if isinstance(node, ast.Lambda):
        return set()
    own = {node.id} if isinstance(node, ast.Name) else set()
    return own.union(*(names_in(each) for each in ast.iter_child_nodes(node)))


def _registers_class(decorator: ast.expr) -> bool:
    """Whether a decorator only adds a class to a registry: `@BACKBONES.register_module()`."""
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    return isinstance(called, ast.Attribute) and called.attr in ("register", "register_module")


def _refuse_class(found: FoundClass, init: ast.FunctionDef, context: Context) -> None:
    """Keep the constructor of a class that declared fields would change in another way.

    Raises:
        Stays: it is such a class.
    """
    node = found.node
    refuse_bases(found, context)
    if node.keywords or not all(map(_registers_class, node.decorator_list)):
        raise Stays("the class has decorators or keywords", node)
    if init.decorator_list or init.args.args[:1] == [] or init.args.args[0].arg != "self":
        raise Stays("the constructor is decorated, or its first argument is not `self`", init)
    if init.body[0].lineno == init.lineno:
        raise Stays("the constructor is written on one line", init)
    for statement in node.body:
        name = getattr(statement, "name", None)
        if name in TAKEN and not (name == RESET and calls_reset(init.body[-1])):
            raise Stays(f"the class defines {name}", statement)
        if statement is not init and not isinstance(
            statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.Assign | ast.AnnAssign | ast.Expr | ast.Pass
        ):
            raise Stays("the class body does more than define methods and attributes", statement)
    if any(each.lineno == other.end_lineno for each, other in zip(init.body[1:], init.body, strict=False)):
        raise Stays("two statements are on one line", init)
    refuse_subclasses(found, context.project)
