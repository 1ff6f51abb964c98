"""The operations that are compared, one table: what is written for an object, and for a dataclass that goes through pytree."""

from __future__ import annotations

from dataclasses import dataclass

from .columns import Column
from .layouts import Layout

IMPORTS = {
    "torch": "import torch",
    "tree": "from torch.utils._pytree import tree_flatten, tree_leaves, tree_map, tree_unflatten",
    "pickle": "from pickle import dumps, loads",
}


@dataclass(frozen=True, slots=True)
class Operation:
    """One row of the table.

    `FIELDS` in a statement stands for the names of all fields, `FIRST` for the first of them.
    """

    group: str
    name: str
    statement: str
    """What a user writes for an object."""
    tree: str = ""
    """The same for a dataclass through pytree; empty where that has no such thing."""
    elsewhere: str = ""
    """What a user writes for an object of the other columns, which have no such method."""
    changes: str = ""
    """The object that the statement changes; empty where it is an expression."""
    compared: bool = True
    """Whether the results of all columns have to be equal; texts and dicts of classes are not."""
    large: bool = False
    """Whether it works on every number, so that it is compared on large tensors as well."""
    limit: float = 1.25
    """How many times as long as by hand it may take."""

    def text(self, layout: Layout, column: Column) -> str:
        """The statement for the fields of a layout."""
        own = self.statement if column.is_generated or not self.elsewhere else self.elsewhere
        text = self.tree if column.is_tree else own
        return text.replace("FIELDS", ", ".join(layout.fields)).replace("FIRST", layout.fields[0])


def _each(expression: str, *objects: str) -> str:
    """`tree_map` with an expression of one leaf, `t`, or of one leaf of each object."""
    leaves = "t" if len(objects) == 1 else "*t"
    return f"tree_map(lambda {leaves}: {expression}, {', '.join(objects)})"


VMAP = "torch.vmap(lambda t: t + 1)(a)"

OPERATIONS = (
    Operation("construct", "construct", "C(FIELDS, batch_size=size)", "C(FIELDS)"),
    Operation(
        "construct",
        "construct, refused",
        "try:\n    C(FIELDS, batch_size=bad)\nexcept (ValueError, RuntimeError):\n    pass",
        compared=False,
    ),
    Operation("attribute", "attribute get", "a.FIRST", "a.FIRST"),
    Operation("attribute", "attribute set", "a.FIRST = value", changes="a"),
    Operation("attribute", "batch_size get", "a.batch_size"),
    Operation("attribute", "len", "len(a)"),
    Operation("index", "index int", "a[1]", _each("t[1]", "a")),
    Operation("index", "index slice", "a[1:3]", _each("t[1:3]", "a")),
    Operation("index", "index mask", "a[mask]", _each("t[mask]", "a"), large=True),
    Operation("index", "index long tensor", "a[rows]", _each("t[rows]", "a"), large=True),
    Operation("index", "index tuple", "square[1, 0:1]", _each("t[1, 0:1]", "square")),
    Operation("set item", "set item int", "a[1] = row", changes="a"),
    Operation("set item", "set item slice", "a[1:3] = pair", changes="a"),
    Operation(
        "stack, cat",
        "torch.stack",
        "torch.stack([a, b, a, b])",
        _each("torch.stack(t)", "a", "b", "a", "b"),
        large=True,
    ),
    Operation("stack, cat", "stack", "C.stack([a, b, a, b])", _each("torch.stack(t)", "a", "b", "a", "b")),
    Operation(
        "stack, cat", "torch.cat", "torch.cat([a, b, a, b])", _each("torch.cat(t)", "a", "b", "a", "b"), large=True
    ),
    Operation("stack, cat", "cat", "C.cat([a, b, a, b])", _each("torch.cat(t)", "a", "b", "a", "b")),
    Operation("clone, detach, to", "clone", "a.clone()", _each("t.clone()", "a"), large=True),
    Operation("clone, detach, to", "detach", "a.detach()", _each("t.detach()", "a")),
    Operation("clone, detach, to", "to(dtype)", "a.to(torch.float64)", _each("t.to(torch.float64)", "a"), large=True),
    Operation("clone, detach, to", "to(device)", "a.to('cpu')", _each("t.to('cpu')", "a")),
    Operation("clone, detach, to", "to(device), already there", "placed.to('cpu')", _each("t.to('cpu')", "placed")),
    Operation("shape", "reshape", "a.reshape(side, side)", _each("t.reshape(side, side, *t.shape[1:])", "a")),
    Operation("shape", "view", "a.view(side, side)", _each("t.view(side, side, *t.shape[1:])", "a")),
    Operation("shape", "permute", "square.permute(1, 0)", _each("t.permute(1, 0, 2)", "square")),
    Operation("shape", "unsqueeze", "a.unsqueeze(0)", _each("t.unsqueeze(0)", "a")),
    Operation("shape", "squeeze", "thin.squeeze(1)", _each("t.squeeze(1)", "thin")),
    Operation("split", "split", "a.split(2)", "taken_apart(lambda t: t.split(2), a)"),
    Operation("split", "chunk", "a.chunk(2)", "taken_apart(lambda t: t.chunk(2), a)"),
    Operation("split", "unbind", "a.unbind(0)", "taken_apart(lambda t: t.unbind(0), a)"),
    Operation("split", "iterate", "list(a)", "taken_apart(lambda t: t.unbind(0), a)"),
    Operation("values", "apply", "a.apply(torch.neg)", "tree_map(torch.neg, a)", large=True),
    Operation("values", "==", "a == b", _each("t[0] == t[1]", "a", "b"), large=True),
    Operation("values", "+", "a + b", _each("t[0] + t[1]", "a", "b"), large=True),
    Operation("values", "sum", "torch.sum(a, 0)", _each("t.sum(0)", "a"), "a.sum(0)", large=True),
    Operation("values", "mean", "torch.mean(a, 0)", _each("t.mean(0)", "a"), "a.mean(0)", large=True),
    Operation(
        "values",
        "gather",
        "a.gather(0, rows)",
        _each("t.gather(0, rows[:, None].expand(-1, t.shape[1]))", "a"),
        large=True,
    ),
    Operation("values", "zeros_like", "torch.zeros_like(a)", "tree_map(torch.zeros_like, a)", large=True),
    Operation("values", "ones_like", "torch.ones_like(a)", "tree_map(torch.ones_like, a)", large=True),
    Operation("gradients", "requires_grad", "a.requires_grad", "any(t.requires_grad for t in tree_leaves(a))"),
    Operation("gradients", "requires_grad_", "a.requires_grad_()", _each("t.requires_grad_()", "a"), compared=False),
    Operation("tools", "pickle and back", "loads(dumps(a, 5))", "loads(dumps(a, 5))", large=True),
    Operation("tools", "tree_flatten", "tree_flatten(a)", "tree_flatten(a)", compared=False),
    Operation("tools", "tree_unflatten", "tree_unflatten(leaves, spec)", "tree_unflatten(leaves, spec)"),
    Operation("tools", "torch.vmap", VMAP, f"torch.vmap(lambda a: {_each('t + 1', 'a')})(a)"),
    Operation(
        "tools", "vmap", "a.vmap(lambda t: t + 1)", f"torch.vmap(lambda a: {_each('t + 1', 'a')})(a)", VMAP, limit=1.0
    ),
    Operation("tools", "to_dict", "a.to_dict()", compared=False),
    Operation("tools", "state_dict", "a.state_dict()", compared=False),
    Operation("tools", "load_state_dict", "a.load_state_dict(state)", changes="a"),
    Operation("tools", "repr", "repr(a)", "repr(a)", compared=False),
)
