"""The values that names may have along every path of a function, as far as the text proves them, and what torch returns."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

Values = frozenset[str]
"""The kinds of values that an expression may have.

A kind is one of the words below, the qualified name of a class of modules, `?x` for what is passed for the argument x, or one of
these with a star: `torch.Tensor*` is a sequence of tensors.
"""

TENSOR = frozenset({"torch.Tensor"})
NONE = frozenset({"None"})
NUMBER = frozenset({"a number"})
SOMETHING = frozenset({"something"})
"""Anything but None."""
OF_TORCH = frozenset({"an object of torch"})
"""What another function of torch returns: never None."""
ANYTHING = frozenset({"anything"})
NEVER: Values = frozenset()
"""The elements of a container that is empty."""


def argument(name: str) -> Values:
    """What is passed for an argument, whatever that is."""
    return frozenset({f"?{name}"})


def several(values: Values) -> Values:
    """Sequences of values."""
    return frozenset(f"{each}*" for each in values)


def elements(values: Values) -> Values:
    """The elements of sequences, or of a tensor along its first dimension."""
    found: Values = NEVER
    for each in values:
        if each.endswith("*"):
            found |= {each[:-1]}
        else:
            found |= TENSOR if values == TENSOR else ANYTHING
    return found


def given(values: Values) -> Values:
    """Values that are known not to be None."""
    return frozenset("something" if each == "anything" or each.startswith("?") else each for each in values - NONE)


def elsewhere(values: Values) -> Values:
    """Values in another function, which knows nothing about these arguments."""
    return frozenset("anything" if each.startswith("?") else each for each in values)


def computed(left: Values, right: Values) -> Values:
    """The result of an operator. Of a tensor and something unknown it is unknown: that may define the operator."""
    if not left or not right or not left | right <= TENSOR | NUMBER:
        return SOMETHING
    if TENSOR in (left, right):
        return TENSOR
    return left | right


@dataclass(slots=True)
class State:
    """The values of local names at one place."""

    names: dict[str, Values] = field(default_factory=dict)
    proven: frozenset[str] = frozenset()
    """The arguments that are tensors, because what took them before raises for anything else."""

    def copy(self) -> State:
        """The same state, which can change on its own."""
        return State(dict(self.names), self.proven)

    def updated(self, values: Values) -> Values:
        """Values with what was proven since they were read."""
        return values if self.proven.isdisjoint(values) else (values - self.proven) | TENSOR

    def of(self, name: str) -> Values:
        """The values of a name."""
        return self.updated(self.names.get(name, ANYTHING))

    def prove(self, name: str) -> None:
        """Note that the value of a name is a tensor. Another name may have the same argument."""
        values = self.of(name) - NONE
        if len(values) == 1 and (only := next(iter(values))).startswith("?") and "*" not in only:
            self.proven |= {only}
        self.names[name] = TENSOR


def joined(states: list[State]) -> State | None:
    """The state where several paths meet; None if no path leads there.

    A name that a path does not bind cannot be read behind it.
    """
    if not states:
        return None
    names = dict.fromkeys(name for each in states for name in each.names)
    return State(
        {name: frozenset().union(*(each.of(name) for each in states if name in each.names)) for name in names},
        frozenset.intersection(*(each.proven for each in states)),
    )


_MOST_TURNS = 8
_NESTED = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef


def own_nodes(function: ast.FunctionDef) -> Iterable[ast.AST]:
    """The nodes of a function, without the functions and classes inside it."""
    waiting: list[ast.AST] = list(function.body)
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, _NESTED):
            waiting += ast.iter_child_nodes(node)


class Statements:
    """One run of a function. It collects what is returned, and what the attributes of the object become."""

    def __init__(self, evaluate: Callable[[ast.expr, State], Values], owner: str) -> None:
        """Take the function that evaluates expressions, and the name of the object that the function is a method of."""
        self.evaluate = evaluate
        self.owner = owner
        self.returned: Values = NEVER
        self.attributes: dict[str, Values] = {}
        self._leaving: list[list[State]] = []
        """For each loop around the statement, the states at its `break` and `continue`."""

    def result(self, function: ast.FunctionDef, state: State) -> Values:
        """The values that a function returns."""
        try:
            end = self._all(function.body, state)
        except RecursionError:  # of an expression that Python can parse, and not follow
            self.attributes = dict.fromkeys((*self.attributes, "*"), ANYTHING)
            return ANYTHING
        return self.returned if end is None else self.returned | NONE

    def assign(self, name: str, values: Values) -> None:
        """Note a further value of an attribute of the object."""
        self.attributes[name] = self.attributes.get(name, NEVER) | values

    def _all(self, body: Iterable[ast.stmt], state: State | None) -> State | None:
        """The state behind statements; None where the end is not reached."""
        for statement in body:
            if state is None:
                return None
            state = self._one(statement, state)
        return state

    def _one(self, node: ast.stmt, state: State) -> State | None:
        """The state behind a statement."""
        match node:
            case ast.Expr(value=value) | ast.Assert(test=value):
                self.evaluate(value, state)
            case ast.Pass() | ast.Global():
                pass
            case ast.Return(value=value):
                self.returned |= NONE if value is None else state.updated(self.evaluate(value, state))
                return None
            case ast.Raise():
                return None
            case ast.Break() | ast.Continue():
                self._leaving[-1].append(state)
                return None
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    self._bind(target, value, state)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self._bind(target, value, state)
            case ast.AugAssign(target=ast.Name(id=name), value=value):
                right = self.evaluate(value, state)
                state.names[name] = computed(state.of(name), right)
            case ast.If(test=test, body=body, orelse=orelse):
                yes, no = self.branches(test, state)
                return joined([each for each in (self._all(body, yes), self._all(orelse, no)) if each is not None])
            case ast.For(target=target, iter=iterable):
                self.evaluate(iterable, state)
                return self._loop(node, state, lambda each: self._turn(target, iterable, each))
            case ast.While(test=test):
                return self._loop(node, state, lambda each: self.evaluate(test, each))
            case ast.With(items=items, body=body) if all(each.optional_vars is None for each in items):
                contexts = [self.evaluate(each.context_expr, state) for each in items]
                after = self._all(body, state.copy())
                if all(each == OF_TORCH for each in contexts):
                    return after  # others may swallow an error in the middle
                return self.forget(node, after or state, may_return=False)
            case _:
                return self.forget(node, state)
        return state

    def forget(self, node: ast.AST, state: State, may_return: bool = True) -> State:
        """The state behind a part that is not followed: whatever it binds may be anything."""
        for each in ast.walk(node):
            match each:
                case ast.Name(id=name, ctx=ast.Store() | ast.Del()) | ast.alias(asname=str(name)):
                    state.names[name] = ANYTHING
                case ast.alias(name=name) | ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                    state.names[name.partition(".")[0]] = ANYTHING
                case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)) | ast.ExceptHandler(name=str(name)):
                    state.names[name] = ANYTHING
                case ast.Attribute(value=ast.Name(id=self.owner), attr=name, ctx=ast.Store() | ast.Del()):
                    self.assign(name, ANYTHING)
                case ast.Return() if may_return:
                    self.returned |= ANYTHING
        return state

    def _bind(self, target: ast.expr, value: ast.expr, state: State) -> None:
        """Bind a target to the value of an expression."""
        match target, value:
            case ast.Tuple(elts=parts), ast.Tuple(elts=values) if len(parts) == len(values) and not any(
                isinstance(each, ast.Starred) for each in (*parts, *values)
            ):
                found = [self.evaluate(each, state) for each in values]
                for part, each in zip(parts, found, strict=True):
                    self._set(part, each, state)
            case _:
                self._set(target, self.evaluate(value, state), state)

    def _set(self, target: ast.expr, values: Values, state: State) -> None:
        """Bind a target to a value."""
        match target:
            case ast.Name(id=name):
                state.names[name] = values
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                inner = elements(values)
                for part in parts:
                    self._set(part, ANYTHING if isinstance(part, ast.Starred) else inner, state)
            case ast.Starred(value=inside):
                self._set(inside, values, state)
            case ast.Attribute(value=ast.Name(id=self.owner), attr=name):
                self.assign(name, values)

    def _turn(self, target: ast.expr, iterable: ast.expr, state: State) -> None:
        """Bind the variables of a loop."""
        match target, iterable:
            case ast.Tuple(elts=[first, second]), ast.Call(func=ast.Name(id="enumerate"), args=[counted]):
                self._set(first, NUMBER, state)
                self._set(second, elements(self.evaluate(counted, state)), state)
            case ast.Tuple(elts=parts), ast.Call(func=ast.Name(id="zip"), args=sources) if len(parts) == len(sources):
                for part, source in zip(parts, sources, strict=True):
                    self._set(part, elements(self.evaluate(source, state)), state)
            case _:
                self._set(target, elements(self.evaluate(iterable, state)), state)

    def _loop(self, node: ast.For | ast.While, state: State, begin: Callable[[State], object]) -> State | None:
        """The state behind a loop, whose turns repeat until they add nothing."""
        for _ in range(_MOST_TURNS):
            turn = state.copy()
            begin(turn)
            self._leaving.append([])
            end = self._all(node.body, turn)
            left = self._leaving.pop()
            after = joined([state, *([] if end is None else [end]), *left])
            assert after is not None
            if after == state:
                return joined([each for each in (self._all(node.orelse, state.copy()), *left) if each is not None])
            state = after
        return self.forget(node, state)

    def branches(self, test: ast.expr, state: State) -> tuple[State, State]:
        """The states where a condition holds, and where it does not."""
        match test:
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                no, yes = self.branches(operand, state)
                return yes, no
            case ast.Compare(
                left=ast.Name(id=name), ops=[ast.Is() | ast.IsNot()], comparators=[ast.Constant(value=None)]
            ):
                none, other = state.copy(), state.copy()
                none.names[name], other.names[name] = NONE, given(state.of(name))
                return (none, other) if isinstance(test.ops[0], ast.Is) else (other, none)
        self.evaluate(test, state)
        yes = state.copy()
        if isinstance(test, ast.Name):
            yes.names[test.id] = given(state.of(test.id))
        return yes, state.copy()


FUNCTIONS = frozenset(
    {
        f"torch.nn.functional.{name}"
        for name in "adaptive_avg_pool2d avg_pool1d avg_pool2d avg_pool3d batch_norm binary_cross_entropy "
        "binary_cross_entropy_with_logits conv1d conv2d conv3d conv_transpose1d conv_transpose2d cosine_similarity "
        "cross_entropy dropout dropout2d elu embedding fold gelu glu grid_sample group_norm hardtanh interpolate "
        "kl_div l1_loss layer_norm leaky_relu linear log_softmax logsigmoid mse_loss nll_loss normalize one_hot pad "
        "pixel_shuffle relu relu6 rms_norm scaled_dot_product_attention selu sigmoid silu smooth_l1_loss softmax "
        "softplus tanh unfold".split()
    }
    | {
        f"torch.{name}"
        for name in "abs add addmm amax amin arange argmax argmin atan2 baddbmm bernoulli bincount bmm broadcast_to bucketize "
        "cat ceil clamp clone complex concat conj cos cross cumprod cumsum diag diag_embed diagonal diff div dot einsum empty "
        "empty_like erf exp expm1 eye flatten flip floor from_numpy full full_like gather hann_window hstack "
        "index_select inverse isfinite isinf isnan istft lerp linspace log log10 log1p log2 logical_and logical_not "
        "logical_or logspace logsumexp masked_fill masked_select matmul maximum mean minimum mm mul multinomial "
        "nan_to_num norm normal ones ones_like outer permute polar pow prod rand rand_like randint randint_like randn "
        "randn_like randperm real reciprocal relu remainder repeat_interleave reshape roll round rsqrt scatter "
        "scatter_add searchsorted sigmoid sign sin sinh softmax sqrt square squeeze stack sub sum tan tanh tensor "
        "tile transpose tril triu trunc unflatten unsqueeze view_as_complex view_as_real vstack zeros zeros_like".split()
    }
)
"""Functions that return one tensor."""

FUNCTIONS_OF_SEVERAL = frozenset(f"torch.{name}" for name in "chunk meshgrid split tensor_split unbind".split())
"""Functions that return a sequence of tensors, most of which tensors have as methods too."""

METHODS = frozenset(
    "abs add add_ addcmul amax amin argmax argmin argsort bernoulli bernoulli_ bfloat16 bmm bool byte ceil clamp "
    "clamp_ clamp_max clamp_min clip clone contiguous copy_ cos cpu cuda cumprod cumsum detach detach_ diag "
    "diagonal diff div div_ dot double eq erf exp exp_ expand expand_as fill_ flatten flip float floor gather ge "
    "gt half index_add index_add_ index_copy_ index_fill index_select int inverse isfinite isinf isnan le lerp "
    "lerp_ log log10 log1p log2 log_softmax logical_and logical_not logical_or logsumexp long lt masked_fill "
    "masked_fill_ masked_scatter masked_select matmul maximum mean minimum mm movedim mul mul_ multinomial "
    "nan_to_num narrow ne neg new_empty new_full new_ones new_tensor new_zeros norm normal_ outer permute pow "
    "prod reciprocal relu relu_ remainder repeat repeat_interleave requires_grad_ reshape reshape_as roll round "
    "rsqrt scatter scatter_ scatter_add scatter_add_ select short sigmoid sign sin softmax sqrt square squeeze "
    "std sub sub_ sum t take tan tanh tile to transpose tril triu trunc type_as unflatten unfold uniform_ "
    "unsqueeze unsqueeze_ var view view_as zero_".split()
)
"""Methods of a tensor that return one."""

ATTRIBUTES = frozenset("H T data imag mH mT real".split())
"""Attributes of a tensor that are one, and never None."""

CHECKING_LAYERS = frozenset(
    f"torch.nn.{name}"
    for name in "BatchNorm1d BatchNorm2d BatchNorm3d Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d "
    "Dropout Dropout2d Embedding GELU GroupNorm LayerNorm Linear PReLU RMSNorm ReLU Sigmoid Tanh".split()
)
"""Layers that return one tensor, and raise where their argument is none."""

LAYERS = CHECKING_LAYERS | frozenset(
    f"torch.nn.{name}"
    for name in "AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d AvgPool1d AvgPool2d AvgPool3d BCELoss "
    "BCEWithLogitsLoss CELU CosineSimilarity CrossEntropyLoss ELU Flatten GLU Hardswish Hardtanh InstanceNorm1d "
    "InstanceNorm2d InstanceNorm3d KLDivLoss L1Loss LeakyReLU LogSoftmax MSELoss Mish NLLLoss PixelShuffle "
    "PixelUnshuffle ReLU6 SELU SiLU SmoothL1Loss Softmax Softplus Unfold Upsample ZeroPad2d".split()
)
"""Layers whose forward returns one tensor."""

WEIGHTED = frozenset(f"torch.nn.{name}" for name in "Conv1d Conv2d Conv3d Embedding Linear".split())
"""Layers whose weight is never None."""

CLASSES = frozenset(
    f"torch.{name}"
    for name in "BoolTensor DoubleTensor FloatTensor IntTensor LongTensor Tensor nn.Buffer nn.Parameter nn.parameter.Buffer "
    "nn.parameter.Parameter".split()
)
"""Classes of tensors."""

EINOPS = frozenset(f"einops.{name}" for name in ("rearrange", "reduce", "repeat"))
"""Functions that return a tensor for a tensor."""
