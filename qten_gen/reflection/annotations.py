"""Converts annotation objects and strings into type expressions with resolved names."""

from __future__ import annotations

import ast
import sys
import types
import typing
from collections.abc import Callable, Iterable
from dataclasses import KW_ONLY, InitVar

from ..common.fingerprint_rows import recorded_call
from ..common.python_text import annotation_text
from ..common.records import replace
from ..model import HIDDEN, TypeExpr, language, union
from ..model.dimensions import parsed_expression
from .specifiers import ClassStatement

_NO_TYPES: tuple[type, ...] = (types.ModuleType, types.FunctionType, types.BuiltinFunctionType, types.MethodType)
"""Objects that are no types. They are shown as they are, also where the annotation is a string that names them."""
_METHODS: tuple[type, ...] = (types.FunctionType, property, classmethod, staticmethod)


class AnnotationWalk:
    """Converts one annotation into a type expression, and records which of its names are TensorClasses."""

    def __init__(self, statement: ClassStatement) -> None:
        self._statement = statement
        self._declared: set[str] = set()
        self._filled: dict[typing.TypeVar, TypeExpr] = {}
        self._open: set[int] = set()

    def is_tensorclass(self, name: str) -> bool:
        """True if a name of the annotation is a TensorClass."""
        return name in self._declared

    def expr(self, annotation: object) -> TypeExpr:
        """The type expression of an annotation: a class, a typing construct, a string."""
        found = self._from_object(annotation)
        is_text = isinstance(annotation, typing.ForwardRef | str)
        return found if is_text or found.name == HIDDEN else replace(found, text=annotation_text(annotation))

    def _from_object(self, annotation: object) -> TypeExpr:
        """The type expression of an evaluated annotation, without its text. A recursive alias may hold anything in itself."""
        if id(annotation) in self._open:
            return TypeExpr("typing.Any")
        self._open.add(id(annotation))
        try:
            return self._from_evaluated_object(annotation)
        finally:
            self._open.discard(id(annotation))

    def _from_evaluated_object(self, annotation: object) -> TypeExpr:
        """The same for an annotation that is not around itself. The order of the branches matters."""
        if annotation is None or annotation is type(None):
            return TypeExpr("None", text="None")
        if isinstance(annotation, _NO_TYPES):
            return TypeExpr(self._name(annotation), text=annotation_text(annotation))
        if annotation is Ellipsis:
            return TypeExpr("...", text="...")
        if annotation is KW_ONLY:
            return TypeExpr("dataclasses.KW_ONLY")
        if isinstance(annotation, typing.ForwardRef):  # `Annotated["Tensor", ...]`
            return self._from_text(annotation.__forward_arg__)
        if isinstance(annotation, str):
            return self._from_text(annotation)
        if isinstance(annotation, typing.TypeVar):
            return self._from_type_variable(annotation)
        if isinstance(annotation, typing.NewType):
            return self._from_object(annotation.__supertype__)
        if isinstance(annotation, InitVar):
            return TypeExpr("dataclasses.InitVar", (self.expr(annotation.type),))
        origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
        if _is_type_alias(alias := annotation if origin is None else origin):
            self._fill(alias, map(self.expr, arguments))
            return self._from_object(getattr(alias, "__value__"))  # noqa: B009 # it has no class before Python 3.12
        if origin is typing.Annotated:
            inner, *metadata = arguments
            expr = self._from_object(inner)
            mark = next((mark for mark in language.ANNOTATED if mark in metadata), None)
            return expr if mark is None else TypeExpr(mark, (expr,))
        dims = getattr(annotation, "dim_str", None)
        if isinstance(dims, str):
            name = str(getattr(annotation, "__name__", "")).partition("[")[0]
            return TypeExpr(f"jaxtyping.{name}", (self.expr(getattr(annotation, "array_type", None)), dims))
        if origin in (typing.Union, types.UnionType):
            return union(tuple(map(self.expr, arguments)))
        # What it holds are values, not types.
        if origin is typing.Literal:
            return TypeExpr(self._name(origin))
        if origin is not None:
            return TypeExpr(self._name(origin), tuple(map(self._argument, arguments)))
        hidden = None if isinstance(annotation, type) else self._bound_in_body(annotation)
        if hidden is not None:
            return TypeExpr(HIDDEN, text=hidden)
        name = self._name(annotation)
        return TypeExpr("" if name.endswith(".") else name)  # such as 5, or an object without a name

    def _bound_in_body(self, value: object) -> str | None:
        """The field with this value, or the method that it is; empty for the specifier of a name that was bound again."""
        for name, bound in self._statement.namespace.items():
            if bound is value and (name in self._statement.annotations or isinstance(value, _METHODS)):
                return name
        return None if recorded_call(value) is None else ""

    def _argument(self, argument: object) -> TypeExpr:
        return TypeExpr("") if isinstance(argument, list) else self.expr(argument)

    def _from_type_variable(self, variable: typing.TypeVar) -> TypeExpr:
        if variable in self._filled:
            return self._filled[variable]
        if variable.__bound__ is not None:
            return self.expr(variable.__bound__)
        if variable.__constraints__:
            return union(tuple(self.expr(constraint) for constraint in variable.__constraints__))
        return TypeExpr("typing.Any", text=variable.__name__)

    def _name(self, value: object) -> str:
        """Qualified name of a class or of a typing construct."""
        module, name = getattr(value, "__module__", ""), getattr(value, "__qualname__", None)
        if name is None:
            name = getattr(value, "__name__", None) or str(getattr(value, "_name", ""))
        is_tensordicts = isinstance(value, type) and getattr(value, "_is_tensorclass", False)
        if is_tensordicts and module.partition(".")[0] != "tensordict":
            return "tensordict.TensorClass"  # whatever the class is that tensordict made, fields refuse it
        # A class derived from Tensor is a tensor to a field.
        tensor: type = vars(sys.modules["torch"])["Tensor"]
        if isinstance(value, type) and issubclass(value, tensor):
            return "torch.Tensor"
        if module.partition(".")[0] == language.PACKAGE:
            module = language.PACKAGE
        qualified = f"{module}.{name}"
        if isinstance(value, type) and qualified != language.RAGGED and self._statement.is_tensorclass(value):
            self._declare(qualified)
            self._statement.classes[qualified] = value
        return qualified

    def _from_text(self, text: str) -> TypeExpr:
        node = parsed_expression(text)
        if node is None:
            return TypeExpr("", text=repr(text))
        found = self._from_node(node)
        return found if found.text.startswith(("<", "'<", '"<')) else replace(found, text=text)

    def _from_node(self, node: ast.expr) -> TypeExpr:
        """The type expression of an annotation that is a string, as written or because of a `__future__` import."""
        match node:
            case ast.Constant(None):
                return TypeExpr("None", text="None")
            case ast.Constant(str(text)):
                return self._from_text(text)
            case ast.BinOp(left, ast.BitOr(), right):
                return union((self._from_node(left), self._from_node(right)))
            case ast.Name() | ast.Attribute():
                return self._from_dotted(ast.unparse(node))
            case ast.Subscript(head, slice_):
                return self._from_subscript(head, slice_)
        return self._from_evaluated(ast.unparse(node))

    def _generic_alias(self, head: ast.expr) -> object:
        """The object before brackets if it takes its arguments for type variables, as `Maybe = Optional[T]` does; or None."""
        if not isinstance(head, ast.Name):
            return None
        try:
            found = self._of_body(head.id) or self._statement.resolve(head.id)
        except NameError:
            return None
        is_alias = typing.get_origin(found) is not None or _is_type_alias(found)
        return found if is_alias and getattr(found, "__parameters__", None) else None

    def _fill(self, alias: object, given: Iterable[TypeExpr]) -> None:
        """Let the type variables of a generic alias of any kind stand for these types."""
        variables: tuple[typing.TypeVar, ...] = getattr(alias, "__parameters__", ())
        self._filled |= dict(zip(variables, given, strict=False))

    def _from_evaluated(self, text: str) -> TypeExpr:
        """The type that another expression in a string gives, such as `Tensor if WIDE else str`."""
        try:
            value: object = eval(
                text, {"__builtins__": {}}, _Names(lambda name: self._of_body(name) or self._statement.resolve(name))
            )
        except Exception:  # whatever an expression of the user's may raise
            return TypeExpr("", text=text)
        return self._from_object(value)

    def _from_dotted(self, dotted: str) -> TypeExpr:
        """The type of a name in a string, from its current object, or a qualified name if the object does not exist yet."""
        first, *rest = dotted.split(".")
        statement = self._statement
        if (dotted == statement.name and statement.is_visible_to_itself) or dotted == statement.qualname:
            # What the name means so far may be the class of an earlier execution.
            return self._from_unresolved(f"{statement.module}.{statement.name}")
        try:
            found = self._of_body(first) or self._statement.resolve(first)
        except NameError:
            path = statement.qualname.rpartition("<locals>.")[2]
            if rest and path.startswith(f"{first}."):
                return self._from_class_around(dotted, path)
            return self._from_unresolved(".".join([self._qualified(first), *rest]))
        for index, part in enumerate(rest):
            if not hasattr(found, part) and isinstance(found, types.ModuleType):
                # A circular import: the module will define the class later.
                return self._from_unresolved(".".join([found.__name__, *rest[index:]]))
            if not hasattr(found, part):
                return TypeExpr(dotted, text=dotted)
            found = getattr(found, part)
        return self._from_object(found)

    def _from_class_around(self, dotted: str, path: str) -> TypeExpr:
        """The type of what a class around this one holds. That one gets its name at its end, so its body is looked into."""
        around = path
        while not dotted.startswith(f"{around}."):  # of the outermost class it does
            around = around.rpartition(".")[0]
        found = self._from_dotted(dotted.removeprefix(f"{around}."))
        return found if found.name.endswith(f".{dotted}") else TypeExpr(dotted.partition(".")[0], text=dotted)

    def _of_body(self, name: str) -> object:
        """The object that the class body has bound to a name: a nested class, or an alias. None for fields and other names."""
        statement = self._statement
        found = statement.namespace.get(name)
        kinds = type | typing.TypeVar | types.GenericAlias | types.UnionType
        is_type = isinstance(found, kinds) or typing.get_origin(found)
        return found if is_type and name not in statement.annotations else None

    def _qualified(self, name: str) -> str:
        """The qualified name of a name that does not exist yet. An unknown name is returned unchanged, and a rule reports it."""
        statement = self._statement
        imported = statement.import_of(name)
        if imported is None and (name == statement.name or statement.defines(name)):
            return f"{statement.module}.{name}"
        return imported or name

    def _from_unresolved(self, qualified: str) -> TypeExpr:
        if qualified == f"{self._statement.module}.{self._statement.name}":
            self._declare(qualified)
            return TypeExpr(qualified, text=qualified)
        found = self._statement.elsewhere(qualified)
        if found is None:
            return TypeExpr(qualified, text=qualified)
        for name in found.declared:
            self._declare(name)
        return replace(found.type, text=qualified)

    def _declare(self, qualified: str) -> None:
        """Note a TensorClass, for this annotation and for the rules."""
        self._declared.add(qualified)
        self._statement.declared.add(qualified)

    def _from_subscript(self, head: ast.expr, slice_: ast.expr) -> TypeExpr:
        """`head[slice_]` in a string. The result is what `_from_object` returns for the evaluated object."""
        items = slice_.elts if isinstance(slice_, ast.Tuple) else [slice_]
        alias = self._generic_alias(head)
        if alias is not None:
            self._fill(alias, map(self._from_node, items))
            return self._from_object(alias)
        outer = self._from_node(head)
        if outer.name.startswith("jaxtyping."):
            return self._from_array(outer.name, head, items)
        if outer.name == "typing.Annotated":
            return self._from_node(items[0])
        if outer.name == "typing.Literal":
            return TypeExpr(outer.name)
        arguments = tuple(self._from_node(item) for item in items)
        if outer.name == "typing.Optional":
            return union((*arguments, TypeExpr("None")))
        if outer.name == "typing.Union":
            return union(arguments)
        return TypeExpr(outer.name, arguments)

    def _from_array(self, name: str, head: ast.expr, items: list[ast.expr]) -> TypeExpr:
        """`Float[Tensor, "batch 3"]` in a string. A shape that is not written there is computed; what jaxtyping refuses stays."""
        match items:
            case [array, ast.Constant(str(dims))]:
                return TypeExpr(name, (self._from_node(array), dims))
            case [_, ast.Name() | ast.Attribute() | ast.JoinedStr() | ast.BinOp()]:
                return self._from_evaluated(f"{ast.unparse(head)}[{', '.join(map(ast.unparse, items))}]")
        return TypeExpr(name, tuple(self._argument_of_array(item) for item in items))

    def _argument_of_array(self, item: ast.expr) -> TypeExpr | str:
        match item:
            case ast.Constant(str(text)):
                return text
            case ast.Constant():
                return TypeExpr("", text=ast.unparse(item))
        return self._from_node(item)


def _is_type_alias(value: object) -> bool:
    """Return whether a value was made by `type Name = ...`, or by TypeAliasType, of typing_extensions too."""
    return type(value).__name__ == "TypeAliasType"


class _Names(dict[str, object]):
    """The names that a class statement sees, for `eval`."""

    def __init__(self, resolve: Callable[[str], object]) -> None:
        super().__init__()
        self._resolve = resolve

    def __missing__(self, name: str) -> object:
        try:
            return self._resolve(name)
        except NameError:
            raise KeyError(name) from None
