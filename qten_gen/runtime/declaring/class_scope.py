"""Where a class statement stands: the names that its annotations can mean."""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Iterator, Mapping
from functools import lru_cache
from importlib.util import resolve_name
from linecache import getlines
from types import FrameType
from typing import NamedTuple


def statement_frame(module: object) -> FrameType:
    """The frame that executes a class statement of `module`: the nearest one outside the metaclasses."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and frame.f_globals.get("__name__") != module:
        frame = frame.f_back
    return frame or sys._getframe(2)


def annotations_of(namespace: Mapping[str, object]) -> Mapping[str, object]:
    """The annotations in a class namespace; from Python 3.14 on they are a function until somebody asks."""
    found = namespace.get("__annotations__")
    if isinstance(found, Mapping):
        return found
    if sys.version_info >= (3, 14):
        import annotationlib

        annotate = annotationlib.get_annotate_from_class_namespace(namespace)
        if annotate is not None:
            return annotationlib.call_annotate_function(annotate, annotationlib.Format.FORWARDREF)
    return {}


class Scope:
    """Looks names up as code around a class statement would: functions and classes around it, globals, builtins."""

    def __init__(self, frame: FrameType, namespace: Mapping[str, object]) -> None:
        self._frame = frame
        self._namespace = namespace

    @property
    def filename(self) -> str:
        """The file of the statement, as the code object names it."""
        return self._frame.f_code.co_filename

    @property
    def text(self) -> str:
        """The text of the file; empty where it is not known."""
        return "".join(self._lines())

    @property
    def line(self) -> int:
        """The line that is executed."""
        return self._frame.f_lineno

    def resolve(self, name: str) -> object:
        """The object that a name means here.

        Raises:
            NameError: it means nothing (yet).
        """
        for names in self._layers():
            if name in names:
                return names[name]
        raise NameError(name)

    def import_of(self, name: str) -> str | None:
        """The qualified name that an import statement of the file gives to `name`, those under TYPE_CHECKING included."""
        found = _names(self._lines()).imports.get(name)
        if found is None or not found.startswith("."):
            return found
        try:
            return resolve_name(found, str(self._frame.f_globals.get("__package__") or ""))
        except ImportError:  # it leads out of the package
            return None

    def defines(self, name: str) -> bool:
        """Whether the file binds a name at its top level, further down perhaps."""
        return name in _names(self._lines()).defined

    def _lines(self) -> tuple[str, ...]:
        return tuple(getlines(self.filename, self._frame.f_globals))

    def _layers(self) -> Iterator[Mapping[str, object]]:
        yield {str(variable): variable for variable in self._type_parameters()}
        frame: FrameType | None = self._frame
        while frame is not None and frame.f_code.co_name != "<module>" and frame.f_globals is self._frame.f_globals:
            yield frame.f_locals
            frame = frame.f_back
        yield self._frame.f_globals
        yield vars(builtins)

    def _type_parameters(self) -> tuple[object, ...]:
        found = self._namespace.get("__type_params__")
        return found if isinstance(found, tuple) else ()


class _Names(NamedTuple):
    """What the text of a file binds: imports anywhere in it with what they stand for, and other names at its top level."""

    imports: Mapping[str, str]
    defined: frozenset[str]


@lru_cache(maxsize=64)
def _names(lines: tuple[str, ...]) -> _Names:
    """The names that a file binds, from its text; none where it cannot be parsed."""
    try:
        tree = ast.parse("".join(lines))
    except SyntaxError:
        return _Names({}, frozenset())
    imports: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            home = "." * node.level + (f"{node.module}." if node.module else "")
            imports.update({alias.asname or alias.name: home + alias.name for alias in node.names})
        elif isinstance(node, ast.Import):
            imports.update({alias.asname: alias.name for alias in node.names if alias.asname})
    return _Names(imports, frozenset(_defined(tree.body)))


def _defined(body: list[ast.stmt]) -> Iterator[str]:
    """The names that classes and assignments bind, those in top-level if and try statements included."""
    for node in body:
        match node:
            case ast.ClassDef(name=name):
                yield name
            case ast.Assign(targets=targets):
                yield from (target.id for target in targets if isinstance(target, ast.Name))
            case ast.AnnAssign(target=ast.Name(id=name)):
                yield name
            case ast.If() | ast.Try():
                yield from _defined([*node.body, *node.orelse])
