"""What generated code calls, which it imports as `_q`."""

from .declaring.loading import declared as declared
from .module.cached_virtual import cached_virtual as cached_virtual
from .module.construction import buffer as buffer
from .module.construction import child as child
from .module.construction import configure as configure
from .module.construction import initialise as initialise
from .module.construction import parameter as parameter
from .module.containers import ModuleDict as ModuleDict
from .module.containers import ModuleList as ModuleList
from .module.initialisation import ones_ as ones_
from .module.initialisation import zeros_ as zeros_
from .module.module import Module as Module
from .module.module_fields import bound as bound
from .module.module_fields import submodule as submodule
from .module.registered import registered as registered
from .module.registered import unregistered as unregistered
from .module.ties import tied as tied
from .module.virtual import virtual as virtual
from .tensorclass.array_checks import COMPLEX as COMPLEX
from .tensorclass.array_checks import FLOAT as FLOAT
from .tensorclass.array_checks import INEXACT as INEXACT
from .tensorclass.array_checks import INT as INT
from .tensorclass.array_checks import INTEGER as INTEGER
from .tensorclass.array_checks import NUM as NUM
from .tensorclass.array_checks import REAL as REAL
from .tensorclass.array_checks import UINT as UINT
from .tensorclass.array_checks import fitting as fitting
from .tensorclass.array_checks import refuse_shapes as refuse_shapes
from .tensorclass.array_checks import shaped as shaped
from .tensorclass.checks import DEFAULT as DEFAULT
from .tensorclass.checks import BatchSize as BatchSize
from .tensorclass.checks import DeviceLike as DeviceLike
from .tensorclass.checks import batch_size as batch_size
from .tensorclass.checks import cast_static as cast
from .tensorclass.checks import default as default
from .tensorclass.checks import device as device
from .tensorclass.checks import nested as nested
from .tensorclass.checks import number as number
from .tensorclass.checks import tensor as tensor
from .tensorclass.checks import unbatched as unbatched
from .tensorclass.containers import join_tensors as join_tensors
from .tensorclass.containers import match_tensors as match_tensors
from .tensorclass.containers import part_tensors as part_tensors
from .tensorclass.containers import put_tensors as put_tensors
from .tensorclass.containers import same_tensors as same_tensors
from .tensorclass.containers import tensor_dict as tensor_dict
from .tensorclass.containers import tensor_list as tensor_list
from .tensorclass.containers import zip_tensors as zip_tensors
from .tensorclass.joining import join_nested as join_nested
from .tensorclass.joining import join_optional as join_optional
from .tensorclass.joining import part_nested as part_nested
from .tensorclass.joining import part_optional as part_optional
from .tensorclass.joining import put_nested as put_nested
from .tensorclass.joining import put_optional as put_optional
from .tensorclass.joining import zip_nested as zip_nested
from .tensorclass.joining import zip_optional as zip_optional
from .tensorclass.locks import FROZEN as FROZEN
from .tensorclass.locks import frozen as frozen
from .tensorclass.locks import held as held
from .tensorclass.locks import lock as lock
from .tensorclass.locks import locked as locked
from .tensorclass.locks import seal as seal
from .tensorclass.names import NamesLike as NamesLike
from .tensorclass.names import names as names
from .tensorclass.per_item import join_items as join_items
from .tensorclass.per_item import part_items as part_items
from .tensorclass.per_item import per_item as per_item
from .tensorclass.per_item import put_items as put_items
from .tensorclass.per_item import rearrange_items as rearrange_items
from .tensorclass.static import match_nested as match_nested
from .tensorclass.static import match_optional as match_optional
from .tensorclass.static import same as same
from .tensorclass.static import same_tensor as same_tensor

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
    "frozen",
    "held",
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
    "seal",
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
