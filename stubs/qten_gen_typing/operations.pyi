from typing import Any

from torch.utils.data import Dataset

from .arithmetic import Arithmetic
from .arranging import Arranging
from .conversion import Conversion
from .copying import Copying
from .fields import Fields
from .operators import Operators
from .processes import Processes
from .reductions import Reductions
from .writing import Writing

class Operations(  # type: ignore[misc] # the `+` of a Dataset joins two of them
    Fields, Writing, Conversion, Processes, Operators, Arithmetic, Reductions, Arranging, Copying, Dataset[Any]
):
    """The methods of the table in `qten_gen.runtime.tensorclass.operations`, and those that are functions of other files.

    Objects have the items and the length that a DataLoader needs. Its signature asks for the class Dataset by name, which says no
    more; `Self` cannot be its argument.
    """
