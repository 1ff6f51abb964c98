"""An inspection as a JSON document, for other programs. docs/inspect.md describes it."""

from __future__ import annotations

import json

from ..inspection import Inspection
from ..memory import Memory
from ..model_tree import ModuleEntry, TensorEntry
from ..plans import Plan
from ..runs import Call, Finding, Other, Run, Shape, Structure, TensorShape
from ..totals import Amount, Sharding, Totals

VERSION = 1
"""Version of the document's format. It is raised when a key is removed or changes its meaning, but not for a new key."""


def as_json(found: Inspection) -> str:
    """The document. Sizes are in bytes, and nothing is folded."""
    document = {
        "version": VERSION,
        "target": found.target,
        "class": found.tree.kind,
        "modules": [_module(entry) for entry in found.tree.all_modules()],
        "tensors": [_tensor(entry) for entry in found.tree.all_tensors()],
        "totals": _totals(found.totals),
        "memory": _memory(found.memory),
        "sharding": None if found.sharding is None else _sharding(found.sharding),
        "plan": None if found.plan is None else _plan(found.plan),
        "run": None if found.run is None else _run(found.run),
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _module(entry: ModuleEntry) -> dict[str, object]:
    return {
        "path": entry.path,
        "class": entry.kind,
        "parameters": entry.parameters,
        "bytes": entry.bytes,
        "same_as": entry.same_as,
    }


def _tensor(entry: TensorEntry) -> dict[str, object]:
    """A tensor in the document."""
    return {
        "path": entry.path,
        "kind": entry.kind,
        "shape": list(entry.shape) if entry.is_initialised else None,
        "dtype": entry.dtype,
        "device": entry.device,
        "elements": entry.elements,
        "bytes": entry.bytes,
        "requires_grad": entry.requires_grad,
        "persistent": entry.persistent,
        "tied_to": entry.tied_to,
        "shares_memory_with": entry.shares_with,
    }


def _amount(held: Amount) -> dict[str, int]:
    return {"elements": held.elements, "bytes": held.bytes}


def _totals(totals: Totals) -> dict[str, object]:
    return {
        "parameters": _amount(totals.parameters),
        "trainable": _amount(totals.trainable),
        "buffers": _amount(totals.buffers),
        "unsaved_buffers": _amount(totals.unsaved_buffers),
        "attributes": _amount(totals.attributes),
        "by_dtype": {name: _amount(held) for name, held in totals.by_dtype},
        "by_device": {name: _amount(held) for name, held in totals.by_device},
    }


def _memory(memory: Memory) -> dict[str, object]:
    return {
        "parameters": memory.parameters,
        "buffers": memory.buffers,
        "gradients": memory.gradients,
        "optimizers": dict(memory.optimizers),
        "activations": memory.activations,
    }


def _sharding(sharding: Sharding) -> dict[str, object]:
    """What each rank holds, in the document."""
    shares = [
        {
            "first": share.first,
            "last": share.last,
            "parameters": share.parameters,
            "bytes": share.bytes,
            "padding_bytes": share.padding_bytes,
            "gradient_bytes": share.trainable_bytes,
            "buffer_bytes": share.buffer_bytes,
        }
        for share in sharding.shares
    ]
    return {"ranks": sharding.ranks, "shares": shares, "refused": list(sharding.whole)}


def _plan(plan: Plan) -> dict[str, object]:
    """A sharding plan, in the document."""
    return {
        "source": plan.source,
        "mesh": dict(plan.mesh),
        "rules": plan.rules,
        "unmatched": plan.unmatched,
        "bytes": plan.bytes,
        "cuts": [{"path": cut.path, "shape": list(cut.shape), "axes": dict(cut.axes)} for cut in plan.cuts],
        "problems": [
            {"path": problem.name or None, "text": problem.text, "error": problem.is_error} for problem in plan.problems
        ],
    }


def _run(run: Run) -> dict[str, object]:
    """A run of the model, in the document."""
    failure = run.failure
    return {
        "training": run.training,
        "made_inputs": list(run.made_inputs),
        "flops": {
            "forward": run.forward_flops,
            "backward": run.backward_flops,
            "by_operation": dict(run.flops_by_operation),
        },
        "activation_bytes": run.activation_bytes,
        "input_bytes": run.input_bytes,
        "compared": run.compared,
        "alike": [{"size": size, "names": list(names)} for size, names in run.alike],
        "mismatches": [_mismatch(finding) for finding in run.findings],
        "failure": None
        if failure is None
        else {"stage": failure.stage, "path": failure.path, "problem": failure.problem, "trace": failure.trace},
        "calls": [_call(call) for call in run.calls],
    }


def _mismatch(finding: Finding) -> dict[str, object]:
    """An annotation that does not hold, in the document."""
    mismatch = finding.mismatch
    return {
        "path": finding.path,
        "function": finding.function,
        "place": finding.place,
        "name": mismatch.name,
        "expected": mismatch.expected,
        "got": mismatch.got,
        "reasons": list(mismatch.reasons),
        "output_of": finding.origin,
        "checked": not mismatch.is_unreadable,
    }


def _call(call: Call) -> dict[str, object]:
    return {
        "path": call.path,
        "class": call.kind,
        "function": call.function,
        "inputs": {name: _shape(shape) for name, shape in call.inputs},
        "output": None if call.output is None else _shape(call.output),
        "flops": call.flops,
        "saved_bytes": call.saved_bytes,
    }


def _shape(shape: Shape) -> dict[str, object]:
    match shape:
        case TensorShape():
            return {"shape": list(shape.shape), "dtype": shape.dtype, "device": shape.device}
        case Structure(kind, parts):
            return {"class": kind, "parts": {key: _shape(part) for key, part in parts}}
        case Other(text):
            return {"value": text}
