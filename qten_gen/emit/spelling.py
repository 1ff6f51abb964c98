"""How types, values and dimensions are written in generated code."""

from __future__ import annotations

import ast
import builtins as builtins_module
import re
from collections.abc import Callable, Collection, Iterator
from functools import lru_cache
from typing import assert_never

from ..common.field_kinds import members_of
from ..common.naming import WRITTEN_BUILTINS
from ..model import BufferDecl, ConfigDecl, Dim, FieldDecl, FieldKind, ModuleField, ParameterDecl, TypeExpr, Value, home
from ..model.dimensions import annotation_text, in_words, to_python
from .layout import double_quoted, in_parentheses
from .names import Builtins, NestedNames, qualified_name

Edit = tuple[int, int, str]
"""Where a text changes, in bytes, and what stands there then."""


def renamed(text: str, written: Callable[[str], str]) -> str:
    """A type with its names as `written` has them: plain names, and the first parts of dotted ones.

    A string loses its quotes, except in brackets: `Literal["Point"]`, which may mean itself.

    >>> renamed('set | list["set"]', {"set": "_builtins.set"}.get)
    '_builtins.set | list["set"]'
    """
    tree = _expression(text)
    if tree is None:
        return text
    data = text.encode()  # the parser counts bytes
    starts = [0]
    for line in data.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))

    def span(node: ast.expr) -> tuple[int, int]:
        assert node.end_lineno is not None and node.end_col_offset is not None
        return starts[node.lineno - 1] + node.col_offset, starts[node.end_lineno - 1] + node.end_col_offset

    def edits(node: ast.AST) -> Iterator[Edit]:
        match node:
            case ast.Name(id=plain):
                yield (*span(node), written(plain) or plain)
            case ast.Constant(value=str(quoted)) if (inner := annotation_text(quoted)) is not None:
                yield (*span(node), renamed(inner, written))
            case ast.Subscript(value=outer, slice=inside):
                yield from edits(outer)
                for argument in inside.elts if isinstance(inside, ast.Tuple) else [inside]:
                    if not isinstance(argument, ast.Constant):
                        yield from edits(argument)
            case _:
                for child in ast.iter_child_nodes(node):
                    yield from edits(child)

    # From the end, so that the places before a change stay right.
    for start, end, new in sorted(edits(tree), reverse=True):
        data = data[:start] + new.encode() + data[end:]
    return data.decode()


@lru_cache(1024)
def _expression(text: str) -> ast.expr | None:
    """The tree of an expression, which nobody changes; None for a text that is none. Most types stand in many places."""
    try:
        return ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError):
        return None


_NAME = re.compile(r"[^\W\d]\w*")
_WORDS = ("|", "None", "...")
"""The parts of a type besides names."""
_DTYPE_WORDS = {"Float": "floating", "Int": "integer", "Bool": "boolean", "Complex": "complex", "Num": "numeric"}


def field_type(
    field: FieldDecl, module: str, names: NestedNames, builtins: Builtins, variables: Collection[str] = ()
) -> str:
    """The type of a TensorClass field as its property gives it, in the file generated for `module`.

    A generated class is not generic: the stub is. So type variables, named in `variables`, are written `Any`.
    """
    match field.kind:
        case FieldKind.TENSOR if field.container == "dict":
            plain = f"{builtins.name('dict')}[{builtins.name('str')}, _Tensor]"
        case FieldKind.TENSOR if field.container == "list":
            plain = f"{builtins.name('list')}[_Tensor]"
        case FieldKind.TENSOR | FieldKind.NUMBER:
            plain = "_Tensor"
        case FieldKind.NESTED:
            plain = f"{names[qualified_name(field)]}{_any_arguments(field)}"
        case FieldKind.RAGGED:
            plain = f"_rt.Ragged[{names[qualified_name(field)] if field.nested is not None else '_Tensor'}]"
        case FieldKind.STATIC | FieldKind.PER_ITEM:
            return python_type(field, module, builtins, variables)
        case _:
            assert_never(field.kind)
    return f"{plain} | None" if field.optional else plain


def _any_arguments(field: FieldDecl) -> str:
    """The arguments of a nested class that is generic, each as `Any`; the stub says them."""
    nested = next(member for member in members_of(field.type) if member.name == qualified_name(field))
    return f"[{', '.join('_t.Any' for _ in nested.args)}]" if nested.args else ""


def python_type(
    field: FieldDecl | ModuleField, module: str, builtins: Builtins, variables: Collection[str] = ()
) -> str:
    """A type that the declaration writes, as the generated module repeats it. Strings in it stay as they are.

    The stub says all types. Where names of another file would have to be imported, and where checkers would take a string for any
    other that is stored in its place, the module says `Any`.
    """
    mentioned, text = field.type.mentioned, static_type(field.type)
    if home(field) != module and not (
        all(name.startswith("builtins.") or name in _WORDS for name in mentioned)
        # `Optional[str]` means builtins only, and mentions another name.
        and all(hasattr(builtins_module, name) for name in _NAME.findall(text))
    ):
        return "_t.Any"
    if "typing.Literal" in mentioned:
        return "_t.Any"

    def written(name: str) -> str:
        return "_t.Any" if name in variables else builtins.name(name) if name in WRITTEN_BUILTINS else name

    return renamed(text, written)


def static_type(type: TypeExpr) -> str:
    """An annotation out of its quotes. A rule refuses what is not an expression."""
    return (annotation_text(type.text) or "_t.Any") if type.text else ""


def field_doc(field: FieldDecl) -> str:
    """The docstring of a property of a TensorClass: the field's own words, and its shape."""
    return f"{field.doc}\n\n{_shape_doc(field)}" if field.doc else _shape_doc(field)


def _shape_doc(field: FieldDecl) -> str:
    """The sentence about the shape and dtype of what a field holds."""
    none = ", or None" if field.optional else ""
    match field.kind:
        case FieldKind.TENSOR if field.container is not None:
            shape = "any shape, not carried by the batch" if field.unbatched else "shape `(*batch, ...)`"
            return f"{field.container.capitalize()} of tensors of {shape}{none}."
        case FieldKind.TENSOR if field.dims is not None:
            word = _DTYPE_WORDS.get(field.dtype or "", field.dtype or "")
            tail = ", not carried by the batch" if field.unbatched else ""
            return f"Tensor of shape `({', '.join(field.dims.split())})`{f', {word}' if word else ''}{tail}{none}."
        case FieldKind.TENSOR if field.unbatched:
            return f"Tensor of any shape, not carried by the batch{none}."
        case FieldKind.TENSOR:
            return f"Tensor of shape `(*batch, ...)`{none}."
        case FieldKind.NUMBER:
            return f"Number as a tensor of shape `(*batch, ...)`{none}."
        case FieldKind.NESTED:
            return f"`{field.nested}` whose batch size starts with this one's{none}."
        case FieldKind.RAGGED if field.dims is not None:
            word = _DTYPE_WORDS.get(field.dtype or "", field.dtype or "")
            rows = ", ".join(field.dims.split())
            return f"Items of different lengths, each of shape `({rows})`{f', {word}' if word else ''}{none}."
        case FieldKind.RAGGED:
            return f"Items of different lengths, rows of `{field.nested or 'Tensor'}`{none}."
        case FieldKind.STATIC:
            return "The same for the whole batch."
        case FieldKind.PER_ITEM:
            return f"One value for each item of the batch{none}."


def shape(dims: tuple[Dim, ...], builtins: Builtins) -> str:
    """A shape as Python text over constructor arguments: `(3 * dim, dim)`."""
    return in_parentheses([to_python(dim, builtin=builtins.name) for dim in dims])


def shape_in_words(field: ParameterDecl | BufferDecl) -> str:
    """A shape as the declaration writes it: `(3*dim, dim)`."""
    return in_parentheses([in_words(dim) for dim in field.dims])


def torch_name(name: str) -> str:
    """A qualified name of torch over the aliases at the head of a generated file.

    >>> torch_name("torch.nn.init.ones_"), torch_name("torch.int64")
    ('_nn.init.ones_', '_torch.int64')
    """
    module, alias = ("torch.nn", "_nn") if name.startswith("torch.nn.") else ("torch", "_torch")
    return f"{alias}{name.removeprefix(module)}"


def value(value: Value, owner: str, key: str) -> str:
    """A value as generated code writes it, or the lookup of the object that the declaration gave."""
    if value.literal is not None:
        return double_quoted(value.literal)
    return torch_name(value.torch_name) if value.torch_name else f'_rt.from_declaration({owner}, "{key}")'


def is_of_torch(initializer: Value | None) -> bool:
    """True if an initialiser is a function of torch, alone or in a partial, which fills what it is given."""
    return initializer is not None and (initializer.torch_name is not None or initializer.partial is not None)


def filled(initializer: Value, owner: str, label: str, name: str, tensor: str) -> str:
    """The call that initialises the field `name`, or a parameter in it, which errors call `label`: `_nn.init.ones_(self.gain)`.

    `tensor` is the text of what is filled: `self.gain`.
    """
    if initializer.partial is not None:
        keywords = [f"{keyword}={double_quoted(given)}" for keyword, given in initializer.partial.keywords]
        return f"{_initializer(initializer.partial.function)}({', '.join([tensor, *keywords])})"
    if initializer.torch_name is not None:
        return f"{_initializer(initializer.torch_name)}({tensor})"
    function = value(initializer, owner, f"{name}.initializer")
    if initializer.method is not None:
        function = f"self.{initializer.method}"
    return f'_rt.fill({tensor}, {function}, "{label}")'


def _initializer(name: str) -> str:
    """A function of torch that initialises a tensor; the runtime's `init` is `torch.nn.init`."""
    inside = name.removeprefix("torch.nn.init.")
    return torch_name(name) if inside == name else f"_rt.init.{inside}"


def parameter(field: FieldDecl | ConfigDecl, type: str) -> str:
    """A constructor parameter with its default: `source: str = "train"`."""
    default = field.default
    name = field.argument
    if default is None:
        return f"{name}: {type}"
    written = None if default.factory else default.value.written
    if written is None:
        return f"{name}: {type} = _rt.DEFAULT"
    spelled = double_quoted(written) if default.value.literal else torch_name(written)
    return f"{name}: {type} = {spelled}"


def default_is_looked_up(field: FieldDecl | ConfigDecl) -> bool:
    """True if the default is not written in the signature but taken from the declaration when the constructor runs."""
    return field.default is not None and (field.default.factory or field.default.value.written is None)
