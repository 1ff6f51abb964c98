"""The JSON schema of what the constructor of a Module takes, for editors and for checks of files with settings."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..model import ConfigDecl, ModuleDecl, TypeExpr
from ..model.dimensions import canonical
from .description import Plain

_PLAIN: dict[str, str] = {
    "builtins.int": "integer",
    "builtins.float": "number",
    "builtins.bool": "boolean",
    "builtins.str": "string",
    "None": "null",
}
_ARRAYS = frozenset({"builtins.list", "builtins.tuple", "collections.abc.Sequence", "typing.Sequence"})
_OBJECTS = frozenset({"builtins.dict", "collections.abc.Mapping", "typing.Mapping"})
_BOUNDS = {ast.Lt: "exclusiveMaximum", ast.LtE: "maximum", ast.Gt: "exclusiveMinimum", ast.GtE: "minimum"}
_MIRRORED = {ast.Lt: ast.Gt, ast.LtE: ast.GtE, ast.Gt: ast.Lt, ast.GtE: ast.LtE}


def config_schema(declaration: ModuleDecl) -> dict[str, Plain]:
    """The schema of the mapping that `from_config` takes: types, defaults, and the ranges that `check(...)` states.

    What JSON cannot say, such as a class, may be anything. A check that is no range stands in the description.
    """
    fields = [field for field in declaration.fields if isinstance(field, ConfigDecl)]
    arguments = {field.name: field.argument for field in fields}
    properties = {field.argument: _of_field(field) for field in fields}
    others: list[str] = []
    for check in declaration.checks:
        for condition in _conjuncts(check.condition.node):
            bound = dict(_bounds(condition))
            if not bound or not bound.keys() <= arguments.keys():
                others.append(canonical(condition))
                continue
            for name, limits in bound.items():
                properties[arguments[name]].update(limits)
    schema: dict[str, Plain] = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"{declaration.module}.{declaration.name}",
        "type": "object",
        "properties": {**properties},
        "required": [field.argument for field in fields if field.default is None],
        # Of an `__init__` written by hand, only its author knows what it takes.
        "additionalProperties": declaration.custom_init,
    }
    told = [declaration.doc, f"Required: {'; '.join(others)}." if others else ""]
    description = "\n\n".join(filter(None, told))
    return {**schema, "description": description} if description else schema


def _of_field(field: ConfigDecl) -> dict[str, Plain]:
    schema = dict(_of_type(field.type))
    literal = None if field.default is None or field.default.factory else field.default.value.literal
    if literal is not None:
        default: Plain = _json(ast.literal_eval(literal))
        schema["default"] = default
    if field.doc:
        schema["description"] = field.doc
    return schema


def _of_type(type: TypeExpr) -> dict[str, Plain]:
    """The schema of the values of a type; empty, which is anything, for one that JSON does not have."""
    if type.name in _PLAIN:
        return {"type": _PLAIN[type.name]}
    members = [arg for arg in type.args if isinstance(arg, TypeExpr)]
    if type.name == "|":
        schemas = [_of_type(member) for member in members]
        return {} if {} in schemas else {"anyOf": [*schemas]}
    if type.name in ("typing.Literal", "typing_extensions.Literal"):
        return _of_literal(type.text)
    if type.name in _ARRAYS:
        return _of_array(type, members)
    if type.name in _OBJECTS:
        values = _of_type(members[1]) if len(members) > 1 else {}
        return {"type": "object", "additionalProperties": values} if values else {"type": "object"}
    return {}


def _of_array(type: TypeExpr, members: list[TypeExpr]) -> dict[str, Plain]:
    """The schema of a list, or of a tuple whose members have types of their own."""
    if type.name == "builtins.tuple" and members and members[-1].name != "...":
        return {
            "type": "array",
            "prefixItems": [_of_type(member) for member in members],
            "minItems": len(members),
            "maxItems": len(members),
        }
    items = _of_type(members[0]) if members else {}
    return {"type": "array", "items": items} if items else {"type": "array"}


def _of_literal(text: str) -> dict[str, Plain]:
    node = ast.parse(text, mode="eval").body
    inside = node.slice if isinstance(node, ast.Subscript) else None
    values = inside.elts if isinstance(inside, ast.Tuple) else [inside]
    if not all(isinstance(value, ast.Constant) for value in values):
        return {}
    return {"enum": [_json(value.value) for value in values if isinstance(value, ast.Constant)]}


def _json(value: object) -> Plain:
    """A literal as JSON has it."""
    if isinstance(value, list | tuple):
        return [_json(item) for item in value]
    if isinstance(value, dict):
        return {str(key): _json(item) for key, item in value.items()}
    return value if isinstance(value, str | int | float | bool | None) else repr(value)


def _conjuncts(node: ast.expr) -> list[ast.expr]:
    """The conditions that have to hold together: `a > 0 and b > 0` are two."""
    if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And):
        return [each for value in node.values for each in _conjuncts(value)]
    return [node]


def _bounds(node: ast.expr) -> Iterator[tuple[str, dict[str, Plain]]]:
    """The limits of an argument, with its name: of `0 < p <= 1`, `dim >= 8` or `dim % 8 == 0`. None if it says anything else."""
    if not isinstance(node, ast.Compare):
        return
    sides = [node.left, *node.comparators]
    names = [side.id for side in sides if isinstance(side, ast.Name)]
    numbers = [_number(side) for side in sides]
    if len(sides) == 2 and isinstance(node.left, ast.BinOp) and isinstance(node.left.op, ast.Mod):
        of, step = node.left.left, _number(node.left.right)
        if isinstance(node.ops[0], ast.Eq) and numbers[1] == 0 and isinstance(of, ast.Name) and step is not None:
            yield of.id, {"multipleOf": step}
        return
    if len(names) != 1 or numbers.count(None) != 1 or not all(type(op) in _BOUNDS for op in node.ops):
        return
    limits: dict[str, Plain] = {}
    position = numbers.index(None)
    for index, op in enumerate(node.ops):
        if index == position:
            limits[_BOUNDS[type(op)]] = numbers[index + 1]
        elif index == position - 1:
            limits[_BOUNDS[_MIRRORED[type(op)]]] = numbers[index]
    yield names[0], limits


def _number(node: ast.expr) -> int | float | None:
    try:
        found = ast.literal_eval(node)
    except ValueError:
        return None
    return found if isinstance(found, int | float) else None
