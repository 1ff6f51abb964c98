"""A key of the settings was renamed. Whoever fills the constructor drops what it does not know (Primus#952)."""

import inspect
from typing import Any

import jsonschema

from qten_gen import Module

PLAIN = ""
OURS = "Additional properties are not allowed ('aux_loss_coeff' was unexpected)"
SETTINGS = {"experts": 8, "aux_loss_coeff": 0.01}


class Router(Module):
    experts: int
    balance: float = 0.0


def plain() -> None:
    known = inspect.signature(Router).parameters
    Router(**{name: value for name, value in SETTINGS.items() if name in known})  # type: ignore[arg-type] # of settings


def ours() -> str:
    validator = jsonschema.Draft202012Validator(Router.config_schema())
    settings: Any = SETTINGS  # which the types of jsonschema do not take
    return str(next(validator.iter_errors(settings)).message)
