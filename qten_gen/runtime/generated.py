"""The functions that the generated code of every class calls, which it imports as `_rt`: the kernel of the runtime.

What few classes need is in `generated_features.py`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

from .declaring.loading import declared as declared
from .module import init as init
from .module.module_base import buffer as buffer
from .module.module_base import parameter as parameter
from .module.module_base import submodule as submodule
from .module.registration import init_module as init_module
from .module.registration import new_buffer as new_buffer
from .module.registration import new_parameter as new_parameter
from .module.registration import set_attributes as set_attributes
from .tensorclass.core.construction import DEFAULT as DEFAULT
from .tensorclass.core.construction import DeviceLike as DeviceLike
from .tensorclass.core.construction import batch_arguments as batch_arguments
from .tensorclass.core.construction import default as default
from .tensorclass.core.dimension_names import NamesLike as NamesLike
from .tensorclass.core.locks import lock as lock
from .tensorclass.core.sizes import BatchSize as BatchSize
from .tensorclass.core.stored import Stored as Stored
from .tensorclass.fields.properties import field_property as field_property
from .tensorclass.fields.properties import frozen_property as frozen_property
from .tensorclass.fields.properties import optional_property as optional_property
from .tensorclass.fields.properties import tensor_property as tensor_property
from .tensorclass.fields.tensor import tensor as tensor

if TYPE_CHECKING:
    from .declaring.children import ModuleDict as ModuleDict
    from .declaring.children import ModuleList as ModuleList
    from .declaring.children import Sequential as Sequential
    from .module import module_base
    from .module.construction import construct as construct
    from .module.construction import from_declaration as from_declaration
    from .module.initialisation import check_filled as check_filled
    from .module.initialisation import fill as fill
    from .module.initialisation import mark_unfilled as mark_unfilled
    from .tensorclass.fields.nested import nested as nested
    from .tensorclass.fields.static import PLAIN as PLAIN
    from .tensorclass.fields.static import cast_static as cast_static
    from .tensorclass.fields.static import static as static
    from .tensorclass.fields.tensor import number as number
    from .tensorclass.ragged import Ragged as Ragged

    _V = TypeVar("_V")

    class _Registry(dict[str, Any]):
        """Tensors or children by name. What is read from it has the type that it is read for: only the declaration says it."""

        def __getitem__(self, name: str, /) -> _V: ...  # type: ignore[type-var] # the place where it is read says it

    class ModuleBase(module_base.ModuleBase):
        """The base of a generated class, whose declared ancestors stand between the two when the program runs."""

        _parameters: _Registry  # pyright: ignore[reportIncompatibleVariableOverride] # what is read may be narrower
        _buffers: _Registry  # pyright: ignore[reportIncompatibleVariableOverride] # as above
        _modules: _Registry  # pyright: ignore[reportIncompatibleVariableOverride] # as above

        def reset_parameters(self) -> None:
            """The method of an ancestor, if it has one: generated code calls it only then."""

else:
    from .module.module_base import ModuleBase as ModuleBase

    _LATE = {
        "declaring.children": "ModuleDict ModuleList Sequential",
        "module.initialisation": "check_filled fill mark_unfilled",
        "module.construction": "construct from_declaration",
        "tensorclass.fields.nested": "nested",
        "tensorclass.fields.tensor": "number",
        "tensorclass.ragged": "Ragged",
        "tensorclass.fields.static": "PLAIN cast_static static",
    }
    """What some kinds of fields and of modules call, by the file that is imported when generated code first names it."""
    _HOMES = {name: module for module, names in _LATE.items() for name in names.split()}

    def __getattr__(name: str) -> object:
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = globals()[name] = getattr(import_module(f"{__package__}.{_HOMES[name]}"), name)
        return value
