"""The parts of a target: `pkg.model:Decoder`, with arguments in parentheses or from `--config`, which Python reads."""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Callable, Mapping, Sequence

import torch

from .request import InspectionError
from .user_errors import describe

WORDS = {"true": True, "false": False, "none": None, "null": None}
"""Words of JSON, which shells and settings are used to."""

_CALL = re.compile(r"(.+?:[\w.]+|[^():]+)\s*(?:\((.*)\))?\s*", re.DOTALL)


def split_call(target: str) -> tuple[str, tuple[str, ...]]:
    """The name and the arguments of a target.

    >>> split_call("shop.model:Decoder(width=64, kind=nn.GELU)")
    ('shop.model:Decoder', ('width=64', 'kind=nn.GELU'))

    Raises:
        InspectionError: It is not of that form.
    """
    matched = _CALL.fullmatch(target)
    try:
        call = None if matched is None else ast.parse(f"_({matched[2] or ''})", mode="eval").body
    except SyntaxError:
        call = None
    if (
        matched is None
        or not isinstance(call, ast.Call)
        or not isinstance(call.func, ast.Name)  # a call of what the call gives
        or call.args
        or any(each.arg is None for each in call.keywords)
    ):
        raise InspectionError([f"the target {target!r} is not of the form module:name(argument=value, ...)"])
    return matched[1], tuple(f"{each.arg}={ast.unparse(each.value)}" for each in call.keywords)


def arguments_for(factory: Callable[..., object], texts: Sequence[str]) -> dict[str, object]:
    """The keyword arguments that texts such as `depth=48` mean, in the module of the factory.

    Raises:
        InspectionError: one is not `NAME=VALUE`, cannot be evaluated, or the factory takes others; all such problems.
    """
    module = sys.modules.get(getattr(factory, "__module__", ""))
    names = {"torch": torch, "nn": torch.nn, **({} if module is None else vars(module))}
    found: dict[str, object] = {}
    problems: list[str] = []
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.isidentifier():
            problems.append(f"{text}: expected NAME=VALUE")
        elif name in found:
            problems.append(f"{name}: given twice")
        else:
            try:
                found[name] = _value(value, names)
            except (Exception, SystemExit) as error:  # whatever an expression raises
                problems.append(f"{text}: {describe(error)}")
    if problems:
        raise InspectionError(problems)
    refuse_unfit(factory, (), found)
    return found


def _value(text: str, names: dict[str, object]) -> object:
    """The value of an expression; a word that means nothing in the module is a dtype of torch, or text: `mode=fast`."""
    if text.lower() in WORDS:
        return WORDS[text.lower()]
    if text.isidentifier():
        dtype = getattr(torch, text, None)
        return names.get(text, dtype if isinstance(dtype, torch.dtype) else text)
    try:
        return eval(text, dict(names))
    except (NameError, SyntaxError):
        if any(bracket in text for bracket in "([{"):
            raise
        return text


def refuse_unfit(function: Callable[..., object], args: Sequence[object], keywords: Mapping[str, object]) -> None:
    """Do nothing if a function takes these arguments.

    Raises:
        InspectionError: It takes others; the message has its signature.
    """
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # it has none
        return
    try:
        signature.bind_partial(*args, **keywords)  # a name that does not exist comes before one that is missing
        signature.bind(*args, **keywords)
    except TypeError as error:
        parameters = [each.replace(annotation=each.empty) for each in signature.parameters.values()]
        plain = inspect.Signature(parameters)
        raise InspectionError([f"{getattr(function, '__qualname__', function)}{plain}: {error}"]) from None
