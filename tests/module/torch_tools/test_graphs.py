"""Tools that make a graph of a module: compile, export, fx, and TorchScript."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from typing import Any, cast

import pytest
import torch
from torch import Tensor, nn
from torch._dynamo.types import GuardFilterEntry
from torch.fx.experimental.proxy_tensor import make_fx
from torch.torch_version import TorchVersion

from qten_gen import Module, buffer, param, virtual

from .pairs import Input, Pair, agree, block, blocks, tower
from .scripted import Linear, PlainLinear

scripting = pytest.mark.filterwarnings("ignore:`torch.jit.*` is:DeprecationWarning")
"""TorchScript works and is deprecated."""


class Counter:
    """A compiler that computes as it is told to, and counts graphs, their nodes, and the guards on each of them."""

    def __init__(self) -> None:
        self.nodes: list[int] = []
        self.guards: list[int] = []

    def compiled(self, module: nn.Module) -> Callable[..., Tensor]:
        torch._dynamo.reset()
        options: dict[str, Any] = {"guard_filter_fn": self._guard}
        return torch.compile(module, fullgraph=True, backend=self._graph, options=options)

    def _graph(self, graph: torch.fx.GraphModule, inputs: Sequence[Tensor]) -> Callable[..., Any]:
        self.nodes.append(len(graph.graph.nodes))
        return graph.forward

    def _guard(self, guards: Sequence[GuardFilterEntry]) -> list[bool]:
        # DUPLICATE_INPUT only says that two instances have one class.
        self.guards.append(sum(guard.guard_type != "DUPLICATE_INPUT" for guard in guards))
        return [True] * len(guards)


def counted(module: nn.Module, input: Input) -> Counter:
    """What one compiled call needs."""
    counter = Counter()
    counter.compiled(module)(input)
    return counter


def test_compiled_code_computes_the_same(pair: Pair) -> None:
    def run(module: nn.Module) -> list[Tensor]:
        out = Counter().compiled(module)(pair.input)
        assert torch.equal(out, module(pair.input))
        out.sum().backward()  # type: ignore[no-untyped-call] # torch gives it no types
        return [out, *(parameter.grad for parameter in module.parameters() if parameter.grad is not None)]

    agree(pair, run)


def test_it_is_one_graph_of_the_same_size(pair: Pair) -> None:
    ours, theirs = (counted(module, pair.input) for module in pair.both)
    assert ours.nodes == theirs.nodes and len(ours.nodes) == 1


@pytest.mark.parametrize("make", [block, tower])
def test_each_instance_needs_no_more_guards_than_a_plain_one(make: Callable[[], Pair]) -> None:
    """A class costs a guard for each property that is read, because a property could be replaced; instances cost none.

    Since 2.14, torch asks of the class of each instance whether it still inherits the names that are read.
    """
    inherited = 6 if TorchVersion(torch.__version__) >= "2.14" else 0

    def growth(modules: Callable[[], nn.Module]) -> int:
        few, many = (nn.Sequential(*(modules() for _ in range(count))) for count in (1, 3))
        x = torch.ones(3, 4)
        return counted(many, x).guards[0] - counted(few, x).guards[0]

    assert growth(lambda: make().declared) <= growth(lambda: make().plain) + inherited


def test_nothing_is_traced_again_for_changed_values(pair: Pair) -> None:
    counter = Counter()
    compiled = counter.compiled(pair.declared)
    for _ in range(3):
        with torch.no_grad():
            for parameter in pair.declared.parameters():
                parameter.mul_(0.9)
        compiled(pair.input)
        pair.declared(pair.input)  # what an eager call keeps must not count either
    assert len(counter.nodes) == 1


@torch.no_grad()
def test_compiled_code_sees_every_change(pair: Pair) -> None:
    def add_one(module: nn.Module, args: object, out: Tensor) -> Tensor:
        return out + 1

    def run(module: nn.Module) -> list[Tensor]:
        compiled = Counter().compiled(module)
        found = [compiled(pair.input)]
        blocks(module)[0].weight = nn.Parameter(torch.ones(4, 4))
        found.append(compiled(pair.input))
        blocks(module)[0].register_forward_hook(add_one)
        torch._dynamo.reset()  # hooks are not guarded, as torch's documentation says
        found.append(compiled(pair.input))
        module.load_state_dict({name: tensor / 2 for name, tensor in module.state_dict().items()})
        return [*found, compiled(pair.input)]

    agree(pair, run)


@pytest.mark.parametrize("strict", [False, True], ids=["not-strict", "strict"])
def test_export_keeps_results_names_and_graph(pair: Pair, strict: bool) -> None:
    programs = [torch.export.export(module, (pair.input,), strict=strict) for module in pair.both]
    agree(pair, lambda module: programs[module is pair.plain].module()(pair.input))
    ours, theirs = (
        [list(p.state_dict), len(p.graph.nodes), sorted(map(str, p.graph_signature.input_specs))] for p in programs
    )
    assert ours == theirs


def exported(module: nn.Module, x: Tensor) -> Callable[..., Tensor]:
    """A program with a dynamic size, saved and loaded."""
    file = io.BytesIO()
    shapes = {"x": {0: torch.export.Dim("rows", min=2)}}
    torch.export.save(torch.export.export(module, (x,), dynamic_shapes=shapes), file)
    file.seek(0)
    return cast(Callable[..., Tensor], torch.export.load(file).module())


def traced(module: nn.Module, x: Tensor) -> Callable[..., Tensor]:
    found = torch.fx.symbolic_trace(module)
    assert dict(found.named_parameters()).keys() == dict(module.named_parameters()).keys()
    return found


GRAPHS: dict[str, Callable[[nn.Module, Tensor], Callable[..., Tensor]]] = {
    "export": exported,
    "fx": traced,
    "make_fx": lambda module, x: cast(Callable[..., Tensor], make_fx(module)(x)),
    "TorchScript": lambda module, x: cast(Callable[..., Tensor], torch.jit.trace(module, (x,))),  # type: ignore[no-untyped-call]
}


@scripting
@pytest.mark.parametrize("name", GRAPHS)
def test_a_graph_computes_what_the_module_computes_of_as_many_rows_and_of_others(tensor_pair: Pair, name: str) -> None:
    assert isinstance(tensor_pair.input, Tensor)
    x = tensor_pair.input

    def run(module: nn.Module) -> list[Tensor]:
        graph = GRAPHS[name](module, x)
        return [graph(x), graph(torch.ones(7, 4))]

    agree(tensor_pair, run)


@scripting
def test_it_is_scripted_saved_and_loaded() -> None:
    def run(module: nn.Module) -> list[Tensor]:
        script, file = torch.jit.script(module), io.BytesIO()
        torch.jit.save(script, file)
        file.seek(0)
        return [script(torch.ones(2, 4)), torch.jit.load(file)(torch.ones(2, 4))]  # type: ignore[no-untyped-call] # torch gives it no types

    agree(Pair(Linear(3, 4), PlainLinear(3, 4), torch.ones(2, 4)), run)


class Gated(Module):
    dim: int
    weight: nn.Parameter = param("dim", "dim", initializer=nn.init.ones_)
    scale: Tensor = buffer("dim", initializer=nn.init.ones_)

    @virtual
    def gate(self, dtype: torch.dtype, device: torch.device) -> Tensor:
        return self.weight.softmax(0)

    @virtual
    def kept(self, dtype: torch.dtype, device: torch.device) -> Tensor:
        return self.weight.softmax(1)

    def forward(self, x: Tensor) -> Tensor:
        return x @ self.weight.tanh() * self.scale.exp() + (self.gate + self.kept).sum()


def test_a_traced_graph_computes_with_the_parameters_that_the_module_has_later() -> None:
    module = Gated(2)
    assert module.kept.shape == (2, 2)  # which is kept, but not for the graph
    graph = torch.fx.symbolic_trace(nn.Sequential(module))
    with torch.no_grad():
        module.weight.mul_(3)
    x = torch.rand(3, 2)
    assert torch.equal(graph(x), module(x))
    graph(x).sum().backward()
    assert module.weight.grad is not None
