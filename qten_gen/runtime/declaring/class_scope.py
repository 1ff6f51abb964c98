"""Where a class statement stands: the names that its annotations can mean, and what the text of its file binds."""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Iterator, Mapping
from copy import copy
from functools import lru_cache
from importlib.util import resolve_name
from linecache import checkcache, getlines
from types import FrameType
from typing import NamedTuple


def statement_frame(metaclass: type, module: object = None) -> FrameType:
    """The frame that executes a class statement: the nearest one of `module` outside the metaclass and its bases.

    Without `module`, as for a class made by a call, it is the frame of the caller, `types.new_class` left out.
    """
    # A metaclass of the user's that derives from ours stands between, too.
    makers = {getattr(base.__new__, "__code__", None) for base in metaclass.__mro__}
    nearest: FrameType | None = None
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        home = frame.f_globals.get("__name__")
        if frame.f_code not in makers and home != "types" and frame.f_globals.get("__package__") != __package__:
            nearest = nearest or frame
            if module is None or home == module:
                return frame
        frame = frame.f_back
    return nearest or sys._getframe()


class Scope:
    """Looks names up as code around a class statement would: functions and classes around it, globals, builtins."""

    def __init__(self, frame: FrameType, namespace: Mapping[str, object]) -> None:
        self.filename = frame.f_code.co_filename
        """The file of the statement, as the code object names it."""
        self.line = frame.f_lineno
        """The line that is executed."""
        self.is_of_module = frame.f_code.co_name == "<module>"
        """True if the statement stands in no function."""
        self._globals = frame.f_globals
        self._namespace = namespace
        self._frame: FrameType | None = frame
        self._around: tuple[Mapping[str, object], ...] | None = None

    @property
    def file(self) -> str | None:
        """The file of the module, if the module has one."""
        found: str | None = self._globals.get("__file__")
        return found

    def kept(self, meanings: Mapping[str, object]) -> Scope:
        """The scope of a statement in no function, for later: without its frame, and with what names meant when it ran."""
        found = copy(self)
        found._frame, found._around = None, (meanings,)
        return found

    @property
    def text(self) -> str:
        """The text of the file, empty where there is none, as for `python -c`."""
        return "".join(self._lines())

    def resolve(self, name: str) -> object:
        """The object that a name means here.

        Raises:
            NameError: it means nothing (yet).
        """
        for names in self._layers():
            if name in names:
                return names[name]
        raise NameError(name)

    def names(self) -> dict[str, object]:
        """All names with what they mean here. A plain dict: Python 3.14 copies what it is given to look names up in."""
        return {name: value for names in reversed([*self._layers()]) for name, value in names.items()}

    def import_of(self, name: str) -> str | None:
        """The qualified name that an import statement of the file gives to `name`, those under TYPE_CHECKING included."""
        found = self._file_names().imports.get(name)
        if found is None or not found.startswith("."):
            return found
        try:
            return resolve_name(found, str(self._globals.get("__package__") or ""))
        except ImportError:  # it leads out of the package
            return None

    def defines(self, name: str) -> bool:
        """Return whether the file binds a name at its top level, further down perhaps."""
        return name in self._file_names().defined

    def _file_names(self) -> FileNames:
        return names_in(self._lines())

    def _lines(self) -> tuple[str, ...]:
        checkcache(self.filename)  # the file may have been edited since, and the module reloaded
        return tuple(getlines(self.filename, self._globals))

    def _layers(self) -> Iterator[Mapping[str, object]]:
        parameters = self._namespace.get("__type_params__")
        yield {str(variable): variable for variable in parameters} if isinstance(parameters, tuple) else {}
        if self._around is None:
            self._around = tuple(self._blocks())
        yield from self._around
        yield self._globals
        yield vars(builtins)

    def _blocks(self) -> Iterator[Mapping[str, object]]:
        """The names of the functions and classes around the statement, the innermost first.

        A function of the same file that only calls the one with the statement is skipped: its names mean nothing here.
        """
        inner = self._frame
        if inner is None:
            return
        yield inner.f_locals
        if self.is_of_module:
            return
        path = inner.f_code.co_qualname
        frame = inner.f_back
        while frame is not None:
            if frame.f_globals is self._globals and path.startswith(f"{frame.f_code.co_qualname}."):
                yield frame.f_locals
                path = frame.f_code.co_qualname
            frame = frame.f_back


class FileNames(NamedTuple):
    """The bindings in the text of a file: imports anywhere in it with their targets, and other names at its top level."""

    imports: Mapping[str, str]
    defined: frozenset[str]


@lru_cache(maxsize=64)
def names_in(lines: tuple[str, ...]) -> FileNames:
    """The names that a file binds, from its text; none where it cannot be parsed."""
    try:
        tree = ast.parse("".join(lines))
    except SyntaxError:
        return FileNames({}, frozenset())
    imports: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            home = "." * node.level + (f"{node.module}." if node.module else "")
            imports.update({alias.asname or alias.name: home + alias.name for alias in node.names})
        elif isinstance(node, ast.Import):
            # Without `as`, an annotation has the qualified name already: `import shop.base`, `shop.base.Batch`.
            imports.update({alias.asname: alias.name for alias in node.names if alias.asname})
    return FileNames(imports, frozenset(_defined(tree.body)))


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
