"""A value in a file: behind a dotted key of TOML, JSON or YAML, or a literal that Python code assigns. Nothing is imported."""

from __future__ import annotations

import ast
import json
import os
from collections.abc import Mapping

from ...project.config import toml_document


class DocumentError(ValueError):
    """A value cannot be read."""


class Expression(str):
    """The Python code in the place of a literal, as text: `ColwiseParallel(use_local_output=False)`."""


def value_at(place: str, root: str) -> object:
    """The value at a place below a folder, such as `configs/lora.yaml:target_modules` or `shop/plans.py:Config.tp_plan`.

    Raises:
        DocumentError: The file or the key cannot be read.
    """
    path, key = split(place)
    try:
        with open(os.path.join(root, path), encoding="utf-8") as file:
            text = file.read()
        return _assigned(text, key) if path.endswith(".py") else _at(_parsed(path, text), key)
    except (OSError, ValueError, SyntaxError, LookupError) as error:
        what = (
            error.strerror if isinstance(error, OSError) else f"no {error}" if isinstance(error, LookupError) else error
        )
        raise DocumentError(f"{place}: cannot read it: {what}") from None


def split(place: str) -> tuple[str, str]:
    """The path and the key of a place; a key is empty where there is none."""
    path, colon, key = place.rpartition(":")
    return (place, "") if not colon or os.sep in key else (path, key)  # `C:\\plan.json`, or no key


def _parsed(path: str, text: str) -> object:
    """The document in a file, by its suffix."""
    suffix = os.path.splitext(path)[1]
    if suffix == ".toml":
        found = toml_document(text)
        if found is None:
            raise DocumentError("it is no valid TOML")
        return found
    if suffix in (".yaml", ".yml"):
        try:
            import yaml  # type: ignore[import-untyped] # its types are a package of their own
        except ModuleNotFoundError:
            raise DocumentError("it needs PyYAML: python -m pip install pyyaml") from None
        try:
            return yaml.safe_load(text)
        except yaml.YAMLError as error:
            raise DocumentError(" ".join(str(error).split())) from None
    if suffix == ".json":
        return json.loads(text)
    raise DocumentError("expected a file of Python, TOML, JSON or YAML")


def _at(document: object, key: str) -> object:
    """The value of a document at a dotted key; without a key, the document."""
    for segment in filter(None, key.split(".")):
        if not isinstance(document, Mapping):
            raise LookupError(segment)
        document = document[segment]
    return document


def _assigned(text: str, key: str) -> object:
    """The value assigned to a name in a module, class or function: `Config.plan`."""
    scope: ast.AST = ast.parse(text)
    *scopes, name = key.split(".")
    for each in scopes:
        definitions = (node for node in ast.walk(scope) if isinstance(node, ast.ClassDef | ast.FunctionDef))
        scope = next((node for node in definitions if node.name == each), ast.Pass())
    for node in ast.walk(scope):
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        if any(isinstance(target, ast.Name | ast.Attribute) and _name(target) == name for target in targets):
            value = getattr(node, "value", None)
            return None if value is None else _literal(value)
    raise LookupError(key)


def _name(target: ast.Name | ast.Attribute) -> str:
    return target.id if isinstance(target, ast.Name) else target.attr


def _literal(node: ast.expr) -> object:
    """The value of a literal, with an Expression where a part of it is none."""
    match node:
        case ast.Constant(value=value):
            return value
        case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
            return [_literal(item) for item in items]
        case ast.Dict(keys=keys, values=values):
            pairs = zip(keys, values, strict=True)
            return {key.value: _literal(value) for key, value in pairs if isinstance(key, ast.Constant)}
    try:
        return ast.literal_eval(node)
    except ValueError:
        return Expression(ast.unparse(node))
