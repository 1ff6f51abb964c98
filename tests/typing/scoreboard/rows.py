"""The rows: an expression and its type, or a mistake, as it is written with each library."""

from __future__ import annotations

from dataclasses import dataclass, field

OURS = "declared"
"""Our column."""

PEERS = ("nn.Module", "tensordict", "TypedTensorDict", "jaxtyping")


@dataclass(frozen=True)
class Row:
    """An expression. `type` is its type, as text; empty where the line is a mistake, which a checker has to report."""

    subject: str
    code: str
    type: str = ""
    peers: dict[str, str] = field(default_factory=dict)
    """The same with each peer that has it; its type is `peer_type`, or that of ours."""
    peer_type: dict[str, str] = field(default_factory=dict)
    quiet: str = ""
    """Of a mistake that does not raise when it runs: what it does instead."""


def _td(code: str) -> dict[str, str]:
    return {"tensordict": code}


def _nn(code: str) -> dict[str, str]:
    return {"nn.Module": code}


_BATCH, _POINT = {"tensordict": "TdBatch"}, {"tensordict": "TdPoint"}
"""The types of tensordict's objects."""


ROWS = (
    # Objects
    Row(
        "construct",
        "Batch(x, point, batch_size=2)",
        "Batch",
        _td("TdBatch(x, td_point, batch_size=[2])"),
        {"tensordict": "TdBatch"},
    ),
    Row("read a field", "batch.tokens", "Tensor", {"tensordict": "td.tokens", "jaxtyping": "jx.tokens"}),
    Row("read an optional field", "batch.mask", "Tensor | None", {"tensordict": "td.mask", "jaxtyping": "jx.mask"}),
    Row("read a static field", "batch.source", "str", {"tensordict": "td.source", "jaxtyping": "jx.source"}),
    Row("read a nested field", "batch.point.weight", "Tensor", _td("td.point.weight")),
    Row("nested object", "batch.point", "Point", _td("td.point"), _POINT),
    Row("batch size", "batch.batch_size", "torch.Size", _td("td.batch_size")),
    Row("device", "batch.device", "torch.device | None", _td("td.device")),
    Row("index", "batch[0]", "Batch", _td("td[0]"), _BATCH),
    Row("mask", "batch[torch.tensor([True, False])]", "Batch", _td("td[torch.tensor([True, False])]"), _BATCH),
    Row("iterate", "next(iter(batch))", "Batch", _td("next(iter(td))"), _BATCH),
    Row("length", "len(batch)", "int", _td("len(td)")),
    Row("move", 'batch.to("cpu")', "Batch", _td('td.to("cpu")'), _BATCH),
    Row("clone", "batch.clone()", "Batch", _td("td.clone()"), _BATCH),
    Row("apply", "batch.apply(torch.neg)", "Batch", _td("td.apply(torch.neg)"), _BATCH),
    Row("reshape", "batch.reshape(2, 1)", "Batch", _td("td.reshape(2, 1)"), _BATCH),
    Row("split", "batch.split(1)", "tuple[Batch, ...]", _td("td.split(1)"), {"tensordict": "tuple[TdBatch, ...]"}),
    Row("unbind", "batch.unbind(0)", "tuple[Batch, ...]", _td("td.unbind(0)"), {"tensordict": "tuple[TdBatch, ...]"}),
    Row("stack", "Batch.stack([batch, batch])", "Batch", _td("TdBatch.stack([td, td])"), _BATCH),
    Row("add a number", "batch.point + 1", "Point", _td("td.point + 1"), _POINT),
    Row("add objects", "batch.point + batch.point", "Point", _td("td.point + td.point"), _POINT),
    Row("replace", "batch.replace(tokens=x)", "Batch", _td("td.replace(tokens=x)"), _BATCH),
    Row("a property of the class", "batch.lengths", "Tensor"),
    Row("get a field", 'batch.get("tokens")', "Tensor", _td('td.get("tokens")')),
    Row("get a static field", 'batch.get("source")', "str", _td('td.get("source")')),
    Row("get an optional field", 'batch.get("mask")', "Tensor | None", _td('td.get("mask")')),
    Row(
        "get a nested field",
        'batch.get(("point", "weight"))',
        "Tensor",
        _td('td.get(("point", "weight"))'),
    ),
    Row("set", 'batch.set("tokens", x)', "Batch", _td('td.set("tokens", x)'), _BATCH),
    Row(
        "to a dict",
        'batch.to_dict()["point"]["weight"]',
        "Tensor",
        _td('td.to_dict()["point"]["weight"]'),
    ),
    # Mistakes with objects
    Row("misspelt field", "batch.tokns", peers={"tensordict": "td.tokns", "jaxtyping": "jx.tokns"}),
    Row("misspelt nested field", "batch.point.wieght", peers=_td("td.point.wieght")),
    Row("misspelt method", "batch.squeze()", peers=_td("td.squeze()")),
    Row("missing argument", "Batch(x)", peers=_td("TdBatch(x)")),
    Row(
        "argument of another type",
        'Batch("text", point, batch_size=2)',
        peers={"tensordict": 'TdBatch("text", td_point, batch_size=[2])', "jaxtyping": 'Jx("text")'},
    ),
    Row(
        "unknown argument",
        "Batch(x, point, maks=x, batch_size=2)",
        peers=_td("TdBatch(x, td_point, maks=x, batch_size=[2])"),
    ),
    Row(
        "batch size of another type",
        'Batch(x, point, batch_size="two")',
        peers=_td('TdBatch(x, td_point, batch_size="two")'),
    ),
    Row("assign another type", "batch.point = x", peers=_td("td.point = x")),
    Row("assign a misspelt field", "batch.tokns = x", peers=_td("td.tokns = x")),
    Row("assign the device", 'batch.device = "cpu"', peers=_td('td.device = "cpu"')),
    Row("get an unknown key", 'batch.get("tokns")', peers=_td('td.get("tokns")')),
    Row("set an unknown key", 'batch.set("tokns", x)', peers=_td('td.set("tokns", x)')),
    Row("set another type", 'batch.set("tokens", "text")', peers=_td('td.set("tokens", "text")')),
    Row("update an unknown key", 'batch.update({"tokns": x})', peers=_td('td.update({"tokns": x})')),
    Row("select an unknown key", 'batch.select("tokns")', peers=_td('td.select("tokns")')),
    Row("replace an unknown field", "batch.replace(tokns=x)", peers=_td("td.replace(tokns=x)")),
    Row("index with a string", 'batch["tokens"]', peers=_td('td["tokens"]')),
    Row("add a string", 'batch + "text"', peers=_td('td + "text"')),
    Row("stack another class", "Batch.stack([batch, point])", peers=_td("TdBatch.stack([td, td_point])")),
    # Modules
    Row("construct a module", "Attention(4, heads=2)", "Attention", _nn("Plain(4, heads=2)"), {"nn.Module": "Plain"}),
    Row("a parameter", "attention.qkv", "nn.Parameter", _nn("plain.qkv")),
    Row("a buffer", "attention.scale", "Tensor", _nn("plain.scale")),
    Row("compute with a buffer", "attention.scale + 1", "Tensor", _nn("plain.scale + 1")),
    Row("a submodule", "attention.norm", "nn.LayerNorm", _nn("plain.norm")),
    Row("a number of the config", "attention.heads", "int", _nn("plain.heads")),
    Row("a derived tensor", "attention.causal", "Tensor"),
    Row("call", "attention(rows)", "Tensor", _nn("plain(rows)")),
    Row(
        "compile and call",
        'torch.compile(attention, backend="eager")(rows)',
        "Tensor",
        _nn('torch.compile(plain, backend="eager")(rows)'),
    ),
    Row("move a module", 'attention.to("cpu")', "Attention", _nn('plain.to("cpu")'), {"nn.Module": "Plain"}),
    Row(
        "a tensor of the state dict",
        'attention.state_dict()["qkv"]',
        "Tensor",
        _nn('plain.state_dict()["qkv"]'),
    ),
    Row("a parameter by name", 'attention.get_parameter("qkv")', "nn.Parameter", _nn('plain.get_parameter("qkv")')),
    Row(
        "a submodule by name",
        'attention.get_submodule("norm")',
        "nn.LayerNorm",
        _nn('plain.get_submodule("norm")'),
    ),
    Row("dispatch on an object", "attention(batch)", "Tensor"),
    # Mistakes with modules
    Row("misspelt parameter", "attention.qvk", peers=_nn("plain.qvk")),
    Row("misspelt parameter of a child", "attention.norm.wieght", peers=_nn("plain.norm.wieght")),
    Row("call without an argument", "attention()", peers=_nn("plain()")),
    Row("call with too much", "attention(rows, rows, rows)", peers=_nn("plain(rows, rows, rows)")),
    Row("call with another type", 'attention("text")', peers=_nn('plain("text")')),
    Row("missing config", "Attention()", peers=_nn("Plain()")),
    Row("config of another type", 'Attention("four")', peers=_nn('Plain("four")')),
    Row("unknown config", "Attention(4, head=2)", peers=_nn("Plain(4, head=2)")),
    Row(
        "assign a tensor that nothing registers",
        "attention.extra = x",
        peers=_nn("plain.extra = x"),
        quiet="nothing moves or saves it",
    ),
    Row("assign a tensor to a parameter", "attention.qkv = x", peers=_nn("plain.qkv = x")),
    Row("get an unknown buffer", 'attention.get_buffer("scael")', peers=_nn('plain.get_buffer("scael")')),
    Row(
        "get an unknown submodule",
        'attention.get_submodule("nrom")',
        peers=_nn('plain.get_submodule("nrom")'),
    ),
)
