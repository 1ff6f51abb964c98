"""The file is not valid Python.

Without a syntax tree, qten-gen cannot know what the file declares. It generates nothing for the file and leaves the files
generated earlier as they are. The message and position are those of the Python that runs qten-gen.
Its parser stops at the first error, so one is reported for each file.
"""

from ..model.diagnostics import SYNTAX_ERROR

KIND = SYNTAX_ERROR

EXAMPLE = """
 from qten_gen import TensorClass
 from torch import Tensor


-class Batch(TensorClass)
-                        ^
+class Batch(TensorClass):
     tokens: Tensor
"""
