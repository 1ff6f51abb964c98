"""Types that exist for type checkers only: the face of what the runtime makes from tables, and of generated storage."""

from .attributes import AssignsNoOther as AssignsNoOther
from .attributes import NoOtherAttribute as NoOtherAttribute
from .calls import DeclaredCall as DeclaredCall
from .calls import ExactCall as ExactCall
from .frozen import Frozen as Frozen
from .keyed import KeyedModules as KeyedModules
from .keyed import KeyedParameters as KeyedParameters
from .keyed import KeyedState as KeyedState
from .keyed import Listed as Listed
from .keyed import StackedGet as StackedGet
from .operations import Operations as Operations
from .per_item import PerItemField as PerItemField
from .per_item import PerItemInput as PerItemInput
from .slots import BatchSizeField as BatchSizeField
from .slots import Default as Default
from .slots import Destination as Destination
from .slots import DeviceField as DeviceField
from .slots import LockField as LockField
from .slots import NamesField as NamesField
from .slots import Slot as Slot

__all__ = [
    "AssignsNoOther",
    "BatchSizeField",
    "DeclaredCall",
    "Default",
    "Destination",
    "DeviceField",
    "ExactCall",
    "Frozen",
    "KeyedModules",
    "KeyedParameters",
    "KeyedState",
    "Listed",
    "LockField",
    "NamesField",
    "NoOtherAttribute",
    "Operations",
    "PerItemField",
    "PerItemInput",
    "Slot",
    "StackedGet",
]
