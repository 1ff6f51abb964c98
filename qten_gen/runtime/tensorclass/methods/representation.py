"""The text of an object in `repr`."""

from __future__ import annotations

from reprlib import recursive_repr

from torch import Size, Tensor

from ..core.contents import contents
from ..core.stored import Stored


@recursive_repr()
def show(self: Stored) -> str:
    """A line for each field, nested objects indented; of a tensor its dtype and shape, and its device where it is not `cpu`.

    An object inside itself, which the list of a static field makes possible, is shown as `...`.
    """
    values, static = self._field_values()
    fields = "".join(map(_line, self._fields, contents(self).values() if static else values))
    names = "" if self._names is None else f"    names={[*self._names]},\n"
    device = "" if self._device is None else f"    device={self._device},\n"
    return f"{type(self).__name__}(\n{fields}    batch_size={_sizes(self._batch_size)},\n{names}{device})"


def _line(name: str, value: object) -> str:
    return f"    {name}={_shown(value)},\n"


def _shown(value: object) -> str:
    if isinstance(value, Tensor):
        text = str(value.dtype).removeprefix("torch.") + _sizes(value.shape)
        return text if value.is_cpu else f"{text} {value.device}"
    if isinstance(value, (dict, list)):
        return _several(value)
    return repr(value).replace("\n", "\n    ")


@recursive_repr()
def _several(value: dict[object, object] | list[object]) -> str:
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key!r}: {_shown(item)}' for key, item in value.items())}}}"
    return f"[{', '.join(map(_shown, value))}]"


def _sizes(size: Size) -> str:
    """The sizes of dimensions, `[4, 3]`: out of the text of torch in half the time that a list of the numbers takes."""
    return str(size).removeprefix("torch.Size(").removesuffix(")")
