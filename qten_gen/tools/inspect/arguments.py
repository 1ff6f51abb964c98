"""The arguments of a constructor, or of a function that makes a model, from the command line and from JSON.

Each value has the type that the annotation of its parameter says (`config_types`). All that is wrong is collected.
"""

from __future__ import annotations

import inspect
import json
import re
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from typing import NamedTuple

from ...common.suggestions import nearest
from .config_types import EMPTY, Text, Unfit, convert, is_builtin, shown, type_name
from .request import InspectionError
from .user_errors import describe


class Parameter(NamedTuple):
    """A parameter of a constructor."""

    name: str
    kind: object
    """Its type; `EMPTY` without an annotation."""
    default: object
    """Its default; `EMPTY` if it has to be given."""
    by_position: bool


def read_arguments(texts: Iterable[str], document: str | None) -> tuple[dict[str, object], list[str]]:
    """The arguments as a tree: `config.width=64` is `{"config": {"width": Text("64")}}`; text comes before JSON.

    Returns:
        The tree, and what is wrong: what is not `NAME=VALUE`, is given twice, or is not a JSON object.
    """
    problems: list[str] = []
    found = {} if document is None else _from_document(document, problems)
    given: set[str] = set()
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not all(part.isidentifier() for part in name.split(".")):
            problems.append(f"--config {text}: expected NAME=VALUE")
        elif name in given:
            problems.append(f"--config {name}: given twice")
        else:
            given.add(name)
            _put(found, name, Text(value), problems)
    return found, problems


def _from_document(document: str, problems: list[str]) -> dict[str, object]:
    """A JSON object, or the one in a file."""
    text, origin = document, "--config-json"
    if not document.lstrip().startswith(("{", "[")):
        origin = f"--config-json {document}"
        try:
            with open(document, encoding="utf-8") as file:
                text = file.read()
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
            problems.append(f"{origin}: cannot read it: {reason}")
            return {}
    try:
        found = json.loads(text)
    except ValueError as error:
        problems.append(f"{origin}: it is not JSON: {error}")
        return {}
    if not isinstance(found, dict):
        problems.append(f"{origin}: expected an object, got {shown(found)[:60]}")
        return {}
    return found


def _put(tree: dict[str, object], name: str, value: Text, problems: list[str]) -> None:
    """Set `a.b.c` in a tree of dicts."""
    *parents, last = name.split(".")
    for parent in parents:
        inner = tree.setdefault(parent, {})
        if not isinstance(inner, dict):
            problems.append(f"--config {name}: {parent} is given as one value too")
            return
        tree = inner
    tree[last] = value


def call(
    factory: Callable[..., object], tree: Mapping[str, object], known_problems: Sequence[str] = ()
) -> tuple[list[object], dict[str, object]]:
    """The positional and keyword arguments for a factory.

    Raises:
        InspectionError: an argument is unknown, missing, or of another type; all such problems, after those known before.
    """
    problems: list[str] = []
    args, keywords = _bound(factory, tree, "", problems)
    name = getattr(factory, "__name__", str(factory))
    found = [*known_problems, *(f"{name}: {problem}" for problem in problems)]
    if found:
        raise InspectionError(found)
    return args, keywords


def _bound(
    factory: Callable[..., object], tree: Mapping[str, object], path: str, problems: list[str]
) -> tuple[list[object], dict[str, object]]:
    """The arguments from a tree; `problems` gets what is wrong."""
    parameters, others = parameters_of(factory)
    known = {parameter.name: parameter for parameter in parameters}
    values: dict[str, object] = {}

    def build(kind: type, inner: Mapping[str, object], inner_path: str) -> object:
        return _build(kind, inner, inner_path, problems)

    for name, raw in tree.items():
        where = f"{path}.{name}" if path else name
        parameter = known.get(name)
        if parameter is None and others is None:
            problems.append(f"{where}: there is no such argument{_hint(name, known)}")
            continue
        kind, default = (others, EMPTY) if parameter is None else (parameter.kind, parameter.default)
        try:
            values[name] = convert(raw, kind, where, build, default)
        except Unfit as error:
            problems.append(f"{where}: {error}")
    for parameter in parameters:
        if parameter.default is EMPTY and parameter.name not in tree:
            problems.append(_missing(parameter.kind, f"{path}.{parameter.name}" if path else parameter.name))
    return _split(parameters, values)


_MISSING = re.compile(r"(\w+)\.__init__\(\) missing \d+ required (?:positional|keyword-only) arguments?: (.*)")


def missing_arguments(factory: Callable[..., object], error: TypeError) -> list[str]:
    """What is missing of a class that hands its arguments on, as `nn.LSTM` does to its base, which raised this error.

    The signature of such a class is `*args, **kwargs`, so the arguments were not checked before. The list is empty for any
    other error.
    """
    found = _MISSING.fullmatch(str(error))
    if found is None or not isinstance(factory, type) or parameters_of(factory)[1] is None:
        return []
    base = next((kind for kind in factory.__mro__ if kind.__qualname__.endswith(found[1])), None)
    if base is None:
        return []
    types = {parameter.name: parameter.kind for parameter in parameters_of(base)[0]}
    names = re.findall(r"'(\w+)'", found[2])
    return [f"{factory.__name__}: {_missing(types.get(name, EMPTY), name)}" for name in names]


def _missing(kind: object, where: str) -> str:
    """The problem of an argument that has to be given."""
    of_type = "" if kind is EMPTY else f" ({type_name(kind)})"
    return f"{where}: missing{of_type}; it has no default, {_advice(kind, where)}"


def _advice(kind: object, where: str) -> str:
    """How to give an argument of a type. An object of a class needs no arguments where each has a default."""
    if not isinstance(kind, type) or is_builtin(kind) or kind.__module__.partition(".")[0] == "torch":
        return f"pass --config {where}=VALUE"
    inner, _ = parameters_of(kind)
    if issubclass(kind, Enum) or not inner:
        return f"pass --config {where}=VALUE"
    first = next((parameter.name for parameter in inner if parameter.default is EMPTY), None)
    instead = f"{where}.{first or inner[0].name}=VALUE"
    return f"pass --config {instead}" if first else f"pass --config {instead}, or {where}={{}} for its defaults"


def _split(parameters: list[Parameter], values: dict[str, object]) -> tuple[list[object], dict[str, object]]:
    """Arguments by position for parameters that take nothing else, the others by name."""
    args = []
    for parameter in parameters:
        if parameter.by_position and parameter.name in values:
            args.append(values.pop(parameter.name))
    return args, values


def _hint(name: str, known: Mapping[str, Parameter]) -> str:
    close = nearest(name, known)
    if close:
        return f"; did you mean {close}?"
    return f"; the arguments are {', '.join(known)}" if known else "; it takes none"


def _build(kind: type, tree: Mapping[str, object], path: str, problems: list[str]) -> object:
    """An object of a class from its arguments."""
    if is_builtin(kind):
        raise Unfit(f"expected a {type_name(kind)}, got {shown(tree)}")
    before = len(problems)
    args, keywords = _bound(kind, tree, path, problems)
    if len(problems) > before:
        return None
    try:
        return kind(*args, **keywords)
    except Exception as error:  # a check of the user's
        raise Unfit(f"{type_name(kind)} raised {describe(error)}") from None


def parameters_of(factory: Callable[..., object]) -> tuple[list[Parameter], object]:
    """The parameters of a factory, and the type of keywords of any other name; None if it takes no others."""
    try:
        signature = inspect.signature(factory)
    except (TypeError, ValueError):
        return [], EMPTY
    function = factory.__init__ if isinstance(factory, type) else factory  # type: ignore[misc] # its own, not of an instance
    hints = _hints(function)
    found = []
    others: object = None
    for name, parameter in signature.parameters.items():
        kind = hints.get(name, EMPTY if parameter.annotation is parameter.empty else parameter.annotation)
        if parameter.kind is parameter.VAR_KEYWORD:
            others = kind
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        default = EMPTY if parameter.default is parameter.empty else parameter.default
        found.append(Parameter(name, kind, default, parameter.kind is parameter.POSITIONAL_ONLY))
    return found, others


def _hints(function: object) -> dict[str, object]:
    """The annotations of a function, those that are strings evaluated one by one: one that fails does not spoil the others."""
    try:
        return typing.get_type_hints(function)
    except Exception:  # whatever an expression of the user's may raise
        pass
    function = inspect.unwrap(function) if callable(function) else function
    names = getattr(function, "__globals__", {})
    found: dict[str, object] = {}
    for name, annotation in getattr(function, "__annotations__", {}).items():
        try:
            found[name] = eval(annotation, names) if isinstance(annotation, str) else annotation
        except Exception:  # as above
            found[name] = EMPTY
    return found
