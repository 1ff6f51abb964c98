from .arithmetic import Arithmetic
from .arranging import Arranging
from .conversion import Conversion
from .copying import Copying
from .fields import Fields
from .interop import Interop
from .operators import Operators
from .processes import Processes
from .reductions import Reductions
from .storage import Storage
from .writing import Writing

class Operations(
    Fields, Writing, Conversion, Interop, Storage, Processes, Operators, Arithmetic, Reductions, Arranging, Copying
):
    """The methods of the table in `qten_gen.runtime.tensorclass.operations`, and those that are functions of other files."""
