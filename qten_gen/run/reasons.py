"""Says why outputs are out of date, for `--verbose` and for programs that read the output.

The reason is found by comparing the old text of a generated module with the new one. What a field is in them are the statements
that mention it and no other field. So nothing has to be kept from the last run.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Collection, Iterator, Mapping, Sequence

from ..common.format_number import FORMAT
from ..model import FileDecl
from ..project.apply import Change
from ..project.header import read_header
from ..project.output_names import outputs_of, source_of
from ..project.stale import ProjectState

_MOST = 3
"""How many reasons are told of one file."""


def reasons(changes: Sequence[Change], state: ProjectState, linked: Mapping[str, FileDecl]) -> dict[str, str]:
    """Why each output is out of date, by its path.

    Args:
        changes: The outputs that are not as planned.
        state: The project, with the manifest of the last run.
        linked: The declarations of the planned sources, by path.
    """
    modules = {change.path: change for change in changes if change.path.endswith(".py")}
    found = {}
    for change in changes:
        source = source_of(change.path)
        module = modules.get(outputs_of(source)[0], change)
        found[change.path] = _reason(change, module, source, state, linked.get(source))
    return found


def _reason(change: Change, module: Change, source: str, state: ProjectState, file: FileDecl | None) -> str:
    """Why one output is out of date. `module` is the change of the generated module that it belongs to."""
    if change.new is None:
        return "its source declares nothing" if source in state.files.sources else "its source is gone"
    if change.old is None:
        return "new"
    header = read_header(change.old)
    if header is None:
        return "damaged"
    if not header.intact:
        return "edited by hand"
    if header.format != FORMAT:
        return f"written in format {header.format}, and this version of qten-gen writes {FORMAT}"
    told: list[str] = []
    if module.old is not None and module.new is not None and module.path.endswith(".py"):
        told += _differences(module.old, module.new, _inherited(file, state))
    shown = told[:_MOST] + [f"{len(told) - _MOST} more"] * (len(told) > _MOST)
    return "; ".join(shown) or "a signature, an annotation, documentation or a setting changed"


def _inherited(file: FileDecl | None, state: ProjectState) -> dict[tuple[str, str], str]:
    """Where fields are inherited from that other files declare, by class and field: `Base in shop/base.py`."""
    modules = {origin.module: path for path, origin in state.graph.origins.items()}
    found: dict[tuple[str, str], str] = {}
    for declaration in file.declarations if file is not None else ():
        for field in declaration.fields:
            module, _, name = field.owner.rpartition(".")
            if module != declaration.module and module in modules:
                found[declaration.name, field.name] = f"{name} in {modules[module].replace(os.sep, '/')}"
    return found


def _differences(old: bytes, new: bytes, inherited: Mapping[tuple[str, str], str]) -> Iterator[str]:
    """In what two texts of a generated module differ: classes and fields."""
    before, after = _classes(old), _classes(new)
    for name in [*after, *(name for name in before if name not in after)]:
        shown = name.removeprefix("_").removesuffix("_")
        if name not in before or name not in after:
            yield f"class {shown} {'added' if name in after else 'removed'}"
        elif ast.dump(before[name]) != ast.dump(after[name]):
            fields = [*_field_differences(before[name], after[name])]
            for field, how in fields:
                base = inherited.get((shown, field))
                yield f"field {field} of {shown} {how}{f' with its base {base}' if base else ''}"
            if not fields:
                yield f"class {shown} changed"


def _classes(text: bytes) -> dict[str, ast.ClassDef]:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return {}
    return {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}


def _field_differences(old: ast.ClassDef, new: ast.ClassDef) -> Iterator[tuple[str, str]]:
    """The fields of which something differs, and how: `("mask", "added")`."""
    before, after = _fields(old), _fields(new)
    known = {*before, *after}
    said, says = _said(old, known), _said(new, known)
    for name in [*after, *(name for name in before if name not in after)]:
        if name not in before or name not in after:
            yield name, "added" if name in after else "removed"
        elif said.get(name) != says.get(name):
            yield name, "changed"


_OTHER_ARGUMENTS = {"self", "batch_size", "device", "names", "lock", "dtype"}


def _fields(cls: ast.ClassDef) -> list[str]:
    """The fields of a generated class: arguments of its constructor, and what a Module registers."""
    found: dict[str, None] = {}
    for method in cls.body:
        if isinstance(method, ast.FunctionDef) and method.name in ("__init__", "_fill"):
            found.update((item.arg, None) for item in (*method.args.args, *method.args.kwonlyargs))
            found.update((name, None) for node in ast.walk(method) for name in _stored(node))
        elif isinstance(method, ast.FunctionDef) and method.decorator_list:
            found[method.name] = None
    return [name for name in found if name not in _OTHER_ARGUMENTS and not name.startswith("_")]


def _stored(node: ast.AST) -> Iterator[str]:
    """The attribute that a statement stores or registers."""
    if isinstance(node, ast.Assign | ast.AnnAssign):
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id == "self":
                yield target.attr
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Attribute):
        called = node.value
        named = (item.value for item in called.args if isinstance(item, ast.Constant))
        yield from (name for name in named if isinstance(name, str) and _registers(called))


_TELLING = ("__init__", "reset_parameters")
"""The methods that handle each field on its own. In others, the code for one field depends on the kinds of all."""


def _registers(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.attr.startswith(("new_", "register_"))


def _said(cls: ast.ClassDef, fields: Collection[str]) -> dict[str, list[str]]:
    """What a generated class says of each field: its entries in tables, its arguments, and its statements."""
    found: dict[str, list[str]] = {}
    for statement in cls.body:
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Call):
            for name in _mentioned(statement.targets[0]):
                found.setdefault(name, []).append(ast.dump(statement.value))
        elif isinstance(statement, ast.Assign):
            for name, entry in _entries(statement.value):
                found.setdefault(name, []).append(f"{ast.dump(statement.targets[0])} {entry}")
        elif not isinstance(statement, ast.FunctionDef) or statement.name in {*_TELLING, *fields}:
            for node in ast.walk(statement):
                for name, said in _said_by(node, fields):
                    found.setdefault(name, []).append(said)
    return found


def _entries(table: ast.expr) -> Iterator[tuple[str, str]]:
    """The fields in a table of a generated class, each with what the table says of it."""
    if isinstance(table, ast.Tuple):
        yield from ((str(item.value), "") for item in table.elts if isinstance(item, ast.Constant))
    elif isinstance(table, ast.Dict):
        for key, value in zip(table.keys, table.values, strict=True):
            if isinstance(key, ast.Constant):
                yield str(key.value).partition(".")[0], ast.dump(key) + ast.dump(value)


def _said_by(node: ast.AST, fields: Collection[str]) -> Iterator[tuple[str, str]]:
    """What a piece of code says of fields: arguments, what is stored in a field, and what mentions no other field."""
    if isinstance(node, ast.arguments):
        plain = [*node.posonlyargs, *node.args]
        defaults = [*[None] * (len(plain) - len(node.defaults)), *node.defaults]
        both = [*zip(plain, defaults, strict=True), *zip(node.kwonlyargs, node.kw_defaults, strict=True)]
        for item, default in both:
            yield item.arg, f"{ast.dump(item)} {'' if default is None else ast.dump(default)}"
    elif isinstance(node, ast.Assign | ast.AnnAssign | ast.Expr | ast.If | ast.FunctionDef) and not _is_of_all(node):
        stored = {name for name in _stored(node) if name in fields}
        mentioned = stored or _mentioned(node) & set(fields)
        if len(mentioned) == 1:
            yield mentioned.pop(), ast.dump(node)


def _is_of_all(node: ast.AST) -> bool:
    """Whether code is about all fields, even if there is one: a method of all, and the call that stores them."""
    if isinstance(node, ast.FunctionDef):
        return node.name in _TELLING
    call = node.value if isinstance(node, ast.Expr) else None
    return isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "_fill"


def _mentioned(node: ast.AST) -> set[str]:
    """The names, attributes and strings in a piece of code; a stored field is an attribute with an underscore."""
    found: set[str] = set()
    for part in ast.walk(node):
        if isinstance(part, ast.Name):
            found.add(part.id)
        elif isinstance(part, ast.Attribute):
            found |= {part.attr, part.attr.removeprefix("_")}
        elif isinstance(part, ast.Constant) and isinstance(part.value, str):
            found.add(part.value)
        elif isinstance(part, ast.FunctionDef):
            found.add(part.name)
    return found
