"""Finds writes through `.data` in a method: `self.weight.data = value`, `self.weight.data[0] = 1`, `self.weight.data.mul_(2)`.

They change a tensor but not its version counter, so a cached virtual tensor does not notice them. The rule `hidden-change`
reports them.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from ..model import DataWrite, NodePath


def data_writes(node: cst.FunctionDef, place: NodePath) -> tuple[DataWrite, ...]:
    """The writes in a function, including nested functions. Its first parameter is the object."""
    parameters = [*node.params.posonly_params, *node.params.params]
    return tuple(_writes(node.body, place / "body", parameters[0].name.value)) if parameters else ()


def _writes(node: cst.CSTNode, place: NodePath, object_name: str) -> Iterator[DataWrite]:
    """The writes at `node` and below it: assignments to `.data` or into it, and calls of its methods that end in `_`."""
    targets: list[tuple[cst.CSTNode, NodePath]] = []
    if isinstance(node, cst.Assign):
        targets = [(t.target, place / "targets" / index / "target") for index, t in enumerate(node.targets)]
    elif isinstance(node, cst.AugAssign | cst.AnnAssign):
        targets = [(node.target, place / "target")]
    elif isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and _changes(node.func.attr.value):
        targets = [(node.func.value, place / "func" / "value")]
    for target, where in targets:
        while isinstance(target, cst.Subscript):
            target, where = target.value, where / "value"
        name = _attribute_with_data(target, object_name)
        if name is not None:
            yield DataWrite(name, where)
    for child, where in _children(node, place):
        yield from _writes(child, where, object_name)


def _changes(method: str) -> bool:
    return method.endswith("_") and not method.endswith("__")


def _attribute_with_data(node: cst.CSTNode, object_name: str) -> str | None:
    """`weight` of `self.weight.data`."""
    match node:
        case cst.Attribute(
            value=cst.Attribute(value=cst.Name(value=owner), attr=cst.Name(value=name)), attr=cst.Name(value="data")
        ) if owner == object_name:
            return name
    return None


def _children(node: cst.CSTNode, place: NodePath) -> Iterator[tuple[cst.CSTNode, NodePath]]:
    for name in node.__dataclass_fields__:
        value = getattr(node, name)
        if isinstance(value, cst.CSTNode):
            yield value, place / name
        elif isinstance(value, list | tuple):
            for index, item in enumerate(value):
                if isinstance(item, cst.CSTNode):
                    yield item, place / name / index
