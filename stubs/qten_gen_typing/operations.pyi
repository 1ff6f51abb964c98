from .arithmetic import Arithmetic
from .arranging import Arranging
from .copying import Copying
from .operators import Operators
from .reductions import Reductions

class Operations(Operators, Arithmetic, Reductions, Arranging, Copying):
    """The methods of the table in `qten_gen.runtime.tensorclass.operations`."""
