"""Rules about the head of a class statement, its flags and its methods."""

from __future__ import annotations

from collections.abc import Iterator

from ..common.suggestions import did_you_mean, only_near
from ..model import (
    FLAGS,
    INIT,
    STRING_OPTIONS,
    Declaration,
    FileDecl,
    ModuleDecl,
    NodePath,
    TensorClassDecl,
    VirtualDecl,
    language,
)
from ..model.build_field import is_root
from ..model.diagnostics import Fix
from ..model.foreign_classes import CLASS_MAKERS
from .dynamic_declarations import is_dynamic
from .rule_input import Facts, Problem, RuleContext

_WITHOUT_HOOK = ("abc", "builtins", "qten_gen", "torch", "typing", "typing_extensions")
"""Packages with no class whose `__init_subclass__` takes keywords."""

_OF_TENSORDICT = {
    "cast_filter": "override .to, .float() and the like",
    "kw_only": "write field(kw_only=True) for each field",
    "skip_post_init_on_rebuild": "leave it out; __post_init__ runs in the constructor only",
}
"""Flags of tensordict's TensorClass that are not here, and what to do instead."""


def unknown_flag(context: RuleContext) -> Iterator[Problem]:
    """A class flag or its value is unknown.

    A misspelt flag would have no effect: with `frozn=True`, the class would stay mutable, and neither the type checker nor the
    program would notice.

    All other keywords are for the `__init_subclass__` of a base. The rule reports keywords that no base takes. A base that the
    run does not contain may take any keyword; the class statement finds out.

    A TensorClass takes flags as keywords (`class Batch(TensorClass, frozen=True)`) or in brackets (`TensorClass["frozen"]`).
    Each is True or False, except `checks`, which is `"on"` or `"off"`. A Module takes only `init=False`, which inherits a
    hand-written `__init__`, or the one of nn.Module directly below Module, where annotations with a value are attributes. If
    there are arguments to construct and no base has a constructor for them, type checkers would reject every argument of the
    generated one.

    Example:

     from qten_gen import TensorClass
     from torch import Tensor


    -class Batch(TensorClass, frozn=True):
    -                         ^^^^^
    +class Batch(TensorClass, frozen=True):
         tokens: Tensor
    """
    for flag, value, place in _given(context):
        if isinstance(context.declaration, ModuleDecl):
            yield from _of_module(context.declaration, flag, value, place, context)
        elif flag in STRING_OPTIONS:
            words = [repr(word) for word in STRING_OPTIONS[flag]]
            if value not in words:
                expected = " or ".join(words)
                yield Problem(f"the flag {flag!r} must be {expected}", place, f"write {flag}={expected}")
        elif flag not in FLAGS:
            if _is_passed_on(context):
                continue
            known = (*FLAGS, *STRING_OPTIONS)
            help = _OF_TENSORDICT.get(flag) or did_you_mean(flag, known, f"the flags are {', '.join(known)}")
            meant = None if flag in _OF_TENSORDICT or place.steps[-1:] != ("arg",) else only_near(flag, known)
            fix = None if meant is None else Fix(meant, place)
            yield Problem(f"TensorClass has no flag {flag!r}", place, help, fix=fix)
        elif value not in ("True", "False"):
            yield Problem(f"the flag {flag!r} must be True or False", place, f"write {flag}=True, or leave it out")


def _of_module(
    declaration: ModuleDecl, flag: str, value: str | None, place: NodePath, context: RuleContext
) -> Iterator[Problem]:
    """The problem with a class keyword of a Module, which takes `init=False` only."""
    if flag != INIT:
        if not _is_passed_on(context):
            yield Problem(f"Module has no flag {flag!r}", place, "remove it")
    elif value != "False":
        yield Problem("the flag 'init' must be False", place, "write init=False, or leave it out")
    elif not declaration.custom_init or _keeps_none(declaration):
        message = f"no base of {declaration.name} has a hand-written __init__ that init=False could inherit"
        yield Problem(message, place, "remove it; qten-gen generates the constructor")


def _keeps_none(declaration: ModuleDecl) -> bool:
    """True if a class directly below Module declares arguments, and nobody wrote a constructor that takes them."""
    declares = any(field.name in declaration.own and not isinstance(field, VirtualDecl) for field in declaration.fields)
    others = any(not is_root(base) for base in declaration.bases)
    return declares and not declaration.writes_init and not others


def _is_passed_on(context: RuleContext) -> bool:
    """True if an `__init_subclass__` of a base may take a class keyword. Python refuses one that nobody takes."""
    classes = (context.declaration, *context.facts.ancestors(context.declaration))
    others = (base.name for cls in classes for base in cls.bases if not base.declared)
    hooks = (method.name == "__init_subclass__" for cls in classes[1:] for method in cls.methods)
    return any(name.partition(".")[0] not in _WITHOUT_HOOK for name in others) or any(hooks)


def _given(context: RuleContext) -> Iterator[tuple[str, str | None, NodePath]]:
    """The flags of the class statement: name, value as a literal, place."""
    if context.is_running and isinstance(context.declaration, TensorClassDecl):
        yield from ((flag, "True", context.name_place) for flag in sorted(context.declaration.flags))
    for name, value in context.source.keywords:
        if name != "metaclass" and not is_dynamic(value):
            yield name, value.literal, context.name_place if context.is_running else value.place.beside("arg")
    for base in context.source.bases:
        if base.name == language.TENSORCLASS:
            yield from ((argument, "True", base.place) for argument in base.args if isinstance(argument, str))


_PAIRS = (("autocast", "nocast"), ("autocast", "tensor_only"), ("nocast", "tensor_only"))


def incompatible_flags(declaration: TensorClassDecl, context: RuleContext) -> Iterator[Problem]:
    """A class combines two flags that contradict each other.

    `autocast` converts values to the annotated types, `nocast` keeps them unchanged, and `tensor_only` makes every field a
    tensor. No value can satisfy two of them. The generated class would follow one flag and silently ignore the other: with
    `autocast` and `nocast`, for example, it would convert.

    Example:

     from qten_gen import TensorClass
     from torch import Tensor


    -class Batch(TensorClass, nocast=True, autocast=True):
    -      ^^^^^
    +class Batch(TensorClass, nocast=True):
         tokens: Tensor
         epoch: int
    """
    parents = [p for p in context.facts.parents(declaration) if isinstance(p, TensorClassDecl)]
    inherited = frozenset[str]().union(*(parent.flags for parent in parents))
    for first, second in _PAIRS:
        if {first, second} <= declaration.flags and not any({first, second} <= parent.flags for parent in parents):
            notes = tuple(f"{flag!r} is inherited from a base class" for flag in (first, second) if flag in inherited)
            yield Problem(f"{first!r} and {second!r} cannot be combined", context.name_place, "keep one of them", notes)


def incompatible_decorator(context: RuleContext) -> Iterator[Problem]:
    """A declaration is decorated with `dataclass`, or a similar decorator of attrs, pydantic or tensordict.

    qten-gen already generates the constructor and the methods of a declaration. The decorator would replace the constructor by
    its own, which does not accept `batch_size` or `device`: constructing an object with a batch size would raise TypeError.

    Example:

    -from dataclasses import dataclass
    -
     from qten_gen import TensorClass
     from torch import Tensor


    -@dataclass
    - ^^^^^^^^^
     class Batch(TensorClass):
         tokens: Tensor
    """
    name = context.declaration.name
    for decorator, place in context.source.decorators:
        if decorator in CLASS_MAKERS:
            short = decorator.rpartition(".")[2]
            yield Problem(f"{short} would replace the constructor of {name}", place, f"remove @{short}")


def missing_init_flag(declaration: ModuleDecl, context: RuleContext) -> Iterator[Problem]:
    """A Module inherits a hand-written `__init__` that does not fit what the classes declare, and does not say so.

    Where a class in the chain declares fields that make a constructor, a type checker gives a class without its own `__init__`
    the constructor of all the fields, even if a base nearer to it wrote another one by hand. So it would accept calls that fail
    at run time, and reject calls that work. `init=False` tells the checker to use the inherited constructor.

    Below classes that write their constructors by hand and declare nothing, the command asks nobody for the flag. Type checkers
    need it there too if the constructor has arguments: without it, they think that the class takes `device` and `dtype` only.

    Example:

     from qten_gen import Module


     class Sized(Module):
         size: int


     class Doubled(Sized):
         def __init__(self, dim: int) -> None:
             super().__init__(2 * dim)


    -class Child(Doubled):
    -      ^^^^^
    -    pass
    +class Child(Doubled, init=False):
    +    def halved(self) -> float:
    +        return self.size / 2
    +
    +
    +class Other(Doubled):
    +    def __init__(self, wide: bool) -> None:
    +        super().__init__(8 if wide else 4)
    """
    if declaration.writes_init or declaration.keeps_init:
        return
    parents = [parent for parent in context.facts.ancestors(declaration) if isinstance(parent, ModuleDecl)]
    writer = next((parent for parent in parents if parent.writes_init), None)
    bases = ", ".join(base.text for base in declaration.bases)
    statement = f"class {declaration.name}({bases}, init=False)"
    generated = (field for parent in parents if not parent.custom_init for field in parent.fields)
    if writer is not None and not all(isinstance(field, VirtualDecl) for field in generated):
        message = f"{declaration.name} has no __init__, but its base {writer.name} has a hand-written one"
        help = f"write {statement} to inherit it, or define __init__ here too"
        yield Problem(message, context.name_place, help)


def duplicate_class(file: FileDecl, facts: Facts) -> Iterator[Problem]:
    """Two classes of a file have the same name, and one of them is a declaration.

    A generated file has one class for each name, so it could fit only one of the two. At run time, the other class statement
    would find generated code that does not match it, warn that it is stale, and build its class in memory.

    This includes classes under `if` and `try`: the generated code is the same on every machine, so it cannot depend on the
    condition.

    Example:

     from qten_gen import TensorClass
     from torch import Tensor


     class Batch(TensorClass):
         tokens: Tensor


    -class Batch(TensorClass):
    -      ^^^^^
    +class Pair(TensorClass):
         left: Tensor
         right: Tensor
    """
    declared = {declaration.name for declaration in file.declarations}
    for cls in file.source.repeated:
        if cls.name in declared:
            message = f"this file already defines a class {cls.name}"
            yield Problem(message, cls.place / "name", "rename one of them, or move the condition into a single class")


def inconsistent_bases(context: RuleContext) -> Iterator[Problem]:
    """The bases of a class cannot be combined.

    Python raises TypeError at the class statement if the bases have no consistent method resolution order, or if they have
    different metaclasses. TensorClass and Module have different metaclasses, and so have Enum and NamedTuple. A declaration can
    derive from a protocol, but cannot be one itself. With a dataclass as a base, the class statement would succeed, but the
    generated constructor would not set the fields of the dataclass. Two TensorClasses that both have fields can be combined if
    one of them has the flag `open`.

    Example:

     from qten_gen import Module, TensorClass
     from torch import Tensor


    -class Cell(TensorClass, Module):
    -      ^^^^
    +class State(TensorClass):
         hidden: Tensor
    +
    +
    +class Cell(Module):
    +    dim: int
    +
    +    def forward(self, state: State) -> Tensor:
    +        return state.hidden
    """
    for mixin in context.facts.mixins:
        if "__dataclass_fields__" in mixin.names or "__attrs_attrs__" in mixin.names:
            message = (
                f"{context.declaration.name} is a declaration, so it cannot derive from the dataclass {mixin.name}"
            )
            help = f"remove {mixin.name} from its bases, or declare a field of that type"
            yield Problem(message, context.name_place, help)
    facts, name = context.facts, context.declaration.name
    stores = [found for parent in facts.parents(context.declaration) if (found := _with_slots(parent, facts))]
    deepest = max(stores, key=lambda found: len(facts.ancestors(found)), default=None)
    line = () if deepest is None else (deepest, *facts.ancestors(deepest))
    for other in [found for found in stores if found not in line][:1]:
        names = " and ".join(found.name for found in stores if found in (deepest, other))
        bases = ", ".join(base.text for base in other.bases)
        help = f"write class {other.name}({bases}, open=True), or declare a field of that type"
        yield Problem(f"{names} both have fields, so {name} cannot derive from both", context.name_place, help)


def _with_slots(declaration: Declaration, facts: Facts) -> TensorClassDecl | None:
    """The most derived class that stores fields in slots, among a declaration and its ancestors."""
    lineage = (declaration, *facts.ancestors(declaration))
    stores = [each for each in lineage if isinstance(each, TensorClassDecl) and each.own and "open" not in each.flags]
    # Where the classes can be combined, each of these derives from all others.
    return max(stores, key=lambda each: len(facts.ancestors(each)), default=None)
