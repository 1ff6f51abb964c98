"""The law: both readers make equal declarations, or say that the text cannot tell, or refuse by the same rule.

The text is read as the command reads it. Then the class statement runs, with a generated module beside it that says what the text
said. So a class that the readers see in different ways is called stale, as it would be in a program.
"""

from __future__ import annotations

import sys
import traceback
import warnings
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache, partial
from importlib import import_module, invalidate_caches
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import FunctionType, ModuleType
from unittest.mock import patch

import torch

from qten_gen import DeclarationError, StaleWarning, rules
from qten_gen.common.naming import generated_class
from qten_gen.emit.file import python_class
from qten_gen.generate import outputs
from qten_gen.link.program import Reading
from qten_gen.model import (
    Asked,
    ConfigDecl,
    Declaration,
    FieldDecl,
    ImportContext,
    ModuleDecl,
    ModuleField,
    SourceFile,
    VirtualDecl,
    fingerprint,
    structure,
)
from qten_gen.model.diagnostics import Diagnostic
from qten_gen.read.module import read
from qten_gen.runtime import generated
from qten_gen.runtime.declaring.declared_class import DeclaredClass
from tests.linking import program_of
from tests.outright import OF_OBJECTS, compared

from .spelling import COMMON, Spelling

TEXT_ONLY = frozenset({"QG008", "QG108", "QG212", "QG221"})
"""What the text cannot tell, a class that is declared twice, fields under a condition, and values of the class body in place of
types: the program knows one answer."""
OF_OTHER_CLASSES = {"QG307", "QG320"}
"""What the command knows of other classes: annotations that no constructor sets, and what one refuses when it is called."""


@dataclass(frozen=True)
class OfText:
    """What the text says: declarations by name, and the codes of the errors in the file."""

    declarations: Mapping[str, Declaration]
    codes: frozenset[str]


def of_text(files: Mapping[str, str], package: str) -> OfText:
    """What the command says of the module `model`."""
    texts = {f"{package}/{name or '__init__'}.py": text.encode() for name, text in files.items()}
    texts["common.py"] = COMMON.encode()
    readings = [Reading(_common())]
    found: list[Diagnostic] = []
    for name in files:
        path = f"{package}/{name or '__init__'}.py"
        module = f"{package}.{name}".rstrip(".")
        asked = Asked()
        source, problems = read(texts[path], path, module, not name, ImportContext(asked))
        readings.append(Reading(source, asked.names, partial(_again, texts[path], source)))
        found.extend(problems)
    program = program_of(readings)
    linked = program.linked(f"{package}.model")
    assert linked is not None
    model, inconsistent = linked
    said = (*found, *inconsistent, *rules.check(model))
    codes = frozenset(item.code for item in said if item.is_error and item.path == model.source.path)
    return OfText({declaration.name: declaration for declaration in model.declarations}, codes)


def _again(text: bytes, first: SourceFile, context: ImportContext) -> SourceFile:
    return read(text, first.path, first.module, first.is_package, context)[0]


@lru_cache(maxsize=1)
def _common() -> SourceFile:
    return read(COMMON.encode(), "common.py", "spelled_common")[0]


def broken(spelling: Spelling, package: str, folder: Path) -> str | None:
    """How the law is broken for a package that was written to `folder`; None where it holds."""
    try:
        text = of_text(spelling.files, package)
    except Exception:
        return f"the reader of text crashes: {traceback.format_exc(limit=-3)}"
    differences: list[str] = []
    with running(), compared(differences):
        problem = _broken(text, package)
    return problem or (f"read outright: {differences[0]}" if differences else None)


def _broken(text: OfText, package: str) -> str | None:
    """How the law is broken."""
    refused = bool(text.codes)
    beside = _generated(package, text.declarations, stale=refused)
    untold = not TEXT_ONLY.isdisjoint(text.codes)
    if refused and not untold:
        sys.modules.pop(beside.__name__)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            model = import_module(f"{package}.model")
        except DeclarationError as error:
            codes = {item.code for item in error.findings if item.is_error}
            if not refused:
                if codes and codes <= OF_OBJECTS:
                    return None  # the text does not show the object, and the program refuses it in every case
                return f"the class statement refuses what the text allows: {error}"
            if untold or not codes or not codes.isdisjoint(text.codes):
                return None
            return f"other rules: the text {sorted(text.codes)}, the class statement {error}"
        except Exception as error:
            return _of_python(error, text.codes)
    if refused and not untold and not text.codes <= OF_OTHER_CLASSES:
        return f"the text is refused by {sorted(text.codes)}, the class statement is not"
    stale = [str(item.message) for item in caught if issubclass(item.category, StaleWarning)]
    if refused:
        return None  # the warning names the command, which reports the error
    declared = _declared(model)
    if declared.keys() != text.declarations.keys():
        problem = f"the text declares {sorted(text.declarations)}, the program {sorted(declared)}"
        return f"explained: {stale}" if stale else problem
    for name, found in declared.items():
        difference = _difference(text.declarations[name], found._declaration)
        if difference:
            return f"explained: {stale}" if stale else f"{name}: {difference}"
    return f"called stale: {stale}" if stale else None


def _of_python(error: Exception, codes: Collection[str]) -> str | None:
    """What an error that is not a DeclarationError means. Python itself refuses some files, whatever qten-gen says of them."""
    frames = traceback.extract_tb(error.__traceback__)
    by_python = not any("/qten_gen/" in frame.filename for frame in frames) or (
        isinstance(error, TypeError) and (frames[-1].filename == "<frozen abc>" or frames[-1].name == "registrable")
    )
    if by_python or (codes and isinstance(error, TypeError)):
        return None
    said = "".join(traceback.format_exception(error, limit=-4))
    return f"the class statement raises, the text says {sorted(codes)}: {said}"


def _declared(model: ModuleType) -> dict[str, DeclaredClass]:
    found = {name: value for name, value in vars(model).items() if isinstance(value, DeclaredClass)}
    return {
        value.__name__: value
        for value in found.values()
        if value.__module__ == model.__name__ and value.__qualname__ == value.__name__
    }


def _difference(text: Declaration, statement: Declaration) -> str:
    """The first attribute in which two declarations differ; empty where they are equal."""
    if type(text) is not type(statement):
        return f"{type(text).__name__} and {type(statement).__name__}"
    if structure(text) == structure(statement):
        return ""
    theirs = {f.name: f for f in statement.fields}
    for field in text.fields:
        if field.name not in theirs or structure(field) != structure(theirs[field.name]):
            other = structure(theirs[field.name]) if field.name in theirs else None
            return f"the text has {structure(field)}, the statement {other}"
    return f"the text has {structure(text)}, the statement {structure(statement)}"


def _generated(package: str, declarations: Mapping[str, Declaration], stale: bool) -> ModuleType:
    """The generated module of `model`, as `import` finds it, with the classes that the text declares."""
    name = f"{package}.model_qten"
    module = ModuleType(name)
    module.__spec__ = ModuleSpec(name, None)
    vars(module)["_rt"] = generated
    for declaration in declarations.values():
        cls = _light(declaration, vars(module))
        if stale:
            type.__setattr__(cls, "_fingerprint", "of another declaration")
        vars(module)[cls.__name__] = cls
    sys.modules[name] = module
    return module


def _light(declaration: Declaration, namespace: dict[str, object]) -> type:
    """A generated class with its tables and nothing else."""
    attributes: dict[str, object] = {}
    try:
        lines = python_class(declaration).classes[0].attributes
    except Exception:  # of a declaration that a rule refuses
        lines = (f'_fingerprint = "{fingerprint(declaration)}"',)
    exec(
        "\n".join(line.strip() for line in lines if "_fill" not in line), {"_rt": generated, "torch": torch}, attributes
    )
    fields = dict.fromkeys((f.name for f in declaration.fields if isinstance(f, FieldDecl | ConfigDecl)), "object")

    def __init__(self: object) -> None: ...
    def _fill(self: object) -> None: ...

    base = generated.ModuleBase if isinstance(declaration, ModuleDecl) else generated.Stored
    functions = {"_fill": FunctionType(_fill.__code__, namespace)}
    if not (isinstance(declaration, ModuleDecl) and declaration.custom_init):
        constructor = FunctionType(__init__.__code__, namespace)
        constructor.__annotations__ = fields
        functions["__init__"] = constructor
    slots = {} if isinstance(declaration, ModuleDecl) else {"__slots__": ()}
    virtuals = {f.name: property(lambda self: None) for f in declaration.fields if _is_property(f)}
    body = {**attributes, **slots, **virtuals, **functions, "__module__": "light"}
    return type(generated_class(declaration.name), (base,), body)


def _is_property(field: FieldDecl | ModuleField) -> bool:
    return isinstance(field, FieldDecl | VirtualDecl)


@contextmanager
def running() -> Iterator[None]:
    """What is built in memory has no methods, which takes most of the time."""

    def render_class(declaration: Declaration) -> str:
        base = "ModuleBase" if isinstance(declaration, ModuleDecl) else "Stored"
        (view,) = python_class(declaration).classes
        name = generated_class(declaration.name)
        head = f"from qten_gen.runtime import generated as _rt\nclass {name}(_rt.{base}):\n"
        body = [] if isinstance(declaration, ModuleDecl) else ["__slots__ = ()"]
        body += [*view.attributes, "def __init__(self): ...", "def _fill(self): ..."]
        virtuals = [f"{f.name} = property()" for f in declaration.fields if _is_property(f)]
        return head + "".join(f"    {line}\n" for line in (*body, *virtuals))

    with patch.object(outputs, "render_class", render_class):
        yield


def write(spellings: Mapping[str, Spelling], folder: Path) -> None:
    """Write packages to a folder, and the module that all import."""
    (folder / "spelled_common.py").write_text(COMMON, encoding="utf-8")
    for package, spelling in spellings.items():
        (folder / package).mkdir()
        for name, text in spelling.files.items():
            (folder / package / f"{name or '__init__'}.py").write_text(text, encoding="utf-8")
    invalidate_caches()


def all_broken(spellings: Collection[Spelling], folder: Path) -> dict[str, str]:
    """How the law is broken, by the names of the spellings for which it is."""
    packages = {f"spelled_{folder.name.replace('-', '_')}_{number}": each for number, each in enumerate(spellings)}
    write(packages, folder)
    before, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    sys.path.insert(0, str(folder))
    found: dict[str, str] = {}
    try:
        for package, each in packages.items():
            problem = broken(each, package, folder)
            if problem is not None:
                found[each.name] = problem
            for module in [name for name in sys.modules if name.partition(".")[0] == package]:
                del sys.modules[module]
    finally:
        sys.path.remove(str(folder))
        sys.dont_write_bytecode = before
    return found
