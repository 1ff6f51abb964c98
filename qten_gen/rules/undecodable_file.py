"""The file cannot be decoded with its encoding.

Python reads a file as UTF-8 unless its first line names another encoding, and raises SyntaxError when it imports a file that
does not decode. qten-gen does not guess the encoding, because a wrong guess would change names and strings in the generated
code.
"""

from ..model.diagnostics import UNDECODABLE_FILE

KIND = UNDECODABLE_FILE

EXAMPLE = """
-# -*- coding: ascii -*-
+# -*- coding: utf-8 -*-
 from qten_gen import TensorClass
 from torch import Tensor


 class Batch(TensorClass):
     tokens: Tensor  # Übung
-                      ^
"""
