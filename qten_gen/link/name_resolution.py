"""Resolves names across files by following imports and aliases."""

from __future__ import annotations

import re
from ast import literal_eval
from collections.abc import Callable, Mapping

from ..common.field_kinds import is_tensor
from ..common.records import replace
from ..model import DYNAMIC, ClassSource, SourceFile, TypeExpr, union
from ..read.dotted_names import Scope
from .lookups import Lookups, remembered

_LONGEST_CHAIN = 50
"""How many imports and aliases lead from a name to its definition at most: `a = a.b` leads to `a.b.b.b`."""

_NAME = r"[^\W\d]\w*(?:\.[^\W\d]\w*)*"


class Names:
    """The names in the files of a run. A qualified name is `module.name`. A reexported class has several.

    `find` returns the file of a module; None for a module outside the run.
    """

    def __init__(self, find: Callable[[str], SourceFile | None], lookups: Lookups) -> None:
        self.find = find
        self.lookups = lookups
        self._known: dict[str, tuple[Scope, Mapping[str, ClassSource]]] = {}

    @remembered
    def class_of(self, qualified: str) -> tuple[SourceFile, ClassSource] | None:
        """The class statement of a resolved name, with its file; None for a class outside the run."""
        module, _, name = qualified.rpartition(".")
        file = self.find(module) if module else None
        if file is None:
            # The name of a class in a class: what stands before its last dot is no module.
            file, name = self.locate(qualified) or (None, "")
        cls = self._of(file)[1].get(name) if file is not None else None
        return None if file is None or cls is None else (file, cls)

    def locate(self, qualified: str) -> tuple[SourceFile, str] | None:
        """The file with the longest module name that the name starts with, and the rest of the name."""
        parts = qualified.split(".")
        for length in range(len(parts) - 1, 0, -1):
            file = self.find(".".join(parts[:length]))
            if file is not None:
                return file, ".".join(parts[length:])
        return None

    def meaning(self, name: str, file: SourceFile) -> str:
        """The resolved name for a name as written in a file."""
        return self.resolve(self._of(file)[0].resolve(name))

    def resolve(self, qualified: str) -> str:
        """The qualified name of the definition. It follows reexports and plain aliases (`Points = Batch`)."""
        return self._followed(qualified, as_object=False)

    def object(self, qualified: str) -> str:
        """The qualified name of the object that a name is when the program runs.

        It differs from `resolve` for `Ids = "Tensor"` and `Ids = NewType("Ids", Tensor)`: as a type both are Tensor, but the
        objects are a string and a NewType.
        """
        return self._followed(qualified, as_object=True)

    def _followed(self, qualified: str, as_object: bool) -> str:
        """Where the imports and aliases lead. A name that leads in a circle, or to ever longer names, stays where that shows."""
        seen: set[str] = set()
        current = qualified
        while current not in seen:
            if len(seen) > _LONGEST_CHAIN:
                return qualified
            seen.add(current)
            current = self._step(current, as_object=as_object) or current
        return current

    def expand(self, type: TypeExpr, within: frozenset[str] = frozenset()) -> TypeExpr:
        """The type with resolved names, and with aliases and bounded type variables expanded. Its text stays as written.

        `within` are the aliases that are being expanded. A recursive one may hold anything in itself.
        """
        name = self.resolve(type.name)
        if name in within:
            return replace(type, name="typing.Any", args=())
        if self._is_tensor_class(name, frozenset()):
            return replace(type, name="torch.Tensor", args=())
        alternatives = self.alternatives(name)
        meaning = self._meaning(name) if alternatives is None else None
        arguments = tuple(self._argument(name, i, argument, within) for i, argument in enumerate(type.args))
        if alternatives is not None:
            expanded = self._agreed(alternatives, within | {name})
        elif meaning is not None:
            expanded = self.expand(self._filled(meaning, arguments), within | {name})
        elif name == "|":
            expanded = union(tuple(argument for argument in arguments if isinstance(argument, TypeExpr)))
        else:
            expanded = TypeExpr(name, arguments)
        return replace(expanded, text=type.text, place=type.place, names=type.names)

    def _of(self, file: SourceFile) -> tuple[Scope, Mapping[str, ClassSource]]:
        """The scope of a file, and its classes by name."""
        known = self._known.get(file.module)
        if known is None:
            classes = {cls.qualname: cls for cls in file.classes}
            scope = Scope(file.module, file.is_package, file.imports, file.names, frozenset(classes))
            known = self._known[file.module] = (scope, classes)
        return known

    def alternatives(self, name: str) -> tuple[TypeExpr, ...] | None:
        """The meanings of a name that is bound in several ways, or in a way that the text does not show; otherwise None."""
        located = self.locate(name)
        if located is None:
            return None
        file, rest = located
        # What is inside a thing with several meanings has several, too.
        return file.alternatives.get(rest) or file.alternatives.get(rest.partition(".")[0])

    def nested_bases(self, qualified: str) -> tuple[TypeExpr, ...] | None:
        """The bases of a class inside a class of the run, by its resolved name; None for any other name."""
        located = self.locate(qualified)
        return None if located is None else located[0].nested.get(located[1])

    def _agreed(self, alternatives: tuple[TypeExpr, ...], within: frozenset[str]) -> TypeExpr:
        """The meaning that all alternatives have; the type that nobody knows if they differ."""
        found = {self.expand(alternative, within) for alternative in alternatives}
        return next(iter(found)) if len(found) == 1 else TypeExpr(DYNAMIC)

    def _filled(self, meaning: TypeExpr, arguments: tuple[TypeExpr | str, ...]) -> TypeExpr:
        """The type of a generic alias, with its type variables replaced by the arguments in brackets."""
        if not arguments:
            return meaning
        # Python numbers the variables of an alias by their first appearance.
        variables = [found for found in dict.fromkeys(map(self.resolve, meaning.mentioned)) if self._is_variable(found)]
        values = dict(zip(variables, arguments, strict=False))  # a wrong number of arguments raises when the file runs
        return self._substituted(meaning, values) if values else meaning

    def _substituted(self, type: TypeExpr, values: Mapping[str, TypeExpr | str]) -> TypeExpr:
        found = values.get(self.resolve(type.name))
        if isinstance(found, TypeExpr):
            return found
        arguments = tuple(self._substituted(arg, values) if isinstance(arg, TypeExpr) else arg for arg in type.args)
        return replace(type, args=arguments)

    def _is_variable(self, name: str) -> bool:
        located = self.locate(name)
        return located is not None and located[1] in located[0].type_variables

    def _is_tensor_class(self, name: str, below: frozenset[str]) -> bool:
        """True if a class of the run derives from `torch.Tensor`."""
        found = self.class_of(name)
        if found is None or name in below:
            return False
        bases = [TypeExpr(self.resolve(base.name)) for base in found[1].bases]
        return any(is_tensor(base) or self._is_tensor_class(base.name, below | {name}) for base in bases)

    def _step(self, qualified: str, *, as_object: bool = False) -> str | None:
        """Follow one import or alias; None if the name is defined there, or is outside the run."""
        located = self.locate(qualified)
        if located is None:
            return None
        file, rest = located
        if qualified != f"{file.module}.{rest}":  # by its generated module, `shop.model_qten.Batch`
            return f"{file.module}.{rest}"
        head, _, tail = rest.partition(".")
        own = _alias(file, rest, as_object)
        if tail and own is not None and not own.args and "." in own.name:  # an alias in a class body: `Batch.Own`
            return own.name
        scope, classes = self._of(file)
        if head in classes:
            return None
        if head in file.imports:
            found = scope.resolve(rest)
            # After `from .pool import pool`, the name `package.pool.size` is in the module, which is not in the run.
            return None if tail and found.startswith(f"{file.module}.{head}.") else found
        alias = _alias(file, head, as_object)
        # A name without a module is bound nowhere, and a type with arguments, as in `Ids = Int[Tensor, "b"]`, is no other name.
        if alias is not None and not alias.args and "." in alias.name:
            return f"{alias.name}.{tail}" if tail else alias.name
        return None

    def _meaning(self, name: str) -> TypeExpr | None:
        """The type of an alias, or the bound of a type variable. An unbound variable stands for any type."""
        located = self.locate(name)
        if located is None:
            return None
        file, rest = located
        if rest in file.type_variables:
            return file.type_variables[rest].bound or TypeExpr("typing.Any")
        alias = file.aliases.get(rest)
        return alias if alias is not None and alias.name != name else None

    def _argument(self, outer: str, position: int, argument: TypeExpr | str, within: frozenset[str]) -> TypeExpr | str:
        if isinstance(argument, str):
            return argument
        # `Float[Tensor, "b t"]`: the second one is a shape, and no type.
        if outer.startswith("jaxtyping.") and position == 1:
            return _text_of(argument)
        return self.expand(argument, within)


def _alias(file: SourceFile, name: str, as_object: bool) -> TypeExpr | None:
    """The type that a name of a file is an alias of; with `as_object`, only if it is bound to that very object."""
    return file.aliases.get(name) if not as_object or re.fullmatch(_NAME, file.constants.get(name, "")) else None


def _text_of(type: TypeExpr) -> TypeExpr | str:
    """The string of a shape that was read as a type, because the reader did not recognise a reexported jaxtyping name."""
    try:
        found: object = literal_eval(type.text)
    except (ValueError, SyntaxError):
        return type
    return found if isinstance(found, str) else type
