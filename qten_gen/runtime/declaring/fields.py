"""Field specifiers: what stands on the right of a field in a declaration.

To a type checker each call has the type of the attribute that it declares, so `param(...)` is an `nn.Parameter`. At run time
it returns a record of its arguments; the metaclass takes the records out of the class and keeps those of a Module in
`_specifiers`. `__specifier_call__` of a record tells `reflection` what was called (see `common.fingerprint_rows`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING
from typing import Any, NamedTuple, TypeVar, cast, overload

from ...common import language
from ...common.fingerprint_rows import RecordedCall

T = TypeVar("T")

Names = str | tuple[str, ...]
"""The names of several children or parameters, or the config field that contains them."""

Dimension = int | str
"""A size: a number, or an expression over config fields such as `"3*dim"`."""


def keywords_in(record: Any, *positional: str) -> dict[str, object]:
    """The keywords that a specifier was called with, from its named tuple (a type that mypy has no name for).

    None, and `keep_dtype=False`, stand for an argument that was left out. A switch that is None is kept: a rule reports it.
    """
    found: dict[str, object] = {
        name: value
        for name, value in record._asdict().items()
        if name not in positional and (value is not None or name in language.SPECIFIER_SWITCHES)
    }
    if found.get(language.KEEP_DTYPE) is False:
        del found[language.KEEP_DTYPE]
    return found


def refuse_misplaced(cls: type, name: str, specifier: str) -> None:
    """Refuse a specifier in a class that is no declaration.

    A record's `__set_name__` calls it, and Python that in those only: the metaclass of a declaration takes the record out before.

    Raises:
        DeclarationError: always.
    """
    from . import generator

    generator.refuse_specifier(cls, name, specifier)


class Field(NamedTuple):
    """Arguments of `field`. `default` is `dataclasses.MISSING` where none is given."""

    default: object = MISSING
    default_factory: Callable[[], object] | None = None
    kw_only: bool = False
    unknown: tuple[tuple[str, object], ...] = ()
    """Arguments of `dataclasses.field` that `field` does not take, which a rule reports."""
    alias: str | None = None

    def __specifier_call__(self) -> RecordedCall:
        kwargs: dict[str, object] = {"kw_only": self.kw_only, **dict(self.unknown)}
        if self.alias is not None:
            kwargs["alias"] = self.alias
        if self.default_factory is not None:
            kwargs["default_factory"] = self.default_factory
        elif self.default is not MISSING:
            kwargs["default"] = self.default
        return RecordedCall(language.FIELD, kwargs=kwargs)

    def __set_name__(self, owner: type, name: str) -> None:
        refuse_misplaced(owner, name, language.FIELD)


class Const(NamedTuple):
    """The argument of `const`."""

    value: object

    def __specifier_call__(self) -> RecordedCall:
        return RecordedCall(language.CONST, (self.value,))


class Default(NamedTuple):
    """The default of a constructor argument: a value, or a function called for each instance."""

    value: object
    is_factory: bool = False


@overload
def field(*, default: T, kw_only: bool = False, alias: str | None = None) -> T: ...
@overload
def field(*, default_factory: Callable[[], T], kw_only: bool = False, alias: str | None = None) -> T: ...
@overload  # a field without default fits every annotation
def field(*, kw_only: bool = False, alias: str | None = None) -> Any: ...
def field(
    *,
    default: object = MISSING,
    default_factory: Callable[[], object] | None = None,
    kw_only: bool = False,
    alias: str | None = None,
) -> object:
    """A constructor argument with a default, a default factory, keyword only, or under another name; as in `dataclasses`.

    A factory is called for each instance. A tensor given as `default` is cloned for each instance.

    >>> class Run(Module):
    ...     tags: list[str] = field(default_factory=list)
    >>> Run().tags, Run(["first"]).tags
    ([], ['first'])

    With `alias`, the constructor of a Module takes the argument by that name, so that a child can have it:

    >>> class Net(Module):
    ...     norm_class: type[nn.Module] = field(default=nn.LayerNorm, alias="norm")
    ...     norm: nn.Module = submodule(choice("norm_class"), 2)
    >>> Net(norm=nn.RMSNorm).norm
    RMSNorm((2,), eps=None, elementwise_affine=True)

    Raises:
        TypeError: both a default and a factory are given.
    """
    if default is not MISSING and default_factory is not None:
        raise TypeError("field() takes default= or default_factory=, not both")
    return Field(default, default_factory, kw_only, alias=alias)


def const(value: T) -> T:
    """A string argument of `submodule` that is not a dimension expression: `const("circular")`.

    >>> class Net(Module):
    ...     conv: nn.Conv1d = submodule(nn.Conv1d, 2, 2, 3, padding_mode=const("circular"))
    >>> Net().conv.padding_mode
    'circular'
    """
    return value if isinstance(value, Const) else cast(T, Const(value))


def constructor_argument(*, default: T, kw_only: bool, alias: str) -> T:
    """For type checkers only: an argument of every generated constructor, under another name than its attribute's."""
    raise NotImplementedError
