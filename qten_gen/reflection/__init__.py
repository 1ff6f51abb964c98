"""Class statement → declaration: the reader for classes that a running program makes, beside `read` and `link` for text.

The metaclass hands over what the statement bound (annotations, defaults, specifiers) before the class is made. Fields are built
by the functions that the other reader uses (`model.build_field`), so that both give equal declarations.
"""

from .read_class import read_module as read_module
from .read_class import read_tensorclass as read_tensorclass
from .statement import ClassStatement as ClassStatement
from .values import written_as as written_as
