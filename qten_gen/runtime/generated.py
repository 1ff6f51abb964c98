"""What generated code calls, which it imports as `_rt`."""

from .declaring.loading import declared as declared
from .module.cached_virtual import cached_virtual as cached_virtual
from .module.containers import ModuleDict as ModuleDict
from .module.containers import ModuleList as ModuleList
from .module.fast_paths.construction import buffer as buffer
from .module.fast_paths.construction import child as child
from .module.fast_paths.construction import configure as configure
from .module.fast_paths.construction import initialise as initialise
from .module.fast_paths.construction import parameter as parameter
from .module.initialisation import ones_ as ones_
from .module.initialisation import zeros_ as zeros_
from .module.module import Module as Module
from .module.module_fields import bound as bound
from .module.module_fields import submodule as submodule
from .module.registered import registered as registered
from .module.registered import unregistered as unregistered
from .module.ties import tied as tied
from .module.virtual import virtual as virtual
from .tensorclass.core.construction import DEFAULT as DEFAULT
from .tensorclass.core.construction import default as default
from .tensorclass.core.devices import DeviceLike as DeviceLike
from .tensorclass.core.devices import device as device
from .tensorclass.core.locks import freeze_nested as freeze_nested
from .tensorclass.core.locks import frozen as frozen
from .tensorclass.core.locks import frozen_view as frozen_view
from .tensorclass.core.locks import lock as lock
from .tensorclass.core.locks import locked as locked
from .tensorclass.core.names import NamesLike as NamesLike
from .tensorclass.core.names import names as names
from .tensorclass.core.sizes import BatchSize as BatchSize
from .tensorclass.core.sizes import batch_size as batch_size
from .tensorclass.core.stored import FROZEN as FROZEN
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
from .tensorclass.fields.containers import join_tensors as join_tensors
from .tensorclass.fields.containers import match_tensors as match_tensors
from .tensorclass.fields.containers import part_tensors as part_tensors
from .tensorclass.fields.containers import put_tensors as put_tensors
from .tensorclass.fields.containers import same_tensors as same_tensors
from .tensorclass.fields.containers import tensor_dict as tensor_dict
from .tensorclass.fields.containers import tensor_list as tensor_list
from .tensorclass.fields.containers import zip_tensors as zip_tensors
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
from .tensorclass.fields.static import cast_static as cast
from .tensorclass.fields.static import same as same
from .tensorclass.fields.tensor import number as number
from .tensorclass.fields.tensor import tensor as tensor
from .tensorclass.fields.unbatched import same_tensor as same_tensor
from .tensorclass.fields.unbatched import unbatched as unbatched

__all__ = [
    "COMPLEX",
    "DEFAULT",
    "FLOAT",
    "FROZEN",
    "INEXACT",
    "INT",
    "INTEGER",
    "NUM",
    "REAL",
    "UINT",
    "BatchSize",
    "DeviceLike",
    "Module",
    "ModuleDict",
    "ModuleList",
    "NamesLike",
    "Stored",
    "batch_size",
    "bound",
    "buffer",
    "cached_virtual",
    "cast",
    "child",
    "configure",
    "declared",
    "default",
    "device",
    "fitting",
    "freeze_nested",
    "frozen",
    "frozen_view",
    "initialise",
    "join_items",
    "join_nested",
    "join_optional",
    "join_tensors",
    "lock",
    "locked",
    "match_nested",
    "match_optional",
    "match_tensors",
    "names",
    "nested",
    "number",
    "ones_",
    "parameter",
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
    "refuse_shapes",
    "registered",
    "same",
    "same_tensor",
    "same_tensors",
    "shaped",
    "submodule",
    "tensor",
    "tensor_dict",
    "tensor_list",
    "tied",
    "unbatched",
    "unregistered",
    "virtual",
    "zeros_",
    "zip_nested",
    "zip_optional",
    "zip_tensors",
]
