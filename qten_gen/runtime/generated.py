"""What generated code calls, which it imports as `_rt`."""

from typing import TYPE_CHECKING

from .declaring.containers import ModuleDict as ModuleDict
from .declaring.containers import ModuleList as ModuleList
from .declaring.containers import Sequential as Sequential
from .declaring.loading import declared as declared
from .module.checks import failed_check as failed_check
from .module.choices import chosen as chosen
from .module.computed_values import forget_fresh as forget_fresh
from .module.computed_values import recompute as recompute
from .module.computed_values import register_parameter_value as register_parameter_value
from .module.computed_values import register_parameters as register_parameters
from .module.computed_values import register_value as register_value
from .module.construction import construct as construct
from .module.construction import from_declaration as from_declaration
from .module.core.registered_properties import registered as registered
from .module.core.registered_properties import unregistered as unregistered
from .module.fast_paths.initialisation import ones_ as ones_
from .module.fast_paths.initialisation import zeros_ as zeros_
from .module.fast_paths.registration import init_module as init_module
from .module.fast_paths.registration import register_buffer as register_buffer
from .module.fast_paths.registration import register_module as register_module
from .module.fast_paths.registration import register_parameter as register_parameter
from .module.fast_paths.registration import set_attributes as set_attributes
from .module.initialisation import check_filled as check_filled
from .module.initialisation import fill as fill
from .module.initialisation import mark_unfilled as mark_unfilled
from .module.tied_parameters import tied_parameter as tied_parameter
from .module.virtual_cache import cached_virtual as cached_virtual
from .module.virtual_tensors import virtual as virtual
from .tensorclass.core.arguments import Device as Device
from .tensorclass.core.arguments import batch_arguments as batch_arguments
from .tensorclass.core.construction import DEFAULT as DEFAULT
from .tensorclass.core.construction import default as default
from .tensorclass.core.devices import DeviceLike as DeviceLike
from .tensorclass.core.devices import device as device
from .tensorclass.core.locks import frozen as frozen
from .tensorclass.core.locks import frozen_view as frozen_view
from .tensorclass.core.locks import lock as lock
from .tensorclass.core.locks import locked as locked
from .tensorclass.core.names import Names as Names
from .tensorclass.core.names import NamesLike as NamesLike
from .tensorclass.core.names import names as names
from .tensorclass.core.sizes import BatchSize as BatchSize
from .tensorclass.core.sizes import batch_size as batch_size
from .tensorclass.core.stored import FROZEN as FROZEN
from .tensorclass.core.stored import Splitting as Splitting
from .tensorclass.core.stored import Stored as Stored
from .tensorclass.fields.annotated_shapes import COMPLEX as COMPLEX
from .tensorclass.fields.annotated_shapes import FLOAT as FLOAT
from .tensorclass.fields.annotated_shapes import INEXACT as INEXACT
from .tensorclass.fields.annotated_shapes import INT as INT
from .tensorclass.fields.annotated_shapes import INTEGER as INTEGER
from .tensorclass.fields.annotated_shapes import NUM as NUM
from .tensorclass.fields.annotated_shapes import REAL as REAL
from .tensorclass.fields.annotated_shapes import UINT as UINT
from .tensorclass.fields.annotated_shapes import fitting as fitting
from .tensorclass.fields.annotated_shapes import refuse_shapes as refuse_shapes
from .tensorclass.fields.annotated_shapes import shaped as shaped
from .tensorclass.fields.collections import held as held
from .tensorclass.fields.containers import join_tensors as join_tensors
from .tensorclass.fields.containers import match_tensors as match_tensors
from .tensorclass.fields.containers import part_tensors as part_tensors
from .tensorclass.fields.containers import put_tensors as put_tensors
from .tensorclass.fields.containers import same_tensors as same_tensors
from .tensorclass.fields.containers import tensor_dict as tensor_dict
from .tensorclass.fields.containers import tensor_list as tensor_list
from .tensorclass.fields.containers import zip_tensors as zip_tensors
from .tensorclass.fields.entries import collection as collection
from .tensorclass.fields.entries import entries as entries
from .tensorclass.fields.entries import requires_grad as requires_grad
from .tensorclass.fields.nested import join_nested as join_nested
from .tensorclass.fields.nested import match_nested as match_nested
from .tensorclass.fields.nested import nested as nested
from .tensorclass.fields.nested import part_nested as part_nested
from .tensorclass.fields.nested import put_nested as put_nested
from .tensorclass.fields.nested import zip_nested as zip_nested
from .tensorclass.fields.optional import join_optional as join_optional
from .tensorclass.fields.optional import match_optional as match_optional
from .tensorclass.fields.optional import part_optional as part_optional
from .tensorclass.fields.optional import put_optional as put_optional
from .tensorclass.fields.optional import zip_optional as zip_optional
from .tensorclass.fields.per_item import join_items as join_items
from .tensorclass.fields.per_item import part_items as part_items
from .tensorclass.fields.per_item import per_item as per_item
from .tensorclass.fields.per_item import put_items as put_items
from .tensorclass.fields.per_item import rearrange_items as rearrange_items
from .tensorclass.fields.static import PLAIN as PLAIN
from .tensorclass.fields.static import cast_static as cast
from .tensorclass.fields.static import same as same
from .tensorclass.fields.static import static as static
from .tensorclass.fields.tensor import checked_tensor as checked_tensor
from .tensorclass.fields.tensor import number as number
from .tensorclass.fields.tensor import tensor as tensor
from .tensorclass.fields.unbatched import same_tensor as same_tensor
from .tensorclass.fields.unbatched import unbatched as unbatched

if TYPE_CHECKING:
    from .module.core import module_base

    class ModuleBase(module_base.ModuleBase):
        """The base of a generated class, whose declared ancestors stand between the two when the program runs."""

        def reset_parameters(self) -> None:
            """What an ancestor does, if it has one: generated code calls it only then."""

else:
    from .module.core.module_base import ModuleBase

__all__ = [
    "COMPLEX",
    "DEFAULT",
    "FLOAT",
    "FROZEN",
    "INEXACT",
    "INT",
    "INTEGER",
    "NUM",
    "PLAIN",
    "REAL",
    "UINT",
    "BatchSize",
    "Device",
    "DeviceLike",
    "ModuleBase",
    "ModuleDict",
    "ModuleList",
    "Names",
    "NamesLike",
    "Sequential",
    "Splitting",
    "Stored",
    "batch_arguments",
    "batch_size",
    "cached_virtual",
    "cast",
    "check_filled",
    "checked_tensor",
    "chosen",
    "collection",
    "construct",
    "declared",
    "default",
    "device",
    "entries",
    "failed_check",
    "fill",
    "fitting",
    "forget_fresh",
    "from_declaration",
    "frozen",
    "frozen_view",
    "held",
    "init_module",
    "join_items",
    "join_nested",
    "join_optional",
    "join_tensors",
    "lock",
    "locked",
    "mark_unfilled",
    "match_nested",
    "match_optional",
    "match_tensors",
    "names",
    "nested",
    "number",
    "ones_",
    "part_items",
    "part_nested",
    "part_optional",
    "part_tensors",
    "per_item",
    "put_items",
    "put_nested",
    "put_optional",
    "put_tensors",
    "rearrange_items",
    "recompute",
    "refuse_shapes",
    "register_buffer",
    "register_module",
    "register_parameter",
    "register_parameter_value",
    "register_parameters",
    "register_value",
    "registered",
    "requires_grad",
    "same",
    "same_tensor",
    "same_tensors",
    "set_attributes",
    "shaped",
    "static",
    "tensor",
    "tensor_dict",
    "tensor_list",
    "tied_parameter",
    "unbatched",
    "unregistered",
    "virtual",
    "zeros_",
    "zip_nested",
    "zip_optional",
    "zip_tensors",
]
