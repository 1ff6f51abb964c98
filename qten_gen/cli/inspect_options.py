"""Parses the options of `qten-gen inspect`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import NamedTuple, TextIO

from .options import Color, Formatter, Parser, UsageError, parsed

_DESCRIPTION = """\
Show the parameters, buffers and memory of a model without allocating it. With
--run, also show the shapes of outputs, count floating point operations, and
check annotated shapes. The model is built on fake tensors, so it can be larger
than the memory of this machine. Your code is imported.

  TARGET               pkg.model:Decoder, or src/pkg/model.py:Decoder: a class,
                       a function that constructs a module, or a module
"""

_EPILOG = """\
examples:
  qten-gen inspect pkg.model:Decoder --config depth=48 dim=8192
  qten-gen inspect pkg.model:Decoder --run "tokens: Int[4,2048]"
  qten-gen inspect torch.nn:Transformer --config nhead=16 --ranks 8
  qten-gen inspect transformers:LlamaForCausalLM --config config.hidden_size=512

exit status: 0 success, 1 the model raised or an annotation is wrong,
2 wrong usage, 101 a bug in qten-gen, 130 interrupted
"""


class InspectOptions(NamedTuple):
    """The options of a command line."""

    target: str
    config: tuple[str, ...] = ()
    config_json: str | None = None
    inputs: tuple[str, ...] | None = None
    ranks: int | None = None
    optimizers: tuple[str, ...] = ()
    dtype: str | None = None
    device: str = "cpu"
    unfold: bool = False
    json: bool = False
    html: str | None = None
    color: Color = Color.AUTO


def parse(arguments: Sequence[str], out: TextIO) -> InspectOptions | None:
    """Parse a command line. For `--help`, write the text to `out` and return None.

    Raises:
        UsageError: An option is unknown or has a wrong value, or there is not exactly one target.
    """
    values = parsed(_parser(), arguments, out)
    if values is None:
        return None
    if len(values.target) != 1:
        given = f"got {', '.join(values.target)}" if values.target else "for example pkg.model:Decoder"
        raise UsageError(f"expected one target, {given}")
    return InspectOptions(
        target=values.target[0],
        config=tuple(values.config),
        config_json=values.config_json,
        inputs=None if values.run is None else tuple(values.run),
        ranks=values.ranks,
        optimizers=tuple(values.optimizer),
        dtype=values.dtype,
        device=values.device,
        unfold=values.unfold,
        json=values.json,
        html=values.html,
        color=Color(values.color),
    )


def _parser() -> Parser:
    """The parser. Help is a plain flag, which `parse` answers."""
    parser = Parser(
        prog="qten-gen inspect",
        usage="qten-gen inspect [options] TARGET",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=Formatter,
        add_help=False,
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("target", nargs="*", help=argparse.SUPPRESS)
    add("--config", nargs="+", action="extend", default=[], metavar="NAME=VALUE", help="arguments of the constructor")
    add("--config-json", metavar="JSON", help="the same as a JSON object, or the name of a JSON file")
    add(
        "--run",
        nargs="*",
        action="extend",
        metavar="INPUT",
        help="run forward and backward on inputs such as 'tokens: Int[4,2048], mask: Bool[4,2048]'",
    )
    add("--ranks", type=int, metavar="N", help="show what each of N ranks holds with FSDP2")
    add(
        "--optimizer",
        nargs="+",
        action="extend",
        default=[],
        metavar="NAME",
        help="count the states of these torch.optim optimizers, such as sgd:momentum=0.9 (adamw and sgd)",
    )
    add("--dtype", metavar="DTYPE", help="cast the model, as model.to(dtype) does")
    add(
        "--device",
        default="cpu",
        metavar="DEVICE",
        help="move the model to cpu, cuda or cuda:1, which need not exist (cpu)",
    )
    add("--unfold", action="store_true", help="show equal layers one by one")
    add("--json", action="store_true", help="print a JSON document; docs/inspect.md describes it")
    add("--html", metavar="FILE", help="write a page with a tree and a map of the memory")
    add(
        "--color",
        choices=[item.value for item in Color],
        default="auto",
        metavar="WHEN",
        help="auto, always or never (auto)",
    )
    add("-h", "--help", action="store_true", help="print this text and exit")
    return parser
