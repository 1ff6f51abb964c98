"""What has to hold of each project: no crash; and where it is generated, texts that run and objects that survive round trips."""

from __future__ import annotations

import copy
import os
import pickle
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import FrozenInstanceError
from importlib import import_module, invalidate_caches
from itertools import count
from pathlib import Path
from traceback import extract_tb
from types import ModuleType
from typing import Any, cast

import torch

from qten_gen.generate.plan import Plan, plan
from qten_gen.model import ConfigDecl, ModuleDecl
from qten_gen.runtime.declaring.declared_class import DeclaredClass
from tests.generate.hostile import assert_only_declares
from tests.outright import compared

from .grammar import PACKAGE, Source
from .objects import alike, module_object, tensorclass_object

_numbers = count()


class Broken(Exception):
    """A law does not hold."""


def planned(sources: Sequence[Source], existing: Mapping[str, bytes] | None = None) -> Plan:
    """What the generator makes of a project."""
    texts = {f"{PACKAGE}/{source.name}.py": source.text.encode() for source in sources}
    return plan({f"{PACKAGE}/__init__.py": b"", **texts}, dict(existing or {}))


def check(sources: Sequence[Source], folder: Path) -> Plan:
    """Check a project, which is written below the folder, and return what was generated for it.

    Raises:
        Broken: a law does not hold; the message says which, and where.
    """
    made = planned(sources)
    for crash in made.crashes:
        raise Broken(f"a crash while {crash.stage} {crash.path}:\n{_end(crash.traceback)}")
    for item in made.diagnostics:
        if item.span is None or item.span.line < 1:
            raise Broken(f"a finding without a position: {item}")
    if any(item.is_error for item in made.diagnostics):
        return made
    assert_only_declares(made)
    outputs = {path: text.encode() for path, text in made.outputs.items() if text is not None}
    again = planned(sources, outputs)
    if {path: text.encode() for path, text in again.outputs.items() if text is not None} != outputs:
        raise Broken("a second run writes other texts")
    number = next(_numbers)
    with _importing(folder):
        differences: list[str] = []
        try:
            with compared(differences):
                generated = _load(f"gen{number}", sources, outputs, folder, jit="off")
        except Exception as error:
            if _is_of_source(error, folder / f"gen{number}"):
                return made  # such as a field that hides a type which a later annotation mentions
            raise
        if differences:
            raise Broken(f"a class statement is read in another way outright: {differences[0]}")
        _objects(generated)
        live = _load(f"live{number}", sources, {}, folder, jit="on")
        _same_declarations(generated, live)
    return made


def _is_of_source(error: Exception, package: Path) -> bool:
    """Whether a line of a source itself raised an error, rather than what is called by it."""
    *_, last = extract_tb(error.__traceback__)
    return Path(last.filename).parent == package and not last.filename.endswith("_qten.py")


@contextmanager
def _importing(folder: Path) -> Iterator[None]:
    known, path = set(sys.modules), list(sys.path)
    sys.path.insert(0, str(folder))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            yield
    finally:
        sys.path[:] = path
        for name in set(sys.modules) - known:
            if name.partition(".")[0].rstrip("0123456789") in ("gen", "live") or name.startswith("qten_gen.in_memory."):
                del sys.modules[name]


def write(package: Path, sources: Sequence[Source], outputs: Mapping[str, bytes]) -> None:
    """Write a project into a folder."""
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("", encoding="utf-8")
    for source in sources:
        (package / f"{source.name}.py").write_text(source.text, encoding="utf-8")
    for path, text in outputs.items():
        (package / Path(path).name).write_bytes(text)


def _load(
    name: str, sources: Sequence[Source], outputs: Mapping[str, bytes], folder: Path, jit: str
) -> list[ModuleType]:
    """Import a project under a name of its own, with the outputs, without building classes in memory unless `jit` is on."""
    write(folder / name, sources, outputs)
    invalidate_caches()
    os.environ["QTEN_GEN_JIT"] = jit
    try:
        for path in outputs:
            if path.endswith(".py"):
                import_module(f"{name}.{Path(path).stem}")
        return [import_module(f"{name}.{source.name}") for source in sources]
    finally:
        os.environ["QTEN_GEN_JIT"] = "on"


def _classes(module: ModuleType) -> dict[str, type]:
    """The declared classes of a module."""
    return {
        name: value
        for name, value in vars(module).items()
        if isinstance(value, type) and value.__module__ == module.__name__ and "_declaration" in vars(value)
    }


def _objects(modules: Sequence[ModuleType]) -> None:
    for module in modules:
        for cls in _classes(module).values():
            try:
                if isinstance(cast("DeclaredClass", cls)._declaration, ModuleDecl):
                    _module_round_trip(cls)
                else:
                    _tensorclass_round_trip(cls)
            except Exception as error:
                raise Broken(f"objects of {cls.__name__}: {type(error).__name__}: {error}") from error


def _tensorclass_round_trip(cls: Any) -> None:
    one = tensorclass_object(cls, (2,))
    stacked: Any = torch.stack([one, one])
    assert tuple(stacked.batch_size) == (2, 2)
    _alike(one, stacked[0], "stacking and indexing")
    _alike(one, pickle.loads(pickle.dumps(one)), "a pickle")
    _alike(one, copy.deepcopy(one), "a copy")
    _alike(one, one.clone(), "clone")
    _alike(one, torch.cat([one[:1], one[1:]]), "cat")
    _alike(one, cls.from_dict(one.to_dict(), batch_size=(2,)), "to_dict and from_dict")
    if not cast("DeclaredClass", cls)._declared_as.frozen:
        fresh = one.clone()
        with suppress(FrozenInstanceError):  # a nested object may be frozen
            fresh[0] = one[1]
        # A static value may be of a class that a state dict does not take, and a nested object may be frozen.
        with suppress(TypeError, FrozenInstanceError):
            state = one.state_dict()
            fresh = one.clone()
            fresh.load_state_dict(state)
            _alike(one, fresh, "the state dict")
    [*one.split(1)]
    repr(one)
    one.to("cpu")
    one.apply(lambda tensor: tensor)
    one.reshape(1, 2)


def _alike(one: Any, other: Any, what: str) -> None:
    if type(one) is not type(other) or not alike(one.to_dict(), other.to_dict()):
        raise Broken(f"{what} gives another object: {one} and {other}")


def _module_round_trip(cls: Any) -> None:
    one: Any = module_object(cls)
    state = {name: value.clone() for name, value in one.state_dict().items()}
    other = pickle.loads(pickle.dumps(copy.deepcopy(one)))
    other.load_state_dict(one.state_dict())
    if not alike(state, dict(other.state_dict())):
        raise Broken("the state dict changes")
    declaration = cast("DeclaredClass", cls)._declaration
    for field in declaration.fields:
        getattr(one, field.name)
    cls.from_config(one.get_config())
    needed = {field.argument for field in declaration.fields if isinstance(field, ConfigDecl) and field.default is None}
    cls.from_config({name: value for name, value in one.get_config().items() if name in needed})
    repr(one)
    one.reset_parameters()
    one.to(torch.float64)
    cls(**one.get_config(), device="meta")


def _same_declarations(generated: Sequence[ModuleType], live: Sequence[ModuleType]) -> None:
    """The classes built in memory are made of the declarations that the command writes."""
    for one, other in zip(generated, live, strict=True):
        for name, cls in _classes(one).items():
            expected, found = (vars(each.__mro__[1])["_fingerprint"] for each in (cls, _classes(other)[name]))
            if expected != found:
                raise Broken(f"{name} is made of another declaration in memory")


def _end(traceback: str) -> str:
    """The last lines of a traceback."""
    return "\n".join(traceback.rstrip().splitlines()[-4:])
