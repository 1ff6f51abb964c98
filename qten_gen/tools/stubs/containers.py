"""The containers of torch.nn: what they hold is a type parameter, and a Sequential has the result of its last module.

They stay usable without a subscript, since their type parameters have defaults. What is in a container that nobody described is
Any, as without stubs: attributes of a Module are `Tensor | Module`, so Module would make errors of calls that are right. At run
time they take no subscript, so one belongs into an annotation that is not evaluated: `blocks: "nn.ModuleList[Block]"`.
"""

from __future__ import annotations

import ast

from ...read.signatures import Function

_LIST = """\
class ModuleList(_Generic[_types.Element]):
    def __init__(self, modules: Iterable[_types.Element] | None = None) -> None: ...
    @overload
    def __getitem__(self, idx: slice) -> ModuleList[_types.Element]: ...
    @overload
    def __getitem__(self, idx: int) -> _types.Element: ...
    def __iter__(self) -> Iterator[_types.Element]: ...
    @overload
    def __add__(self, other: Iterable[_types.Element]) -> ModuleList[_types.Element]: ...
    @overload
    def __add__(self, other: Iterable[_types.Other]) -> ModuleList[_types.Element | _types.Other]: ...
    def pop(self, key: int | slice) -> _types.Element: ...
"""

_DICT = """\
class ModuleDict(_Generic[_types.Element]):
    def __init__(self, modules: Mapping[str, _types.Element] | None = None) -> None: ...
    def __getitem__(self, key: str) -> _types.Element: ...
    def pop(self, key: str) -> _types.Element: ...
    def items(self) -> container_abcs.ItemsView[str, _types.Element]: ...
    def values(self) -> container_abcs.ValuesView[_types.Element]: ...
"""

_SEQUENTIAL = """\
class Sequential(_Generic[_types.Result]):
    @overload
    def __init__(
        self: Sequential[_types.Result], *args: *tuple[*tuple[Module, ...], _types.Returning[_types.Result]]
    ) -> None: ...
    @overload
    def __init__(self: Sequential[Any], *args: Module) -> None: ...
    @overload
    def __init__(self: Sequential[Any], arg: OrderedDict[str, Module]) -> None: ...
    __call__: _ClassVar[_types.Call]
    def forward(self, input: Any) -> _types.Result: ...
    @overload
    def __getitem__(self, idx: slice) -> Sequential[Any]: ...
    @overload
    def __getitem__(self, idx: int) -> Any: ...
    def __iter__(self) -> Iterator[Any]: ...
"""

CONTAINERS = {
    f"torch.nn.modules.container.{name}": text
    for name, text in {"ModuleList": _LIST, "ModuleDict": _DICT, "Sequential": _SEQUENTIAL}.items()
}
"""The containers by their qualified names, with the methods that differ from the library's."""


def change_container(name: str, node: ast.ClassDef) -> None:
    """Make the copy of a container generic. Of its methods, those that the library has too are replaced."""
    ours = ast.parse(CONTAINERS[name]).body[0]
    assert isinstance(ours, ast.ClassDef)
    theirs = {method.name for method in node.body if isinstance(method, Function)}
    methods = [item for item in ours.body if not isinstance(item, Function) or item.name in theirs]
    replaced = {item.name for item in methods if isinstance(item, Function)}
    kept = [item for item in node.body if not (isinstance(item, Function) and item.name in replaced)]
    node.bases = [*node.bases, *ours.bases]
    node.body = [*methods, *kept]
