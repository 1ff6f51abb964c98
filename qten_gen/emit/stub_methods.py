"""The methods that the stub of a class has in any case."""

from __future__ import annotations

from ..model import Declaration, TensorClassDecl

_OF_TENSORCLASS = frozenset("from_dict get get_at replace select exclude set set_ set_at_ update".split())
_OF_MODULE = frozenset("config from_config get_buffer get_parameter get_submodule state_dict".split())


def methods_of_stub(declaration: Declaration) -> frozenset[str]:
    """Their names: in the body of the class they mean nothing else."""
    return _OF_TENSORCLASS if isinstance(declaration, TensorClassDecl) else _OF_MODULE
