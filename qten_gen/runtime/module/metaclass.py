"""The metaclass of Module: bases for assignment, and where virtual tensors stand."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import Signature, signature
from itertools import islice
from typing import TYPE_CHECKING, ParamSpec, TypeVar, cast, dataclass_transform

from torch import nn

from ...common import language
from ...common.fingerprint_rows import attributes, recorded_call
from ...common.naming import REFERENCE
from ..declaring.metaclass import DeclarationMeta
from .module_base import REMAKING, ModuleBase, any_on_meta, with_plain_parts

if TYPE_CHECKING:
    from dataclasses import field as dataclass_field

    from ..declaring.children import sequential, submodule
    from ..declaring.declared_class import Summary
    from ..declaring.derived import derived, virtual
    from ..declaring.fields import buffer, constructor_argument, field, param
else:
    # Checkers alone ask for the functions of declarations, whose files a program loads when it calls them.
    buffer = constructor_argument = dataclass_field = derived = field = param = sequential = submodule = virtual = None

P = ParamSpec("P")
R = TypeVar("R")


@dataclass_transform(
    field_specifiers=(
        field,
        dataclass_field,
        param,
        buffer,
        submodule,
        sequential,
        virtual,
        derived,
        constructor_argument,
    ),
    eq_default=False,
)
class ModuleMeta(DeclarationMeta):
    """Metaclass of Module."""

    _known_options = (language.INIT,)

    if TYPE_CHECKING:
        # Checkers hold the keywords of a class statement against this.
        def __new__(
            mcls, name: str, bases: tuple[type, ...], namespace: dict[str, object], /, *, init: bool = True
        ) -> ModuleMeta: ...

    else:

        def __call__(cls, /, *args: object, **keywords: object) -> object:
            """Construct a module, explain what its constructor cannot compute, and watch its unsaved buffers on meta."""
            try:
                module = type.__call__(cls, *args, **keywords)
            except Exception as error:
                from .wrong_arguments import explained

                if (said := explained(cls, error)) is None:
                    raise
                raise said from error
            state = vars(module)
            if state.get("_modules") or state.get("_non_persistent_buffers_set") or cls._kept:
                _watch_on_meta(module)
            return module

        @property
        def __signature__(cls) -> Signature:
            """The signature of the constructor, which `inspect` would read from `__call__`."""
            try:  # `inspect` evaluates nothing in what it gets from here
                constructor = signature(cls.__init__, eval_str=True)
            except Exception:  # a type that only checkers import
                constructor = signature(cls.__init__)
            return constructor.replace(parameters=[*constructor.parameters.values()][1:])

    # To checkers the class is a function, so that they know the arguments of its constructor.
    def on_meta(cls: Callable[P, R], *args: P.args, **config: P.kwargs) -> R:
        """Construct a module on the meta device, with the constructor's own arguments: shapes and dtypes, and no memory.

        >>> linear = Linear.on_meta(1_000_000, 1_000_000)
        >>> linear.weight.device, linear.weight.shape
        (device(type='meta'), torch.Size([1000000, 1000000]))
        >>> Linear.on_meta(2, 3).materialize("cpu").weight.tolist()
        [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]

        The constructor runs under `torch.device("meta")`. What it makes on a device that it names is real, and stays so.

        Raises:
            TypeError: the constructor does not take these arguments, or `device` is given and not meta.
        """
        from ...large_models.materializing.constructing import construct_on_meta

        return construct_on_meta(cls, args, config)

    @staticmethod
    def _mixins(summary: Summary, bases: tuple[type, ...]) -> tuple[type, ...]:
        """Classes that write their own `__init__` register by assignment, and have bases for that; so have those with ties."""
        declared = next(base for base in bases if issubclass(base, ModuleBase))
        mixins = declared._own_init_mixins if summary.custom_init else ()
        if _given(summary, "tie"):
            from .ties import TiedModule

            mixins = (*mixins, TiedModule)
        return tuple(mixin for mixin in mixins if not any(issubclass(base, mixin) for base in bases))

    @staticmethod
    def _separated(bases: tuple[type, ...]) -> tuple[type, ...]:
        """The bases, with `_PlainConstruction` where a generated constructor stands behind a class of another library."""
        declared = next(index for index, base in enumerate(bases) if issubclass(base, ModuleBase))
        init = next((each for each in bases[declared].__mro__ if "__init__" in vars(each)), object)
        is_behind = any(map(_is_foreign, bases[:declared])) and _is_generated(init)
        if not is_behind or any(issubclass(base, _PlainConstruction) for base in bases):
            return bases
        return (*bases[:declared], _PlainConstruction, *bases[declared:])

    def _complete_class(cls) -> None:
        made = cast("type[ModuleBase]", cls)
        _keep_device(made)
        _fill_tables(made, cls._declared_as)
        _place_properties(made, cls._declared_as)
        made._declared_reset = getattr(cls, "reset_parameters", None)


def _fill_tables(cls: type[ModuleBase], summary: Summary) -> None:
    """Fill in the tables that `ModuleBase` describes."""
    tables: dict[str, object] = {"_writes_init": summary.custom_init, "_kept": (*_given(summary, language.KEEP_DTYPE),)}
    # An empty table is set too: the parent's may name fields that this class declares anew.
    for table, attribute in (("_aliases", "alias"), ("_tied", "tie"), ("_groups", "group")):
        tables[table] = _given(summary, attribute)
    if not summary.custom_init:
        tables["_config"] = tuple(field.name for field in summary.fields if field.argument is not None)
    hidden = [field.name for field in summary.fields if isinstance(getattr(cls, field.name, None), property)]
    if hidden:  # `torch.jit.script` finds what these read in the registries
        tables["__jit_unused_properties__"] = hidden
    for name, filled in tables.items():
        setattr(cls, name, filled)
    if cls._dtype_device_source == REFERENCE:
        ModuleBase._follows = True


def _place_properties(cls: type[ModuleBase], summary: Summary) -> None:
    """Give the class itself the properties that do more than read a registry, in place of the generated class's.

    A virtual tensor moves to the class because `super()` in its function must reach the parent's, and not its own.
    """
    ties = _given(summary, "tie")
    generated = next(base for base in cls.__bases__ if "_fingerprint" in vars(base))
    makes_unsaved = False
    for name, value in list(vars(generated).items()):
        call = recorded_call(cls._specifiers.get(name))
        if call is not None and call.name == language.VIRTUAL:
            setattr(cls, name, value)
            delattr(generated, name)
        elif call is not None and call.name == language.BUFFER and call.kwargs.get("persistent") is False:
            from .unsaved_buffers import unsaved

            setattr(cls, name, unsaved(name, value.__doc__ or ""))
            makes_unsaved = True
        elif name in ties:
            from .ties import tied

            setattr(cls, name, tied(str(ties[name]), name, value.__doc__ or ""))
    for each in (generated, cls) if makes_unsaved else (cls,):  # a class's own code may register others
        for name in vars(each).keys() & REMAKING:
            setattr(each, name, _noting(vars(each)[name]))


def _watch_on_meta(module: ModuleBase) -> None:
    """Watch a new module that has unsaved buffers or kept dtypes on meta, and the plain modules in it."""
    for part in with_plain_parts(module):
        unsaved = part._buffers.values() if part._non_persistent_buffers_set else ()
        kept = part.parameters() if part is module and type(module)._kept else ()
        if any_on_meta(unsaved) or any_on_meta(islice(kept, 1)):
            from .unsaved_buffers import watch, written_elsewhere

            watch(part, written_elsewhere(part))


def _noting(method: Callable[..., None]) -> Callable[..., None]:
    """A method that runs again when unsaved buffers are made again, and notes how it leaves those on meta."""

    @wraps(method)
    def noting(self: ModuleBase, /, *args: object, **keywords: object) -> None:
        method(self, *args, **keywords)
        if self._non_persistent_buffers_set and any_on_meta(self._buffers.values()):
            from .unsaved_buffers import watch

            watch(self)

    return noting


def _given(summary: Summary, attribute: str) -> dict[str, object]:
    """The values of an attribute that few fields have, such as `alias`, by the name of the field."""
    rows = ((field.name, attributes(field.row)) for field in summary.fields)
    return {name: row[attribute] for name, row in rows if attribute in row}


def _keep_device(cls: type[ModuleBase]) -> None:
    """Give a class the `device` of a base from another library, such as LightningModule, whose methods expect a torch.device."""
    definer = next((base for base in cls.__mro__ if "device" in vars(base)), None)
    if definer is None or definer.__module__.partition(".")[0] != "qten_gen":
        return
    foreign = [base for base in cls.__mro__ if _is_foreign(base)]
    of = next((of for base in foreign for of in base.__mro__ if "device" in vars(of)), None)
    if of is not None:  # such as a mixin of PreTrainedModel, which stands behind Module
        type.__setattr__(cls, "device", vars(of)["device"])


class _PlainConstruction:
    """Stands behind a base from another library before a declared one: `class Embedding(nn.Embedding, Base)`.

    The layer's `super().__init__()` continues behind it, so it would reach the constructor that is generated for `Base`. That one
    knows nothing of the layer: it would want the arguments of `Base`, or initialise parameters that do not exist yet. The
    constructor that is wanted is the one of the class itself, which runs already.
    """

    def __init__(self, *args: object, **keywords: object) -> None:
        order = type(self).__mro__
        behind = order[order.index(_PlainConstruction) + 1 :]
        init = next(vars(base)["__init__"] for base in behind if "__init__" in vars(base) and not _is_generated(base))
        init(self, *args, **keywords)


def _is_generated(base: type) -> bool:
    return "_fingerprint" in vars(base)


def _is_foreign(base: type) -> bool:
    return issubclass(base, nn.Module) and not issubclass(base, ModuleBase) and base is not nn.Module
