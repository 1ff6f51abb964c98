"""Takes a constructor apart, statement by statement, into fields, checks and what `__post_init__` does.

The order of registrations and of random draws is part of a model: state dicts and seeds hang on it. So fields come in the order
of their statements, and a statement moves behind later registrations only where it can neither register nor draw.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace

from ....rules.reserved import MODULE
from .assignments import Step, steps
from .children import child, is_factory_kwargs
from .config_fields import config_fields, scalar
from .constructor_bases import RESET, calls_reset, calls_super_init, names_of_class
from .context import Context, is_any, quoted, self_attribute
from .expressions import LONG, first_line, over_fields, said, short, type_of
from .growing import adds_to, mentions
from .harmless import (
    changed_by,
    draws,
    held,
    is_plain,
    is_used_up,
    makes_field,
    makes_object,
    may_be_registered,
    may_register,
    registers_surely,
)
from .pieces import CheckPiece, FieldPiece, MovedPiece, Stays, Taken
from .post_init import drop_unread, names_read, put_in_place
from .remaining import remaining
from .tensors import buffer, registered_tensor

DERIVED = ("int", "float", "bool", "str")


def take_apart(init: ast.FunctionDef, fresh: Callable[[], Context]) -> tuple[Taken, Context]:
    """The pieces of a constructor, and what was found out about its names.

    From the first statement on that cannot be declared, `__post_init__` does the rest as it is written.

    Args:
        init: The constructor.
        fresh: What is known before.

    Raises:
        Stays: a part of it is not certain to be the same as a declaration.
    """
    first: Stays | None = None
    end = len(init.body)
    while True:
        reader = _Reader(init, fresh(), end)
        try:
            reader.read()
            if first is not None:
                reader.refuse_little(first)
            return reader.taken, reader.context
        except Stays as stays:
            first = first or stays
            end = reader.before(stays)
            if end <= 0:
                raise first from None


class _Reader:
    """Goes through the statements of a constructor, and collects its pieces."""

    def __init__(self, init: ast.FunctionDef, context: Context, end: int) -> None:
        """Find out which names the constructor and the class use.

        Args:
            init: The constructor.
            context: What is known of the class.
            end: How many of its statements are taken apart. `__post_init__` does the others.
        """
        self.init = init
        has_docstring = ast.get_docstring(init, clean=False) is not None
        self.statements, self.rest = init.body[has_docstring:end], init.body[end:]
        self.position: int | None = None
        self.context = context
        self.taken = Taken()
        self.of_class = names_of_class(context.found.node)
        context.resets = RESET in self.of_class
        self.steps: list[Step] = []
        self.step = Step(init, ())
        self.held: dict[str, tuple[ast.stmt, ...]] = {}
        self.released_from: list[ast.stmt] = []
        self.moved: set[ast.stmt] = set()
        self.constructed = False

    def read(self) -> None:
        """Take the whole constructor apart."""
        for piece in config_fields(self.init, self.statements, self.context, self.of_class):
            if piece.name in self.of_class or piece.name in MODULE:
                raise Stays(f"the class already uses the name `{piece.name}`, which is an argument", piece.origin)
            self.taken.pieces.append(piece)
        self.arguments = frozenset(self.context.types)
        if self.context.inferred:
            self.taken.notes.append(f"inferred {'; '.join(self.context.inferred)}")
        self.taken.notes += [
            f"the argument `{name}` is the field `{field}`" for name, field in self.context.renamed.items()
        ]
        self.steps = steps(self.statements, self.context)
        nodes = [each for node in (*(step.node for step in self.steps), *self.rest) for each in ast.walk(node)]
        stores = [each for each in nodes if isinstance(each, ast.Attribute) and isinstance(each.ctx, ast.Store)]
        self.assigned = [name for each in stores if (name := self_attribute(each)) is not None]
        self.bound = [each.id for each in nodes if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)]
        self.context.reads.update(
            each.id for each in nodes if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)
        )
        for position, step in enumerate(self.steps):
            self.position, self.step = position, step
            self.statement(step.node, [each.node for each in self.steps[position + 1 :]])
        self.position = len(self.steps)
        if self.context.inlined:
            name, value = min(self.context.inlined.items(), key=lambda item: item[0])
            raise Stays(held(name, value, self.context), self.init)
        self.remaining()
        drop_unread(self.taken.pieces, self.context)
        moved = next((piece for piece in self.taken.pieces if isinstance(piece, MovedPiece)), None)
        if moved is not None and self.context.resets:
            raise Stays(f"`{first_line(moved.origin)}` runs before `self.{RESET}()`", moved.origin)
        if not self.constructed:
            raise Stays("it does not call super().__init__()", self.init)
        for name in self.arguments:
            if (
                name not in self.context.registered
                and self.context.may_be_module(name)
                and not is_any(self.context.types[name])
            ):
                raise Stays(f"the argument `{name}` is a module that is not registered under its own name", self.init)

    def remaining(self) -> None:
        """Do the rest of the constructor in `__post_init__`, without what config fields do."""
        kept: list[ast.stmt] = []
        for each in self.rest:
            match each:
                case ast.Assign(
                    targets=[ast.Attribute(value=ast.Name(id="self"), attr=name)], value=ast.Name(id=given)
                ) if self.is_stored(given, name):
                    self.stored(name, each)
                case _:
                    kept.append(each)
        read = {each.id for node in kept for each in ast.walk(node) if isinstance(each, ast.Name)}
        for position, each in enumerate(self.statements):
            match each:
                case ast.Assign(targets=[ast.Name(id=name)], value=value) if name in self.context.kept & read:
                    others = (other for other in self.statements[position + 1 :] if other not in self.moved)
                    if makes_object(value) and any(mentions(other, name) for other in others):
                        raise Stays(
                            f"the local name `{name}` holds an object that fields and __post_init__ share", each
                        )
        self.taken.pieces += remaining(kept, self.arguments, self.context)
        self.taken.annotated = self.context.annotated

    def is_stored(self, given: str, name: str) -> bool:
        """Whether `self.name = given` stores an argument, whose config field does that."""
        if name == given:
            return name in self.arguments and name not in self.context.names
        return self.context.renamed.get(given) == name

    def before(self, stays: Stays) -> int:
        """How many statements come before what cannot be declared; 0 where the rest cannot be done in `__post_init__` either."""
        if self.position is not None and self.position < len(self.steps):
            sources = [source for step in self.steps[self.position :] for source in step.sources]
        else:
            line = stays.line or 0
            sources = [each for each in self.statements if each.lineno <= line <= (each.end_lineno or 0)]
        sources += [source for name in self.context.inlined for source in self.held[name]]
        return min((self.init.body.index(each) for each in sources), default=0)

    def refuse_little(self, first: Stays) -> None:
        """Keep a constructor of which little would be declared.

        Raises:
            Stays: the first reason why not all of it is.
        """
        left = sum(makes_field(each, self.context) for each in self.rest)
        if 2 * len(self.context.registered - self.arguments) < max(left, 1):
            raise first

    def statement(self, node: ast.stmt, later: list[ast.stmt]) -> None:
        """Take one statement apart, by its form."""
        match node:
            case ast.Pass() | ast.Expr(value=ast.Constant()):
                pass
            case ast.Expr() if self.context.resets and not later and calls_reset(node):
                pass  # the generated constructor ends with it
            case ast.Expr(value=ast.Call() as call):
                self.call(call, node, later)
            case ast.Assign(targets=[target], value=value):
                self.assign(target, value, node, later)
            case ast.AnnAssign(target=target, value=ast.expr() as value, annotation=annotation):
                self.assign(target, value, node, later, self.context.file.text.of(annotation))
            case ast.Assert(test=test):
                text = said(test, self.context)
                if text is None:
                    self.move(node, later)
                else:
                    self.taken.pieces.append(CheckPiece(f"{self.context.spell('check')}({quoted(text)})", node))
                    self.taken.notes.append("an assert becomes a check, which raises ValueError")
            case ast.If() if makes_field(node, self.context):
                raise Stays("a branch does more than register", node)
            case ast.For() if makes_field(node, self.context):
                raise Stays("a loop does more than add children to one list", node)
            case _:
                self.move(node, later)

    def call(self, call: ast.Call, node: ast.stmt, later: list[ast.stmt]) -> None:
        """A call whose result is not kept."""
        if calls_super_init(call):
            if (call.args and ast.unparse(call.func).startswith("super(")) or call.keywords:
                raise Stays("it passes arguments to the constructor of its base", node)
            self.constructed = True
            return
        match call:
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id="self"), attr="register_buffer"),
                args=[ast.Constant(value=str(name)), value, *others],
                keywords=keywords,
            ):
                given = {each.arg: each.value for each in keywords}
                if given.keys() - {"persistent"} or len(others) > 1:
                    raise Stays(f"`{short(call)}` cannot be declared", node)
                text = buffer(value, others[0] if others else given.get("persistent"), self.context)
                tensor = self.context.spell("Tensor", "torch")
                self.register(name, FieldPiece(name, tensor, text, node), node)
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id="self"), attr="add_module" | "register_module"),
                args=[ast.Constant(value=str(name)), ast.Call() as value],
                keywords=[],
            ):
                self.field_of(name, value, node)
            case _:
                self.move(node, later)

    def assign(
        self, target: ast.expr, value: ast.expr, node: ast.stmt, later: list[ast.stmt], annotation: str | None = None
    ) -> None:
        """Take an assignment apart, by its target."""
        match target:
            case ast.Attribute(value=ast.Name(id="self"), attr=name):
                self.attribute(name, value, node, later, annotation)
            case ast.Name(id=name):
                self.local(name, value, node, later)
            case ast.Tuple(elts=targets) if any(self_attribute(each) is not None for each in targets):
                values = value.elts if isinstance(value, ast.Tuple) else [value]
                if any(may_be_registered(each, self.context) for each in values):
                    raise Stays("one assignment may register several children", node)
                self.move(node, later)
            case _:
                self.move(node, later)

    def attribute(
        self, name: str, value: ast.expr, node: ast.stmt, later: list[ast.stmt], annotation: str | None
    ) -> None:
        """`self.name = value`."""
        context = self.context
        if isinstance(value, ast.Name) and self.is_stored(value.id, name):
            self.stored(name, node)
            return
        if isinstance(value, ast.Name) and value.id == name and name in context.types:
            self.taken.owners[node] = name  # the new value of the argument
            context.attributes[name] = ast.Name(name, ast.Load())
            return
        if name in self.arguments:
            raise Stays(f"`self.{name}` is something other than the argument `{name}`", node)
        if name in self.of_class or self.assigned.count(name) > 1:
            raise Stays(f"`self.{name}` is assigned more than once", node)
        if may_be_registered(value, context):
            self.field_of(name, value, node)
        else:
            self.derive(name, value, node, later, annotation)

    def stored(self, name: str, node: ast.stmt) -> None:
        """`self.dim = dim`, which a config field does. A module is registered before everything else."""
        kind = self.context.types[name]
        self.taken.owners[node] = name
        self.context.attributes[name] = ast.Name(name, ast.Load())
        if scalar(kind) or not self.context.may_be_module(name):
            return
        before = [each for each in self.arguments if each in self.context.registered]
        if len(before) != len(self.context.registered):
            raise Stays(f"the module `{name}` is registered after children that the constructor makes", node)
        order = [piece.name for piece in self.taken.pieces if isinstance(piece, FieldPiece)]
        if any(order.index(each) > order.index(name) for each in before):
            raise Stays("modules are registered in another order than that of the arguments", node)
        self.context.registered.add(name)

    def field_of(self, name: str, value: ast.expr, node: ast.stmt) -> None:
        """A field for a parameter, a buffer or a child."""
        if any(adds_to(each, f"self.{name}") for each in self.rest):
            raise Stays(f"`self.{name}` gets members later", node)
        value = self.released(value)
        tensor = registered_tensor(name, value, node, self.context)
        if tensor is not None:
            self.register(name, tensor, node)
            return
        made = child(value, self.context)
        self.register(name, FieldPiece(name, made.annotation, made.text, node), node)

    def register(self, name: str, piece: FieldPiece, node: ast.stmt) -> None:
        """Add a field for something registered, unless its name is taken."""
        if name in self.arguments:
            raise Stays(f"`self.{name}` is something other than the argument `{name}`", node)
        if name.startswith("__"):
            raise Stays(f"Python mangles the name `{name}` in a class body", node)
        if name in self.of_class or name in MODULE or name in self.context.types:
            raise Stays(f"the class already uses the name `{name}`", node)
        if not self.constructed:
            raise Stays("it registers before super().__init__()", node)
        self.context.registered.add(name)
        self.add(FieldPiece(name, piece.annotation, piece.value, node))

    def add(self, piece: FieldPiece) -> None:
        """A field, which has the comments of all statements that it comes from."""
        *others, last = self.step.sources
        self.taken.pieces.append(replace(piece, origin=last))
        self.taken.owners.update(dict.fromkeys([*others, *self.released_from], piece.name))
        self.released_from.clear()

    def derive(self, name: str, value: ast.expr, node: ast.stmt, later: list[ast.stmt], annotation: str | None) -> None:
        """A plain attribute: a derived value where the language says it, else what `__post_init__` assigns."""
        context = self.context
        found, text = over_fields(value, context), said(value, context)
        kind = None if found is None or text is None else type_of(found, context)
        is_field = kind in DERIVED or len(self.step.sources) > 1  # what assigns several of these is gone then
        if text is not None and is_field and self.is_free(name, {name}) and not isinstance(found, ast.Constant):
            derived = f"{context.spell('derived')}({quoted(text)})"
            annotation = annotation or kind or context.spell("Any", "typing")
            self.add(FieldPiece(name, annotation, derived, node))
            context.types[name] = kind or annotation
            context.plain.add(name)
            context.attributes[name] = ast.Name(name, ast.Load())
            return
        self.move(node, later)
        context.attributes[name] = found if text is not None else None

    def local(self, name: str, value: ast.expr, node: ast.stmt, later: list[ast.stmt]) -> None:
        """A local name, which becomes a derived value, or what it stands for is written where it is used."""
        context = self.context
        if is_factory_kwargs(value, context):
            context.factory.add(name)
            context.names[name] = None
            return
        if may_register(value, context):
            self.hold(name, value, node)
            return
        if context.reads[name] > 1 and is_used_up(value, context):
            raise Stays(f"the local name `{name}` holds what can be read once", node)
        found, text = over_fields(value, context), said(value, context)
        kind = None if found is None or text is None else type_of(found, context)
        is_once = self.bound.count(name) == 1 and name not in self.arguments and name not in context.names
        is_new = is_once and self.is_free(name, set(self.assigned))
        is_repeated = context.reads[name] > 1 and not isinstance(found, ast.Name | ast.Constant)
        is_field = is_new and (kind in DERIVED or (is_repeated and not may_be_registered(value, context)))
        if text is not None and (is_field or self.is_new_value(name)):
            annotation = kind or context.spell("Any", "typing")
            self.add(FieldPiece(name, annotation, f"{context.spell('derived')}({quoted(text)})", node))
            context.types[name] = annotation
            context.plain.add(name)
            context.names.pop(name, None)
            return
        if text is None and not (name in self.arguments or name in context.renamed):
            self.move(node, later)
            context.kept.add(name)
        elif found is None or (text is None and context.reads[name] > 2 and len(ast.unparse(found)) > LONG):
            raise Stays(
                f"the new value of the argument `{name}` cannot be written as an expression of a declaration", node
            )
        elif text is None and context.reads[name] > 2 and self.bound.count(name) == 1 and not self.rest:
            self.taken.pieces.append(MovedPiece(names_read(node, context), node))
            context.kept.add(name)
        context.names[name] = found

    def is_new_value(self, name: str) -> bool:
        """Whether an assignment gives an argument its one other value, which can be a field of its name."""
        given = self.context.renamed.get(name)
        is_one = given is not None and given != name and self.bound.count(name) == 1 and self.is_free(name, set())
        return is_one and given is not None and not self.context.may_be_module(given)

    def hold(self, name: str, value: ast.expr, node: ast.stmt) -> None:
        """A local name for something that is made here, and registered where the one expression that reads the name is."""
        context = self.context
        found = over_fields(self.released(value), context)
        is_argument = name in self.arguments or name in context.renamed
        if found is None or is_argument or context.reads[name] != 1 or self.bound.count(name) != 1:
            raise Stays(held(name, value, context), node)
        context.inlined[name] = found
        self.held[name] = self.step.sources

    def released(self, value: ast.expr) -> ast.expr:
        """An expression with the modules that local names hold in their place."""
        found, used = put_in_place(value, self.context.inlined, self.context)
        self.released_from += [source for name in used for source in self.held[name]]
        return found

    def is_free(self, name: str, allowed: set[str]) -> bool:
        """Whether a derived value may have a name."""
        if name in MODULE or name in self.of_class or name in self.arguments or name.startswith("_"):
            return False
        return name in allowed if allowed == {name} else name not in allowed

    def move(self, node: ast.stmt, later: list[ast.stmt]) -> None:
        """Do a statement in `__post_init__`, where everything is registered."""
        gone = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)} & self.context.factory
        if gone:
            raise Stays(f"`{min(gone)}` is used for more than children and tensors", node)
        if not self.step.is_movable:
            raise Stays(f"`{first_line(node)}` does more than register", node)
        rest = [each for each in later if makes_field(each, self.context)]
        drawing = (each for each in self.context.inlined.values() if draws(each, self.context))
        if (rest or any(drawing)) and not is_plain(node, self.context):
            raise Stays(
                f"`{first_line(node)}` runs before `{first_line(rest[0] if rest else node)}` registers more",
                node,
            )
        if registers_surely(node, self.context):
            raise Stays(f"`{first_line(node)}` registers something that cannot be declared", node)
        changed = changed_by(node, self.context)
        if changed is not None:
            is_argument = changed in self.arguments or changed in self.context.renamed
            thing = "an argument" if is_argument else f"the local name `{changed}`"
            raise Stays(f"`{first_line(node)}` may change {thing} that fields are computed from", node)
        for source in self.step.sources:
            if source not in self.moved:
                self.moved.add(source)
                self.taken.pieces.append(MovedPiece(names_read(source, self.context), source))
        for each in ast.walk(node):
            if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
                known = self.context.names.get(each.id)
                is_known = known is not None and each.id not in self.context.kept
                if each.id in self.arguments or each.id in self.context.types or is_known:
                    raise Stays(f"the value of `{each.id}` is computed by a statement", node)
                self.context.names[each.id] = None
            elif isinstance(each, ast.Attribute) and isinstance(each.ctx, ast.Store):
                stored = self_attribute(each)
                if stored is not None and (stored in self.arguments or stored in self.context.registered):
                    raise Stays(f"`self.{stored}` is assigned again", node)
