"""Items of different lengths: `Ragged`, values and offsets by hand, torch's jagged layout, and tensordict's lazy stacks.

    python -m benchmarks.ragged [--rounds 20]

A batch has 64 items of up to 20 rows. What a library refuses has no figure. Rows of all columns are equal before they are timed.

By hand, nothing is checked: a wrong shape or length shows later, or never. `Ragged` checks both where an object is made, and has
read the offsets. A lazy stack copies nothing: constructing, indexing and splitting one make lists of what there is.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import torch
from torch import Tensor

from qten_gen import Ragged

from .timing import Row, keep_memory, table, time_statements

ITEMS = 64


@dataclass(slots=True)
class ByHand:
    """What an expert writes: the rows of all items, and where each begins."""

    values: Tensor
    offsets: Tensor

    @classmethod
    def of(cls, items: Sequence[Tensor]) -> ByHand:
        return cls(torch.cat([*items]), torch.tensor([0, *accumulate(item.shape[0] for item in items)]))

    def item(self, at: int) -> Tensor:
        return self.values[self.offsets[at] : self.offsets[at + 1]]

    def slice(self, first: int, stop: int) -> ByHand:
        offsets = self.offsets[first : stop + 1]
        return ByHand(self.values[offsets[0] : offsets[-1]], offsets - offsets[0])

    def select(self, items: Tensor) -> ByHand:
        begins, ends = self.offsets[items], self.offsets[items + 1]
        lengths = ends - begins
        offsets = torch.nn.functional.pad(lengths.cumsum(0), (1, 0))
        rows = torch.repeat_interleave(begins - offsets[:-1], lengths)
        rows += torch.arange(len(rows))
        return ByHand(self.values[rows], offsets)

    @classmethod
    def cat(cls, batches: Sequence[ByHand]) -> ByHand:
        ends = [0, *accumulate(len(batch.values) for batch in batches)]
        offsets = [batch.offsets[1:] + end for batch, end in zip(batches, ends, strict=False)]
        return ByHand(torch.cat([batch.values for batch in batches]), torch.cat([batches[0].offsets[:1], *offsets]))

    def split(self, size: int) -> list[ByHand]:
        return [self.slice(at, min(at + size, len(self.offsets) - 1)) for at in range(0, len(self.offsets) - 1, size)]

    def computed(self) -> ByHand:
        return ByHand(self.values * 2 + 1, self.offsets)

    def padded(self) -> Tensor:
        lengths = self.offsets.diff()
        mask = torch.arange(int(lengths.max())) < lengths.unsqueeze(1)
        out = self.values.new_zeros(*mask.shape, *self.values.shape[1:])
        out[mask] = self.values
        return out

    def summed(self) -> Tensor:
        items = torch.repeat_interleave(torch.arange(len(self.offsets) - 1), self.offsets.diff())
        return self.values.new_zeros(len(self.offsets) - 1, *self.values.shape[1:]).index_add(0, items, self.values)


CALLS = {
    "construct": ("Ragged.of(items)", "ByHand.of(items)", "nested(items)", "lazy_stack(tds)"),
    "x[5]": ("ours[5]", "hand.item(5)", "jagged[5]", "lazy[5]"),
    "x[10:40]": ("ours[10:40]", "hand.slice(10, 40)", "jagged[10:40]", "lazy[10:40]"),
    "x[list]": ("ours[some]", "hand.select(torch.tensor(some))", "jagged[some]", "lazy[some]"),
    "x[mask]": ("ours[mask]", "hand.select(mask.nonzero().squeeze(1))", "jagged[mask]", "lazy[mask]"),
    "cat": ("cat([ours, ours])", "ByHand.cat([hand, hand])", "cat([jagged, jagged])", "cat([lazy, lazy])"),
    "split": ("ours.split(16)", "hand.split(16)", "jagged.split(16)", "lazy.split(16)"),
    "x * 2 + 1": ("ours * 2 + 1", "hand.computed()", "jagged * 2 + 1", "lazy * 2 + 1"),
    "padded": (
        "ours.padded()",
        "hand.padded()",
        "jagged.to_padded_tensor(0.0)",
        "lazy.get('x', as_padded_tensor=True)",
    ),
    "sum of rows": ("ours.reduce('sum')", "hand.summed()", "jagged.sum(1)", "lazy.refused"),
}
"""What is timed, in the order of the columns."""

COLUMNS = ("Ragged", "by hand", "torch.jagged", "tensordict")


def namespace() -> dict[str, Any]:
    """The objects of one batch, and what makes them."""
    torch.manual_seed(0)
    items = [torch.rand(int(torch.randint(0, 20, ())), 4) for _ in range(ITEMS)]
    found: dict[str, Any] = {"Ragged": Ragged, "ByHand": ByHand, "torch": torch, "cat": torch.cat, "items": items}
    found["nested"] = lambda parts: torch.nested.nested_tensor(parts, layout=torch.jagged)
    found["some"] = torch.randperm(ITEMS)[:32].tolist()
    found["mask"] = torch.arange(ITEMS) % 3 > 0
    found |= {"ours": Ragged.of(items), "hand": ByHand.of(items), "jagged": found["nested"](items)}
    try:
        import tensordict
    except ImportError:
        return found
    found["tds"] = [tensordict.TensorDict(x=item, batch_size=[]) for item in items]
    found["lazy_stack"] = tensordict.lazy_stack
    found["lazy"] = tensordict.lazy_stack(found["tds"])
    return found


def works(statement: str, names: dict[str, Any]) -> bool:
    """True if a library does it."""
    try:
        eval(statement, names)
    except Exception:  # each library has its own
        return False
    return True


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=20)
    rounds: int = parser.parse_args().rounds
    keep_memory("benchmarks.ragged")
    torch.set_num_threads(1)
    names = namespace()
    ours, hand = names["ours"], names["hand"]
    assert ours[names["some"]].rows.equal(hand.select(torch.tensor(names["some"])).values)
    assert ours.padded().equal(hand.padded()) and ours.reduce("sum").equal(hand.summed())
    rows = []
    for name, statements in CALLS.items():
        timed = {column: (text, names) for column, text in zip(COLUMNS, statements, strict=True) if works(text, names)}
        rows.append(Row(name, time_statements(timed, rounds)))
    print(table(rows, lambda one, other: f"{one / other:.2f}x", "over"))


if __name__ == "__main__":
    main()
