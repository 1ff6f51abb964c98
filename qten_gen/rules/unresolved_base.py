"""A base class is not defined anywhere.

The bases of a class decide whether it is a declaration, and which fields it inherits. With a misspelt base, qten-gen would
generate nothing for the class, or leave out inherited fields, and the class statement would raise NameError or ImportError at
run time.

The rule reports a name that the file does not bind, and a name that the imported file does not define. qten-gen treats a base
from a file outside the run as a plain class.
"""

from ..model.diagnostics import UNRESOLVED_BASE

KIND = UNRESOLVED_BASE

EXAMPLE = """
 from qten_gen import TensorClass
 from torch import Tensor


 class Batch(TensorClass):
     tokens: Tensor


-class Marked(Bach):
-             ^^^^
+class Marked(Batch):
     mask: Tensor
"""
