from typing import Protocol

class DeclaredName(str):
    """The name of a declared attribute. The name of any other is not one, and checkers say so: pyrefly and ty show it."""

class NoOtherAttribute:
    """In place of `__getattr__`. An object and not a method: to mypy and pyright the class has none, and they name the attribute."""

    def __call__(self, name: DeclaredName, /) -> object: ...

class AssignsNoOther(Protocol):
    """In place of `__setattr__`. A protocol with the names of nn.RNNBase's parameters, whose `__setattr__` then fits beside it."""

    def __call__(self, attr: DeclaredName, value: object) -> None: ...
