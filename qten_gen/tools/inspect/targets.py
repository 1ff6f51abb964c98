"""The parts of a target: `pkg.model:Decoder`, or `src/pkg/model.py:Decoder`, which is imported; and its arguments.

They stand in parentheses or come from `--config`, and Python reads them.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import os
import re
import sys
from collections.abc import Callable, Sequence

import torch
from torch import nn

from ...common.suggestions import nearest
from ...project.files import Packages
from .user_code import InspectionError, describe, of_user

Factory = Callable[..., object]


def named(target: str, import_roots: Sequence[str] = ()) -> object:
    """The object that a target names: `pkg.model:Decoder`.

    The current folder and `import_roots` are importable, as they are when a program in them runs.

    Raises:
        InspectionError: it names nothing, or importing it fails.
    """
    module, name = _parts(target)
    roots = [os.path.abspath(root) for root in import_roots]
    if module.endswith(".py"):
        root, module = _of_path(module, import_roots)
        roots.insert(0, root)
    for root in reversed([os.getcwd(), *roots]):
        if root not in sys.path:
            sys.path.insert(0, root)
    return _found_in(_imported(module), name)


def _parts(target: str) -> tuple[str, str]:
    module, colon, name = target.partition(":")
    if module and name:
        return module, name
    head, _, last = module.rpartition(".")
    named = module if not colon and last != "py" else "pkg.model"
    instead = (
        f"did you mean {head}:{last}?" if head and not colon and last[:1].isupper() else f"for example {named}:Decoder"
    )
    raise InspectionError([f"the target {target!r} is not of the form module:name; {instead}"])


def _of_path(path: str, import_roots: Sequence[str]) -> tuple[str, str]:
    """The folder that a file is imported from, and the name of its module."""
    if not os.path.isfile(path):
        raise InspectionError([f"{path}: no such file"])
    root, package = Packages(import_roots).of(os.path.dirname(path) or ".")
    stem = os.path.basename(path).removesuffix(".py")
    return root, f"{package}.{stem}".lstrip(".") if stem != "__init__" else package


def _imported(module: str) -> object:
    """Import a module of the user."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name and (module == error.name or module.startswith(f"{error.name}.")):
            raise InspectionError([_no_module(module, error.name)]) from None
        raise of_user(f"importing {module}", error) from None
    except (Exception, SystemExit) as error:  # whatever code of the user raises
        raise of_user(f"importing {module}", error) from None


def _no_module(module: str, missing: str) -> str:
    if missing == module and "/" in module:
        return f"there is no module {module}; write a dotted name, or a path that ends in .py"
    of = f" (of {module})" if missing != module else ""
    return f"there is no module {missing}{of}; it is looked for in {os.getcwd()} and in what is installed"


def _found_in(module: object, name: str) -> object:
    """The object that a dotted name means in a module; an error suggests the nearest name."""
    found = module
    for part in name.split("."):
        where = getattr(found, "__name__", name)
        try:
            found = getattr(found, part)
        except AttributeError:
            known = [other for other in dir(found) if not other.startswith("_")]
            close = nearest(part, known)
            hint = f"; did you mean {close}?" if close else _models_in(found)
            raise InspectionError([f"{where} has no {part}{hint}"]) from None
        except Exception as error:  # a lazy import that fails
            raise of_user(f"reading {part} of {where}", error) from None
    return found


def _models_in(module: object) -> str:
    """The end of a message: the modules that a file defines."""
    home = getattr(module, "__name__", None)
    names = [
        name
        for name, value in vars(module).items()
        if isinstance(value, type) and issubclass(value, nn.Module) and value.__module__ == home
    ]
    return f"; it has {', '.join(names)}" if names else ""


def usable(target: str, found: object) -> Factory | nn.Module:
    """The object itself if a module can be made of it.

    Raises:
        InspectionError: It is neither a module nor a class or function that makes one.
    """
    if isinstance(found, nn.Module) or (isinstance(found, type) and issubclass(found, nn.Module)):
        return found
    if isinstance(found, type):
        raise InspectionError([f"{target} is a class that does not derive from torch.nn.Module"])
    if not callable(found):
        raise InspectionError(
            [f"{target} is a {type(found).__name__}, not a module, a class or a function that makes one"]
        )
    return found


_WORDS = {"true": True, "false": False, "none": None, "null": None}
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
    _refuse_unfit(factory, found)
    return found


def _refuse_unfit(factory: Callable[..., object], keywords: dict[str, object]) -> None:
    """Raise with the signature of a factory if it takes other arguments than these."""
    try:
        signature = inspect.signature(factory)
    except (TypeError, ValueError):  # it has none
        return
    try:
        signature.bind_partial(**keywords)  # a name that does not exist comes before one that is missing
        signature.bind(**keywords)
    except TypeError as error:
        parameters = [each.replace(annotation=each.empty) for each in signature.parameters.values()]
        plain = inspect.Signature(parameters)
        advice = "; give it after --config" if "missing" in str(error) else ""
        raise InspectionError([f"{getattr(factory, '__qualname__', factory)}{plain}: {error}{advice}"]) from None


def _value(text: str, names: dict[str, object]) -> object:
    """The value of an expression; a word that means nothing in the module is a dtype of torch, or text: `mode=fast`."""
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    if text.isidentifier():
        dtype = getattr(torch, text, None)
        return names.get(text, dtype if isinstance(dtype, torch.dtype) else text)
    try:
        return eval(text, dict(names))
    except (NameError, SyntaxError):
        if any(bracket in text for bracket in "([{"):
            raise
        return text
