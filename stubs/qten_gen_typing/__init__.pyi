"""Types that exist for type checkers only: the face of what the runtime makes from tables, and of generated storage."""

from .as_tensor import AsTensorField as AsTensorField
from .attributes import AssignsNoOther as AssignsNoOther
from .attributes import NoOtherAttribute as NoOtherAttribute
from .calls import DeclaredCall as DeclaredCall
from .containers import DictOf as DictOf
from .containers import ListOf as ListOf
from .containers import Member as Member
from .containers import SequenceOf as SequenceOf
from .operations import Operations as Operations
from .per_item import PerItemField as PerItemField
from .ragged import RaggedField as RaggedField
from .slots import BatchSizeField as BatchSizeField
from .slots import DeviceField as DeviceField
from .slots import LockField as LockField
from .slots import NamesField as NamesField
from .specifiers import BufferOptions as BufferOptions
from .specifiers import ParameterOptions as ParameterOptions
from .specifiers import ParametersOptions as ParametersOptions

__all__ = [
    "AsTensorField",
    "AssignsNoOther",
    "BatchSizeField",
    "BufferOptions",
    "DeclaredCall",
    "DeviceField",
    "DictOf",
    "ListOf",
    "LockField",
    "Member",
    "NamesField",
    "NoOtherAttribute",
    "Operations",
    "ParameterOptions",
    "ParametersOptions",
    "PerItemField",
    "RaggedField",
    "SequenceOf",
]
