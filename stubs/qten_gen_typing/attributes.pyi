class DeclaredName(str):
    """The name of a declared attribute. The name of any other is not one, and checkers say so: pyrefly and ty show it."""

class NoOtherAttribute:
    """In place of `__getattr__`. An object and not a method: to mypy and pyright the class has none, and they name the attribute."""

    def __call__(self, name: DeclaredName, /) -> object: ...

class AssignsNoOther:
    """In place of `__setattr__`."""

    def __call__(self, name: DeclaredName, value: object, /) -> None: ...
