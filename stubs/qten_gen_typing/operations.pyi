from .arranging import Arranging
from .conversion import Conversion
from .dtypes import Dtypes
from .fields import Fields
from .interop import Interop
from .numbers import Numbers
from .operators import Operators
from .processes import Processes
from .storage import Storage
from .writing import Writing

class Operations(Fields, Writing, Conversion, Interop, Storage, Processes, Operators, Numbers, Arranging, Dtypes):
    """The methods of the table in `qten_gen.runtime.tensorclass.operations`, and those that are functions of other files."""
