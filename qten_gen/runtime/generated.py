"""What generated code calls, which it imports as `_q`."""

from .checks import DEFAULT as DEFAULT
from .checks import BatchSize as BatchSize
from .checks import DeviceLike as DeviceLike
from .checks import batch_size as batch_size
from .checks import cast_static as cast
from .checks import default as default
from .checks import device as device
from .checks import frozen as frozen
from .checks import nested as nested
from .checks import number as number
from .checks import tensor as tensor
from .construction import buffer as buffer
from .construction import child as child
from .construction import configure as configure
from .construction import initialise as initialise
from .construction import parameter as parameter
from .containers import ModuleDict as ModuleDict
from .containers import ModuleList as ModuleList
from .initialisation import ones_ as ones_
from .initialisation import zeros_ as zeros_
from .joining import join_nested as join_nested
from .joining import join_optional as join_optional
from .joining import part_nested as part_nested
from .joining import part_optional as part_optional
from .joining import put_nested as put_nested
from .joining import put_optional as put_optional
from .joining import zip_nested as zip_nested
from .joining import zip_optional as zip_optional
from .loading import declared as declared
from .module import Module as Module
from .module_fields import bound as bound
from .module_fields import submodule as submodule
from .registered import registered as registered
from .registered import unregistered as unregistered
from .static import same as same
from .ties import tied as tied
from .virtual import cached_virtual as cached_virtual
from .virtual import virtual as virtual

__all__ = [
    "DEFAULT",
    "BatchSize",
    "DeviceLike",
    "Module",
    "ModuleDict",
    "ModuleList",
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
    "frozen",
    "initialise",
    "join_nested",
    "join_optional",
    "nested",
    "number",
    "ones_",
    "parameter",
    "part_nested",
    "part_optional",
    "put_nested",
    "put_optional",
    "registered",
    "same",
    "submodule",
    "tensor",
    "tied",
    "unregistered",
    "virtual",
    "zeros_",
    "zip_nested",
    "zip_optional",
]
