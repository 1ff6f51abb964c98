"""The functions that generated code calls for features that few classes have, which it imports as `_features`.

A generated module imports it only if one of its classes has such a feature.
"""

from .module.construction import chosen as chosen
from .module.construction import failed_check as failed_check
from .module.initialisation import forget_fresh as forget_fresh
from .module.initialisation import placed as placed
from .module.initialisation import recompute as recompute
from .module.initialisation import register_parameter_value as register_parameter_value
from .module.initialisation import register_parameters as register_parameters
from .module.initialisation import register_value as register_value
from .module.ties import tied_parameter as tied_parameter
from .module.virtual_tensors import cached_virtual as cached_virtual
from .module.virtual_tensors import virtual as virtual
from .tensorclass.fields.annotated_shapes import COMPLEX as COMPLEX
from .tensorclass.fields.annotated_shapes import FLOAT as FLOAT
from .tensorclass.fields.annotated_shapes import INEXACT as INEXACT
from .tensorclass.fields.annotated_shapes import INT as INT
from .tensorclass.fields.annotated_shapes import INTEGER as INTEGER
from .tensorclass.fields.annotated_shapes import NUM as NUM
from .tensorclass.fields.annotated_shapes import REAL as REAL
from .tensorclass.fields.annotated_shapes import UINT as UINT
from .tensorclass.fields.annotated_shapes import fitting as fitting
from .tensorclass.fields.annotated_shapes import refuse_shapes as refuse_shapes
from .tensorclass.fields.annotated_shapes import shaped as shaped
from .tensorclass.fields.dicts_and_lists import tensor_dict as tensor_dict
from .tensorclass.fields.dicts_and_lists import tensor_list as tensor_list
from .tensorclass.fields.dicts_and_lists import unbatched as unbatched
from .tensorclass.fields.per_item import per_item as per_item
from .tensorclass.fields.ragged import ragged as ragged
