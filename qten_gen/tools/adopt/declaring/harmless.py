"""Which statements and expressions can neither register nor draw random numbers."""

from __future__ import annotations

import ast
import re
from copy import deepcopy
from typing import TypeGuard

from ....model.torch_layers import WITHOUT_TENSORS
from ..opened import OpenFile
from .context import PARAMETER, Context, holds_of, self_attribute
from .expressions import Settled
from .inlining import GivenValues, may_be_called

_FUNCTIONS = frozenset(
    "abs bool dict divmod float frozenset getattr hasattr int isinstance len list max min print range round set sorted str sum"
    " tuple zip enumerate type callable issubclass any all repr reversed slice pow".split()
)
_OF_NUMBERS = frozenset("abs bool float int len max min round str sum tuple range".split())
_PLAIN_TYPE = re.compile(r"(?:(?:int|float|bool|str|None)(?: \| )?)+|(?:tuple|Tuple|typing\.Tuple)(?:\[.*\])?")
"""The annotation of a function that gives plain values."""

_PREFIXES = (
    *("math.", "warnings.", "logging.", "operator.", "os.path.", "itertools.", "functools.partial", "numpy."),
    *("torch.finfo", "torch.iinfo", "torch.Size", "torch.device", "torch.cuda.is_available", "torch.get_default_dtype"),
    *("torch.distributed.get_", "torch.distributed.is_"),
)
_COMPUTING = frozenset(
    f"torch.{name}"
    for name in "abs arange as_tensor cat ceil cos cumprod cumsum diag einsum exp eye flip floor full linspace log log2 logspace"
    " max meshgrid min ones outer pow prod repeat_interleave round rsqrt sigmoid sin sqrt stack sum tanh tensor tril triu"
    " zeros FloatTensor LongTensor nn.modules.utils._pair nn.modules.utils._triple".split()
) | {"timm.layers.to_2tuple", "timm.models.layers.to_2tuple"}
"""Functions that make tensors or tuples, and draw nothing."""

_METHODS = frozenset(
    "warn warning warning_once info debug error get format join lower upper keys values items split strip startswith endswith"
    " replace index count copy item tolist numpy abs ceil chunk clamp clone contiguous cos cumprod cumsum div double exp expand"
    " fill_diagonal flatten flip float floor half int log long max mean min mul outer permute pow prod repeat reshape round size"
    " sin sqrt squeeze std sub sum t transpose type_as unsqueeze view".split()
)
"""Methods of strings, dicts, lists, loggers and tensors that change nothing."""

_REGISTERING = frozenset(
    "register_buffer register_parameter register_module add_module append extend insert update setdefault __setattr__ add".split()
)
_WITHOUT_DRAWS = WITHOUT_TENSORS | {"Sequential", "ModuleList", "ModuleDict", "LayerNorm", "GroupNorm"}


def is_plain(node: ast.AST, context: Context) -> bool:
    """Whether a statement or expression computes plain values only, and at most raises or logs."""
    return not may_register(node, context)


def may_register(node: ast.AST, context: Context) -> bool:
    """Whether a part of a constructor may make or register a module or a tensor, or draw random numbers."""
    if isinstance(node, ast.stmt):
        if _is_super(node):
            return False
        return any(_statement(each, context) for each in _own_nodes(node))
    return _expression(node, context) if isinstance(node, ast.expr) else True


def draws(node: ast.expr, context: Context) -> bool:
    """Whether making a value may draw random numbers: it constructs more than layers that hold no tensors."""
    return any(isinstance(each, ast.Call) and draws_itself(each, context) for each in ast.walk(node))


def draws_itself(node: ast.Call, context: Context) -> bool:
    """Whether a call may draw random numbers, apart from its arguments."""
    qualified = context.meaning(node.func)
    is_bare = qualified.startswith("torch.nn.") and qualified.rpartition(".")[2] in _WITHOUT_DRAWS
    return not is_bare and not _is_plain_call(node, context)


def held(name: str, value: ast.expr, context: Context) -> str:
    """What stands in the way where a local name holds a module or a tensor: which of them, as far as the calls tell."""
    calls = [context.meaning(each.func) for each in ast.walk(value) if isinstance(each, ast.Call)]
    has_module = any(context.is_module_class(each) for each in calls)
    is_tensor = any(each.startswith("torch.") for each in calls) and not has_module
    return f"the local name `{name}` holds {'a module' if has_module else 'a tensor' if is_tensor else 'a module or a tensor'}"


def makes_field(node: ast.stmt, context: Context) -> bool:
    """Whether a statement registers by assignment or by name, so that its place among registrations counts.

    Calls that may do anything with what is registered, such as initialisers, stay in their order, and come last together.
    """
    for each in ast.walk(node):
        if isinstance(each, ast.Assign | ast.AnnAssign) and _statement(each, context):
            return True
        if isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute) and each.func.attr in _REGISTERING:
            return True
        if isinstance(each, ast.Call) and isinstance(each.func, ast.Name) and each.func.id == "setattr":
            return True
    return False


def changed_by(node: ast.stmt, context: Context) -> str | None:
    """The argument or local name whose object a statement may change; None if it changes none."""
    for each in ast.walk(node):
        if isinstance(each, ast.Attribute | ast.Subscript) and not isinstance(each.ctx, ast.Load):
            if root(each) != "self" and _is_known(root(each), context):
                return root(each)
        elif _calls_method(each) and _is_known(root(each), context):
            return root(each)
    return None


def _calls_method(node: ast.AST) -> TypeGuard[ast.Call]:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr not in _METHODS


def _is_known(name: str, context: Context) -> bool:
    return name in context.types or context.names.get(name) is not None


def root(node: ast.expr) -> str:
    """The name that a chain of attributes and items begins with."""
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def _own_nodes(node: ast.AST) -> list[ast.AST]:
    return list(ast.walk(node))


def _statement(node: ast.AST, context: Context) -> bool:
    """Whether one node of a statement may register, or call what may."""
    match node:
        case ast.Assign(targets=targets, value=value):
            return any(self_attribute(target) is not None for target in targets) and may_be_registered(value, context)
        case ast.AnnAssign(target=target, value=ast.expr() as value):
            return self_attribute(target) is not None and may_be_registered(value, context)
        case ast.Call():
            return not _is_plain_call(node, context)
        case ast.With() | ast.FunctionDef() | ast.ClassDef() | ast.AsyncFunctionDef():
            return True
    return False


def may_be_registered(node: ast.expr, context: Context) -> bool:
    """Whether a value that an attribute gets may be a module or a tensor."""
    if _expression(node, context):
        return True
    match node:
        case ast.Name(id=name) if name in context.names and not isinstance(node, Settled):
            found = context.names[name]
            return found is None or may_be_registered(found, context)
        case ast.Call(func=ast.Name(id=name)) if name in _OF_NUMBERS and name not in context.file.scope.bound:
            return False
        case ast.Call(func=function, args=args, keywords=keywords) if context.meaning(function):
            given = [*args, *(each.value for each in keywords)]
            is_computed = context.meaning(function).startswith(_PREFIXES) or context.meaning(function) in _COMPUTING
            return not is_computed and any(may_be_registered(each, context) for each in given)
        case ast.Call(func=ast.Attribute(value=held)):
            return may_be_registered(held, context)  # a module's `half()` is the module
        case ast.Name(id=name) if name in context.types:
            return context.may_be_module(name)
        case ast.Name() | ast.Attribute():
            return _global_may_be_module(node, context)
        case ast.IfExp(body=body, orelse=orelse):
            return may_be_registered(body, context) or may_be_registered(orelse, context)
        case ast.BoolOp(values=values):
            return any(may_be_registered(each, context) for each in values)
        case ast.Subscript(value=held):
            return may_be_registered(held, context)
    return False


def _global_may_be_module(node: ast.expr, context: Context) -> bool:
    """Whether a name of the file, or an attribute of something, may be a module. A configuration holds plain values."""
    head = node
    while isinstance(head, ast.Attribute):
        head = head.value
    if isinstance(head, ast.Name) and head.id in context.types and not context.may_be_module(head.id):
        return False
    if isinstance(head, ast.Name) and head.id in {"True", "False", "None"}:
        return False
    attribute = self_attribute(node)
    if attribute is not None:
        return context.attributes.get(attribute) is None
    qualified = context.meaning(node)
    return not qualified.startswith(("torch.nn.functional.", "torch.float", "torch.int", "torch.bfloat", "math."))


def _expression(node: ast.AST, context: Context) -> bool:
    """Whether an expression calls something that may make a module or a tensor, or draw random numbers."""
    for each in ast.walk(node):
        if isinstance(each, ast.Call) and not _is_plain_call(each, context):
            return True
        if isinstance(each, ast.Yield | ast.Await | ast.NamedExpr):
            return True
    return False


def _is_plain_call(node: ast.Call, context: Context) -> bool:
    """Whether a call is of a function that makes plain values, logs or raises."""
    function = node.func
    if isinstance(function, ast.Name):
        shadowed = (
            function.id in context.types or function.id in context.names or function.id in context.file.scope.bound
        )
        if function.id in _FUNCTIONS and not shadowed:
            return True
        if function.id[:1].isupper() and function.id.endswith(("Error", "Warning", "Exception")):
            return True
    qualified = context.meaning(function)
    if qualified.startswith(_PREFIXES) and not qualified.startswith("numpy.random"):
        return True
    if qualified in _COMPUTING:
        return True
    if is_plain_function(qualified, context):
        return not any(may_be_called(each, context) for each in (*node.args, *(each.value for each in node.keywords)))
    return isinstance(function, ast.Attribute) and function.attr in _METHODS and not qualified.startswith("torch.")


def is_plain_function(qualified: str, context: Context) -> bool:
    """Whether a function of the project computes plain values from its arguments, and does nothing else."""
    return holds_of(qualified, context, context.project.plain, _computes)


def _computes(node: ast.FunctionDef, file: OpenFile, context: Context) -> bool:
    """Whether a function only computes its result: it changes nothing that it is given, and makes no module."""
    if node.decorator_list or any(isinstance(each, ast.Global | ast.Nonlocal | ast.Yield) for each in ast.walk(node)):
        return False
    node = GivenValues().visit(deepcopy(node))
    inner = Context(file, context.project, context.found)
    names = {each.arg for each in ast.walk(node.args) if isinstance(each, ast.arg)}
    names |= {each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
    inner.types.update(dict.fromkeys(names, "Any"))
    inner.plain |= names
    body = [each for each in node.body if not isinstance(each, ast.Expr) or not isinstance(each.value, ast.Constant)]
    values = [each.value for each in ast.walk(node) if isinstance(each, ast.Return) and each.value is not None]
    changed = (each for each in ast.walk(node) if isinstance(each, ast.Attribute | ast.Subscript | ast.Delete))
    if any(not isinstance(getattr(each, "ctx", ast.Store()), ast.Load) for each in changed):
        return False
    if any(may_register(each, inner) for each in body):
        return False
    is_said = node.returns is not None and _PLAIN_TYPE.fullmatch(ast.unparse(node.returns)) is not None
    return is_said or not any(may_be_registered(each, inner) for each in values)


def _is_super(node: ast.stmt) -> bool:
    return (
        isinstance(node, ast.Expr)
        and ast.unparse(node.value).startswith("super(")
        and ".__init__(" in ast.unparse(node)
    )


def makes_object(node: ast.expr) -> bool:
    """Whether an expression may make an object that can change: two that it makes are not one."""
    for each in ast.walk(node):
        if isinstance(each, ast.Call) and not (isinstance(each.func, ast.Name) and each.func.id in _OF_NUMBERS):
            return True
        if isinstance(each, ast.List | ast.Dict | ast.Set | ast.ListComp | ast.DictComp | ast.SetComp | ast.Lambda):
            return True
    return False


def registers_surely(node: ast.stmt, context: Context) -> bool:
    """Whether a statement at the end makes modules or parameters itself, which should be fields."""
    for each in ast.walk(node):
        if isinstance(each, ast.Call):
            qualified = context.meaning(each.func)
            called = each.func.attr if isinstance(each.func, ast.Attribute) else ""
            if qualified in PARAMETER or (qualified and context.is_module_class(qualified)):
                return True
            if called in ("register_buffer", "register_parameter", "add_module", "register_module", "__setattr__"):
                return True
            if isinstance(each.func, ast.Name) and each.func.id in (
                "setattr",
                "delattr",
                "exec",
                "eval",
                "locals",
                "vars",
            ):
                return True
    return any(
        isinstance(each, ast.Return | ast.Yield | ast.Await | ast.Global | ast.Nonlocal | ast.Delete)
        for each in ast.walk(node)
    )


def is_used_up(node: ast.expr, context: Context) -> bool:
    """Whether an expression makes an iterator."""
    made_by = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
    is_iterator = made_by in ("enumerate", "iter", "map", "filter", "reversed", "zip")
    return isinstance(node, ast.GeneratorExp) or is_iterator or made_by.startswith("itertools.")
