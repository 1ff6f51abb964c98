"""Finds the parameter at the path of a tie, such as `"embed.weight"`, in the declarations of the run."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ..common.suggestions import did_you_mean
from ..model import (
    Argument,
    ConfigDecl,
    Declaration,
    Dim,
    ModuleDecl,
    ParameterDecl,
    SubmoduleDecl,
    Value,
    dim_names,
    language,
)
from ..model.derivations import underived
from ..model.dimensions import substituted
from ..model.field_kinds import child_class
from ..model.torch_layers import tensors_in

_PRIMES = (7919, 104729, 1299709, 15485863, 32452843, 49979687, 67867967, 86028121)


class Problem(NamedTuple):
    """The problem with a path, and how to fix it."""

    message: str
    help: str


class Target(NamedTuple):
    """The parameter at the end of a path."""

    dims: tuple[Dim | None, ...]
    """Its sizes, over the config fields of the class where the path starts; None for an unknown size."""
    when: Dim | None
    """The condition under which the parameter exists."""


def follow(declaration: ModuleDecl, path: Sequence[str], known: Mapping[str, Declaration]) -> Target | Problem | None:
    """The parameter at the path, or what is wrong with the path; None if the path leads into an unknown class."""
    fields = {field.name: field for field in declaration.fields}
    head, *rest = path
    match fields.get(head):
        case ParameterDecl(is_several=True):
            return Problem(f"{head} contains several parameters", "name a single parameter")
        case ParameterDecl(dims=(), value=Value()) if not rest:
            return None
        case ParameterDecl(dims=dims, when=when, tie=None) if not rest:
            return Target(tuple(underived(dim, declaration.fields) for dim in dims), when)
        case ParameterDecl(tie=str(tie)) if not rest:
            return follow(declaration, tie.split("."), known)
        case SubmoduleDecl() as child if rest:
            return _inside(child, rest, known)
        case None if declaration.custom_init:
            return None
        case None:
            help = did_you_mean(head, fields, "name a parameter, or a submodule and its parameter")
            return Problem(f"{declaration.name} has no {head}", help)
    return Problem(f"{'.'.join(path)} is not a parameter of {declaration.name}", "name a parameter, as in embed.weight")


def different(declared: tuple[Dim, ...], found: tuple[Dim | None, ...]) -> bool:
    """Whether two shapes certainly differ. `2*dim` and `dim + dim` are equal: both are evaluated with primes for the names.

    Sizes with more than integer arithmetic in them are not compared.
    """
    if len(declared) != len(found):
        return True
    names = sorted(frozenset[str]().union(*(dim_names(dim) for dim in (*declared, *found) if dim is not None)))
    sizes = dict(zip(names, _PRIMES, strict=False))
    if len(names) > len(sizes):
        return False
    values = (
        (_size(a.node, sizes), None if b is None else _size(b.node, sizes))
        for a, b in zip(declared, found, strict=True)
    )
    return any(a is not None and b is not None and a != b for a, b in values)


def _inside(child: SubmoduleDecl, path: Sequence[str], known: Mapping[str, Declaration]) -> Target | Problem | None:
    """The parameter at the rest of a path, below a child or a container of children."""
    if child.inner is not None or child.made == language.CHAIN:
        return None
    if child.repeat is not None or child.keys is not None:
        step, *path = path
        if not _names_child(child, step) or not path:
            return Problem(f"{child.name} contains several modules, and {step} is not one of them", _example(child))
    inner = known.get(child_class(child.type).name)
    if not isinstance(inner, ModuleDecl):
        return _inside_layer(child.made, path)
    target = follow(inner, path, known)
    if not isinstance(target, Target):
        return target
    given = _given(child, inner)
    return Target(tuple(None if dim is None else substituted(dim, given.get) for dim in target.dims), None)


def _inside_layer(made: str, path: Sequence[str]) -> Problem | None:
    """The problem with the rest of a path below a layer of torch; None below any other class."""
    tensors = tensors_in(made)
    if tensors is None or (len(path) == 1 and path[0] in tensors[0]):
        return None
    parameters = ", ".join(tensors[0])
    advice = f"its parameters are {parameters}" if parameters else "it has no parameters"
    return Problem(f"{made} has no parameter {'.'.join(path)}", did_you_mean(path[0], tensors[0], advice))


def _names_child(child: SubmoduleDecl, step: str) -> bool:
    if child.repeat is not None:
        return step.isdecimal() and not (child.repeat.number is not None and int(step) >= child.repeat.number)
    return not isinstance(child.keys, tuple) or step in child.keys


def _example(child: SubmoduleDecl) -> str:
    step = (
        "0" if child.repeat is not None else child.keys[0] if isinstance(child.keys, tuple) and child.keys else "name"
    )
    return f"write {child.name}.{step}.weight, or another parameter"


def _given(child: SubmoduleDecl, inner: ModuleDecl) -> dict[str, Dim]:
    """The dimensions that the specifier of a child, or a default, gives to the config fields of the child."""
    config = [field for field in inner.fields if isinstance(field, ConfigDecl)]
    positional = iter([field.name for field in config if not field.kw_only])
    names = {field.argument: field.name for field in config}
    given: dict[str, Dim] = {}
    for field in config:
        number = None if field.default is None or field.default.factory else field.default.value.literal
        if number is not None and number.isdecimal():
            given[field.name] = Dim(str(int(number)))
    for argument in child.arguments:
        name = next(positional, "") if argument.keyword is None else names.get(argument.keyword, "")
        given.pop(name, None)
        dim = _dim(argument)
        if dim is not None:
            given[name] = dim
    return given


def _dim(argument: Argument) -> Dim | None:
    if isinstance(argument.value, Value):
        number = argument.value.literal or ""
        return Dim(str(int(number))) if number.isdecimal() else None
    return argument.value if isinstance(argument.value, Dim) else None


def _size(dim: ast.expr, sizes: Mapping[str, int]) -> int | None:
    """The value of integer arithmetic for these sizes, None for anything else; a division by zero counts as 0."""
    match dim:
        case ast.Constant(value=int(value)):
            return value
        case ast.Name(id=name):
            return sizes[name]
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            inner = _size(operand, sizes)
            return None if inner is None else -inner
        case ast.BinOp(op=ast.Add() | ast.Sub() | ast.Mult() | ast.FloorDiv() as operator, left=left, right=right):
            a, b = _size(left, sizes), _size(right, sizes)
            if a is None or b is None:
                return None
            if isinstance(operator, ast.FloorDiv):
                return a // b if b else 0
            return a + b if isinstance(operator, ast.Add) else a - b if isinstance(operator, ast.Sub) else a * b
    return None
