"""The name of a file is no module name.

Generated code belongs to a module that other modules import. A file such as `my-model.py` can be run but not imported.
"""

from ..model.diagnostics import UNIMPORTABLE_FILE

KIND = UNIMPORTABLE_FILE

GOOD = """
# src/shop/my_model.py
"""

BAD = """
# src/shop/my-model.py
"""
