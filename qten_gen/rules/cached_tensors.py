"""The rule about cached virtual tensors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..model import ConfigDecl, DerivedDecl, ModuleDecl, VirtualDecl, declares
from .rule_input import Problem, RuleContext

_FOLLOWED = frozenset({"training", "dtype", "device"})
"""A cached value is computed again when one of these changes."""


def uncacheable_tensor(declaration: ModuleDecl, context: RuleContext) -> Iterator[Problem]:
    """A cached virtual tensor reads what can change unnoticed.

    A cached value is computed again when a config field or a derived value changes that its method reads, also in methods of the
    class that it calls. Nothing shows that a parameter, a buffer or a child has changed, or what a function reads that gets the
    whole module: the value would never be kept.

    Example:

     import torch
     from qten_gen import Module, buffer, virtual
     from torch import Tensor, nn


     class Decay(Module):
         size: int
         rate: Tensor = buffer("size", initializer=nn.init.ones_)

    -    @virtual(cached=True)
    +    @virtual
         def factor(self, dtype: torch.dtype, device: torch.device) -> Tensor:
    -        ^^^^^^
             return torch.exp(-self.rate)
    """
    cached = [field for field in declaration.fields if isinstance(field, VirtualDecl) and field.cached]
    if not cached:
        return
    lineage = [*reversed(context.facts.ancestors(declaration)), declaration]
    reads = {method.name: method.reads for each in lineage for method in each.methods}
    reads |= {field.name: field.reads for field in declaration.fields if isinstance(field, VirtualDecl)}
    seen = {*_FOLLOWED, *reads, *(name for each in lineage if isinstance(each, ModuleDecl) for name in each.bound)}
    names = {field.name for field in declaration.fields}
    seen -= names
    seen |= {field.name for field in declaration.fields if isinstance(field, ConfigDecl | DerivedDecl | VirtualDecl)}
    for field in cached:
        called = _called(field.name, reads)
        mentioned = dict.fromkeys(name for method in called for name in reads[method])
        # A constructor that is written by hand may assign any other value; when the module runs, its value counts.
        unknown = {"", *names} if declaration.custom_init else {*mentioned}
        found = [name for name in mentioned if name not in seen and name in unknown]
        own = [
            method for method in declaration.methods if method.name in called and not {*found}.isdisjoint(method.reads)
        ]
        if found and (declares(declaration, field) or own):
            whole = f"passes {'the module' if found == [''] else 'it'} on as a whole"
            named = [name for name in found if name]
            reads_any = f"reads {' and '.join(named)}" if named else ""
            does = " and ".join(filter(None, (reads_any, whole if "" in found else "")))
            place = field.place if declares(declaration, field) else own[0].place
            yield Problem(
                f"{field.name} is cached, and {does}, which can change unnoticed",
                place / "name",
                "leave cached out, or derive it from config fields and derived values, in methods of the class",
            )


def _called(name: str, reads: Mapping[str, tuple[str, ...]]) -> list[str]:
    """The methods and virtual tensors of the class that a virtual tensor uses, itself first."""
    found = [name]
    for method in found:
        found += [read for read in dict.fromkeys(reads[method]) if read in reads and read not in found]
    return found
