"""A module that decides what is generated cannot be found.

The text of a class does not say whether it is a declaration if the module of its base cannot be found, or can be found and not
read. So nothing is generated for the file, and nothing that was generated before is removed. The rule reports classes that use
specifiers, and classes that something was generated for. It also reports a field if its class was a TensorClass when the file was
generated.

qten-gen looks for a module as Python does: beside the file and below its source roots, in the project's folder, and in the
libraries of the environment that it runs in, which it reads as text. Run it in the environment of your program, or name that in
the settings.
"""

from ..model.diagnostics import UNRESOLVED_IMPORT

KIND = UNRESOLVED_IMPORT

EXAMPLE = """
-# the library shop_models is not installed where qten-gen runs
-from qten_gen import param
-from shop_models.nets import Net
-from torch import nn
-
-
-class Wider(Net):
-          ^^^
-    scale: nn.Parameter = param("width", initializer=nn.init.ones_)
+# pyproject.toml: where the libraries of the program are installed
+[tool.qten-gen]
+environment = ".venv"
"""
