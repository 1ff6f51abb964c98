"""The rules about handlers: they have to be registered when they are needed, and `forward` has to say that there are some."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator, Sequence

from ..common.field_kinds import members_of
from ..model import FileDecl, MethodSource, ModuleDecl, RegistrationDecl
from ..model.diagnostics import Fix
from ..model.dimensions import annotation_text
from ..model.foreign_classes import PROTOCOLS
from .rule_input import Facts, Problem

_OVERLOADS = ("typing.overload", "typing_extensions.overload")
_ANY = "typing.Any"
_STRUCTURAL = PROTOCOLS | {"typing.TypedDict", "typing_extensions.TypedDict"}
"""Bases of types that a value need not derive from."""


def uncovered_handler(file: FileDecl, facts: Facts) -> Iterator[Problem]:
    """A handler is for a type that `forward` does not take, so type checkers refuse the call that runs it.

    `module(x)` has the type of `forward`, and no checker sees which handlers are registered. Where `forward` lists what the
    module takes in overloads, a call has its exact type everywhere; `forward` itself runs handlers too. The help writes the
    overload that is missing.

    The rule does not report a module without a `forward`, whose calls are Any, or a `forward` that takes Any.

    Example:

    -from qten_gen import Module, TensorClass
    +from typing import Any, overload
    +
    +from qten_gen import Module, TensorClass
     from torch import Tensor


     class Batch(TensorClass):
         tokens: Tensor


     class Encoder(Module):
    -    def forward(self, x: Tensor) -> Tensor:
    +    @overload
    +    def forward(self, x: Tensor) -> Tensor: ...
    +    @overload
    +    def forward(self, x: Batch) -> int: ...
    +    def forward(self, x: Any) -> Any:
             return x


     @Encoder.register(Batch)
    -                  ^^^^^
     def encode(encoder: Encoder, batch: Batch) -> int:
         return len(batch)
    """
    for handler in file.registrations:
        owner, forward = _forward(handler.owner, facts)
        if not forward or owner is None:
            continue
        firsts = [_first(method.signature.parameters) for method in forward]
        types = [first.annotation for first in firsts if first is not None]
        if None in types:  # the text does not tell what it takes
            continue
        taken = [[*_of_annotation(type, owner.module, file)] for type in types if type is not None]
        if any(_covers(names, handler.type.name, facts) for names in taken):
            continue
        is_overloaded = any(name in _OVERLOADS for name in forward[-1].decorators)
        missing = _overload(handler, forward[-1])
        help = f"add `{missing}` to its overloads" if is_overloaded else f"give it overloads, one of them `{missing}`"
        fix = None
        if is_overloaded and owner.module == file.source.module:
            fix = Fix(f"\n    @overload\n    {missing}", forward[-1].place, is_behind=True, is_sure=False)
        of_heir = "" if owner.qualified == handler.owner else f", a base of {handler.owner.rpartition('.')[2]},"
        takes = f"the forward of {owner.name}{of_heir} does not take {handler.type.text}"
        message = f"{takes}, so type checkers refuse the call of this handler"
        yield Problem(message, handler.type.place, help, fix=fix)


def _forward(qualified: str, facts: Facts) -> tuple[ModuleDecl | None, Sequence[MethodSource]]:
    """The class that defines the `forward` of a Module, and its overloads or the one definition."""
    found = facts.declarations.get(qualified)
    for each in (found, *(facts.ancestors(found) if found is not None else ())):
        own = [method for method in each.methods if method.name == "forward"] if isinstance(each, ModuleDecl) else []
        if own and isinstance(each, ModuleDecl):
            overloads = [method for method in own if any(name in _OVERLOADS for name in method.decorators)]
            return each, overloads or own[-1:]
    return None, ()


def _of_annotation(node: ast.expr, module: str, file: FileDecl) -> Iterator[str]:
    """The qualified names of the members of an annotation: an array of jaxtyping is its tensor."""
    match node:
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            yield from _of_annotation(left, module, file)
            yield from _of_annotation(right, module, file)
        case ast.Constant(value=None):
            yield "None"
        case ast.Constant(value=str(text)) if inner := annotation_text(text):
            yield from _of_annotation(ast.parse(inner, mode="eval").body, module, file)
        case ast.Subscript(value=head, slice=inside):
            name = _meaning(ast.unparse(head), module, file)
            if name.startswith(("jaxtyping.", "typing.Annotated")) and isinstance(inside, ast.Tuple):
                yield from _of_annotation(inside.elts[0], module, file)
            elif name in ("typing.Optional", "typing.Union"):
                for item in inside.elts if isinstance(inside, ast.Tuple) else [inside, ast.Constant(None)]:
                    yield from _of_annotation(item, module, file)
            else:
                yield name
        case ast.Name(id=name) if module == file.source.module and name in file.source.type_variables:
            bound = file.source.type_variables[name].bound
            yield from [_ANY] if bound is None else [member.name for member in members_of(bound)]
        case ast.Name() | ast.Attribute():
            yield _meaning(ast.unparse(node), module, file)
        case _:
            yield _ANY


def _meaning(name: str, module: str, file: FileDecl) -> str:
    meant = file.meanings.get(f"{module}:{name}", name)
    return f"builtins.{meant}" if "." not in meant and hasattr(builtins, meant) else meant


def _covers(taken: Sequence[str], type: str, facts: Facts) -> bool:
    """True if one of the types that are taken is a handler's, a base of it, or none that the text tells."""
    for name in (*taken, type):
        known = name in ("None", "torch.Tensor", "qten_gen.Ragged") or hasattr(builtins, name.removeprefix("builtins."))
        if not known and name not in facts.declarations and name not in facts.classes:
            return True
    if any(not _STRUCTURAL.isdisjoint(facts.lineage(name)) for name in taken):
        return True
    lineage = {*facts.lineage(type)}
    plain = tuple if "typing.NamedTuple" in lineage else getattr(builtins, type.removeprefix("builtins."), object)
    lineage |= {f"builtins.{base.__name__}" for base in getattr(plain, "__mro__", (object,))}
    if lineage & {"builtins.int", "builtins.float"}:  # checkers take an int for a float, and both for a complex number
        lineage |= {"builtins.float", "builtins.complex"}
    return not lineage.isdisjoint(taken)


def _overload(handler: RegistrationDecl, forward: MethodSource) -> str:
    """The overload of `forward` for a handler: its signature behind the module, with the name that `forward` gives the object."""
    given, _ = _positional(handler.signature.parameters)
    del (given.posonlyargs or given.args)[:1]
    for first in [*given.posonlyargs, *given.args][:1]:
        first.annotation = first.annotation or ast.Name(handler.type.text)
        if (implemented := _first(forward.signature.parameters)) is not None:
            first.arg = implemented.arg
    parameters = ast.unparse(given)
    return f"def forward(self{', ' if parameters else ''}{parameters}) -> {handler.signature.result or 'Any'}: ..."


def _first(parameters: str) -> ast.arg | None:
    """The parameter that takes the first positional argument."""
    given, positional = _positional(parameters)
    return next(iter(positional), given.vararg)


def _positional(parameters: str) -> tuple[ast.arguments, list[ast.arg]]:
    """The parameters of a signature, and the positional ones among them."""
    tree = ast.parse(f"def f({parameters}): ...").body[0]
    assert isinstance(tree, ast.FunctionDef)
    return tree.args, [*tree.args.posonlyargs, *tree.args.args]


def unimported_handler(file: FileDecl, facts: Facts) -> Iterator[Problem]:
    """A handler is in a file that no other file imports.

    In a program that does not import the file, the call runs `forward` or the handler of a base class, with an object that
    it was not written for. Import the file in the `__init__.py`
    of the package, for example.

    The rule reports handlers in modules of a package that no other file of the project imports. It does not report the owner's
    own file, an `__init__.py`, a file that contains `"__main__"`, or a file of tests. An import under `TYPE_CHECKING` counts as
    an import. An import by a computed name is not seen. Without a `pyproject.toml`, nothing says where the project ends, and
    the rule reports nothing.

    Example:

     # shop/__init__.py
    +from . import handlers
     from .encoder import Encoder

     # shop/encoder.py
     from qten_gen import Module


     class Encoder(Module):
         width: int


     # shop/handlers.py
     from .encoder import Encoder


     @Encoder.register(str)
    -                  ^^^
     def encode_text(encoder: Encoder, text: str) -> int:
         return len(text)
    """
    source = file.source
    last = source.module.rpartition(".")[2]
    is_test = last.startswith("test_") or last.endswith("_test") or last == "conftest"
    is_run = "." not in source.module or source.is_package or source.is_program or last == "__main__"
    if source.path not in facts.unimported or is_test or is_run:
        return
    seen = {declaration.qualified for declaration in file.declarations}
    for found in file.registrations:
        if found.owner not in seen:
            seen.add(found.owner)
            name, package = found.owner.rpartition(".")[2], source.module.rpartition(".")[0]
            message = f"nothing imports {source.module}, so its handlers for {name} are not registered"
            yield Problem(message, found.type.place, f"import it where {name} is used, or in {package}")
