"""Reads declarations from class statements in a running program, as `read` and `link` do from text.

The metaclass passes the annotations, defaults and specifiers of the class body before it creates the class. Both readers build
fields with the functions in `model.build_field`, so their declarations are equal.
"""

from .read_class import class_source as class_source
from .read_class import mixins as mixins
from .read_class import read_module as read_module
from .read_class import read_tensorclass as read_tensorclass
from .specifiers import ClassStatement as ClassStatement
