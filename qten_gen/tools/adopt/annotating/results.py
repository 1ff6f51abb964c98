"""`def forward(self, x): return F.softmax(x, -1)` → `def forward(self, x) -> Tensor: ...`, where the text proves it.

Every `return` has to be a call that gives a tensor whatever it is given: of a function of torch, or of a layer of torch that
`__init__`, and nothing else, assigns to the attribute. A variable counts if it is assigned once.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import partial

from ..adoption import FoundClass, Proposal
from ..opened import OpenFile, Project
from ..uses import nodes

_FUNCTIONS = frozenset(
    {
        f"torch.nn.functional.{name}"
        for name in "conv1d conv2d conv3d cross_entropy dropout elu embedding gelu glu group_norm interpolate layer_norm "
        "leaky_relu linear log_softmax mse_loss normalize pad relu relu6 rms_norm scaled_dot_product_attention sigmoid silu "
        "softmax softplus tanh".split()
    }
    | {
        f"torch.{name}"
        for name in "arange bmm cat clamp cos cumsum einsum exp eye flatten full gather log matmul ones ones_like outer rand "
        "rand_like randn randn_like relu rsqrt sigmoid sin softmax sqrt stack tanh tril triu zeros zeros_like".split()
    }
)
"""Functions whose result is one tensor, whatever their arguments are."""

_LAYERS = frozenset(
    f"torch.nn.{name}"
    for name in "BatchNorm1d BatchNorm2d BatchNorm3d Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d Dropout Dropout2d "
    "ELU Embedding Flatten GELU GroupNorm Hardswish InstanceNorm2d LayerNorm LeakyReLU Linear PReLU PixelShuffle PixelUnshuffle "
    "RMSNorm ReLU ReLU6 SiLU Sigmoid Softmax Softplus Tanh Unfold Upsample ZeroPad2d".split()
)
"""Layers whose forward returns one tensor."""

_SEQUENTIAL = "torch.nn.Sequential"

_Function = ast.FunctionDef


def proven_result(found: FoundClass, file: OpenFile, project: Project) -> Proposal | None:
    """The result type of the `forward` of a class; None if it has one, or if the text proves none."""
    forward = next((node for node in found.node.body if isinstance(node, _Function) and node.name == "forward"), None)
    if forward is None or forward.returns is not None or forward.decorator_list:
        return None
    layers = _layers(found, file, project)
    local = _assigned_once(forward)
    returns = [node for node in own_nodes(forward) if isinstance(node, ast.Return)]
    if not returns or forward.body[-1] not in returns:
        return None
    if any(isinstance(node, ast.Yield | ast.YieldFrom) for node in own_nodes(forward)):
        return None
    if not all(_is_tensor(node.value, layers, local, file, forward) for node in returns):
        return None
    spelling = file.spell("torch", "Tensor")
    from ..rewriting.class_changes import with_result

    change = partial(with_result, method=forward.name, text=spelling.text)
    return Proposal(found.name, (f"add -> {spelling.text} to forward",), (change,), spelling.needs)


def _is_tensor(
    value: ast.expr | None,
    layers: frozenset[str],
    local: Mapping[str, ast.expr],
    file: OpenFile,
    forward: _Function,
) -> bool:
    """Whether an expression is a tensor whatever the arguments of the method are."""
    if isinstance(value, ast.Name) and value.id in local:
        return _is_tensor(local[value.id], layers, {}, file, forward)
    if not isinstance(value, ast.Call):
        return False
    head = value.func
    owner = forward.args.args[0].arg if forward.args.args else ""
    if isinstance(head, ast.Attribute) and isinstance(head.value, ast.Name) and head.value.id == owner:
        return head.attr in layers
    names = {each.arg for each in (*forward.args.args, *forward.args.kwonlyargs, *forward.args.posonlyargs)}
    root = file.text.of(head).partition(".")[0]
    if root in names or root in local or any(each.arg in ("out", "return_indices") for each in value.keywords):
        return False
    return file.qualified(head) in _FUNCTIONS


def _layers(found: FoundClass, file: OpenFile, project: Project) -> frozenset[str]:
    """The attributes that hold a layer of torch: assigned once, in `__init__`, and by no subclass among the files."""
    assigned: dict[str, list[ast.expr | None]] = {}
    for method in (node for node in found.node.body if isinstance(node, _Function)):
        for name, value in _attributes(method):
            assigned.setdefault(name, []).append(value if method.name == "__init__" else None)
    layers = {
        name
        for name, values in assigned.items()
        if len(values) == 1 and isinstance(values[0], ast.Call) and _makes_layer(values[0], file)
    }
    for heir in project.heirs.get(found.qualified, ()):
        layers -= {name for node in heir.node.body if isinstance(node, _Function) for name, _ in _attributes(node)}
    return frozenset(layers)


def _makes_layer(call: ast.Call, file: OpenFile) -> bool:
    name = file.qualified(call.func)
    if name == _SEQUENTIAL and call.args and isinstance(call.args[-1], ast.Call):
        return _makes_layer(call.args[-1], file)
    return name in _LAYERS


def _attributes(method: _Function) -> Iterator[tuple[str, ast.expr | None]]:
    """The attributes of the object that a method assigns, with the value of a plain assignment."""
    owner = method.args.args[0].arg if method.args.args else ""
    plain: dict[int, ast.expr] = {}
    for node in nodes(method):
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            plain[id(node.targets[0])] = node.value
    for node in nodes(method):
        match node:
            case ast.Attribute(value=ast.Name(id=name), attr=attribute, ctx=ast.Store() | ast.Del()) if name == owner:
                yield attribute, plain.get(id(node))


def _assigned_once(forward: _Function) -> dict[str, ast.expr]:
    """The variables of a method that one plain assignment of its body binds, and nothing else."""
    stores = [node.id for node in nodes(forward) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
    found: dict[str, ast.expr] = {}
    for statement in forward.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if stores.count(name) == 1:
                found[name] = value
    parameters = {each.arg for each in (*forward.args.args, *forward.args.kwonlyargs, *forward.args.posonlyargs)}
    return {name: value for name, value in found.items() if name not in parameters}


def own_nodes(function: _Function) -> Iterator[ast.AST]:
    """The nodes of a function, without those of functions and classes inside it."""
    waiting: list[ast.AST] = list(function.body)
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            waiting += ast.iter_child_nodes(node)
