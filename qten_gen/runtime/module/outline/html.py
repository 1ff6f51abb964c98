"""How a notebook shows a module: a tree of what is in it. Equal layers are one line, as in `qten-gen inspect`."""

from __future__ import annotations

from collections.abc import Hashable, Iterator

from torch import nn

from ...showing.fragment import Folded as Unfolding
from ...showing.fragment import Room, Row, fragment, heading, lines, table
from ...showing.numbers import count, memory, of_noun
from ...showing.values import text_of
from .folding import Folded, fold, is_list_of_one
from .labels import module_label, tensor_note, tensor_sizes
from .model_tree import ModuleEntry, TensorEntry
from .walking import contents_of

_COLUMNS = ("tensor", "shape", "dtype", "device", "parameters", "memory")

Node = Folded[Hashable]


def as_html(module: nn.Module) -> str:
    """A module as HTML. It says what is there, and reads no tensor's values.

    Raises:
        RecursionError: modules nest deeper than Python's stack.
    """
    entry = contents_of(module)
    tree: Node = fold(entry, {}, hash)

    def parts(room: Room) -> Iterator[str]:
        yield heading(f"{entry.kind}({_arguments(module)})", _facts(entry, module))
        yield from _inside(tree, module, room)

    return fragment(parts)


def _facts(entry: ModuleEntry, module: nn.Module) -> list[str]:
    """Facts about a module as a whole."""
    tensors = [*entry.all_tensors()]
    found = [of_noun(entry.parameters, "parameter"), memory(entry.bytes)]
    for kinds in ({one.dtype for one in tensors}, {one.device for one in tensors}):
        if kinds:
            found.append(" and ".join(sorted(kinds)) if len(kinds) < 4 else f"{len(kinds)} kinds")
    return found if module.training else [*found, "in evaluation mode"]


def _inside(node: Node, root: nn.Module, room: Room) -> Iterator[str]:
    """The tensors of a module, then its children."""
    tensors, children = node.entry.tensors, node.children
    if tensors:
        yield from table(_COLUMNS, map(_tensor, tensors), len(tensors), room)
    if children:
        yield from lines((_line(child, root) for child in children), len(children), room)


def _tensor(held: TensorEntry) -> Row:
    parameters = (
        count(held.elements) if held.kind == "parameter" and held.tied_to is None and held.is_initialised else ""
    )
    size = memory(held.bytes) if held.bytes or not (held.tied_to or held.shares_with) else ""
    if not held.is_initialised:
        size = ""
    return Row(held.name, tensor_note(held), (tensor_sizes(held), held.dtype, held.device, parameters, size))


def _line(node: Node, root: nn.Module) -> Row | Unfolding:
    """A module as a line; one that only lists equal layers is one line with them."""
    label = module_label(node)[0]
    if is_list_of_one(node):
        node = node.children[0]
        label = f"{label}.{node.label}"
    kind = module_label(node)[1]
    if node.count == 1 and node.entry.same_as is None:
        kind = f"{kind}({_arguments(root.get_submodule(node.entry.path))})"
    held = f", {of_noun(node.parameters, 'parameter')}" if node.parameters else ""
    note = f"{kind}{held}{f', {memory(node.bytes)}' if node.bytes else ''}"
    if not node.entry.tensors and not node.children:
        return Row(label, note, ())
    return Unfolding(label, note, lambda room: _inside(node, root, room))


def _arguments(module: nn.Module) -> str:
    """A module's own part of its `repr`: most often the arguments of its constructor."""
    return text_of(module.extra_repr)
