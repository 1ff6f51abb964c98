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
from .module.ties_and_dtypes import tied_parameter as tied_parameter
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
from .tensorclass.fields.dicts_and_lists import join_tensors as join_tensors
from .tensorclass.fields.dicts_and_lists import match_tensors as match_tensors
from .tensorclass.fields.dicts_and_lists import part_tensors as part_tensors
from .tensorclass.fields.dicts_and_lists import put_tensors as put_tensors
from .tensorclass.fields.dicts_and_lists import same_tensor as same_tensor
from .tensorclass.fields.dicts_and_lists import same_tensors as same_tensors
from .tensorclass.fields.dicts_and_lists import tensor_dict as tensor_dict
from .tensorclass.fields.dicts_and_lists import tensor_list as tensor_list
from .tensorclass.fields.dicts_and_lists import unbatched as unbatched
from .tensorclass.fields.dicts_and_lists import zip_tensors as zip_tensors
from .tensorclass.fields.per_item import join_items as join_items
from .tensorclass.fields.per_item import part_items as part_items
from .tensorclass.fields.per_item import per_item as per_item
from .tensorclass.fields.per_item import put_items as put_items
from .tensorclass.fields.per_item import rearrange_items as rearrange_items
from .tensorclass.fields.ragged import join_ragged as join_ragged
from .tensorclass.fields.ragged import part_ragged as part_ragged
from .tensorclass.fields.ragged import put_ragged as put_ragged
from .tensorclass.fields.ragged import ragged as ragged
from .tensorclass.fields.ragged import rearrange_ragged as rearrange_ragged
from .tensorclass.fields.ragged import zip_ragged as zip_ragged
