"""Operations of every kind, and the state of torch that they run under."""

from __future__ import annotations

import copy
from collections.abc import Callable

import numpy
import torch
from torch import Tensor, nn

from . import Written, constructor

OUTSIDE = torch.arange(6.0).reshape(2, 3)


@constructor
def views_and_in_place_slices(module: Written) -> None:
    x = torch.randn(4, 6)
    module.register_buffer("x", x)
    module.register_buffer("rows", x[1:3])
    module.register_buffer("transposed", x.t())
    x[0] = 7
    module.rows.mul_(2)
    module.expanded = torch.randn(3).expand(2, 3)
    module.left, module.right = x.chunk(2)


@constructor
def reading_values(module: Written) -> None:
    x = torch.randn(5)
    module.total = x.sum().item()
    module.layer = nn.Linear(3, 3)
    module.some = bool((x > 0).any())
    module.listed = x.tolist()
    module.printed = f"{x.sum():.3f}"
    module.drop_path = nn.ModuleList([nn.Dropout(float(p)) for p in torch.linspace(0, 0.5, 3)])
    module.x = x
    if x[0] > x[1]:
        x.add_(1)
    module.after = torch.randn(2)


@constructor
def shapes_that_depend_on_values(module: Written) -> None:
    x = torch.randn(50)
    module.register_buffer("positive", x[x > 0])
    module.register_buffer("places", torch.nonzero(x > 0))
    module.unique = torch.unique(torch.randint(0, 5, (20,)))
    module.weight = nn.Parameter(torch.randn(len(module.positive)))


@constructor
def gradients(module: Written) -> None:
    module.layer = layer = nn.Linear(3, 3)
    layer(torch.randn(2, 3)).sum().backward()
    module.own = own = nn.Linear(2, 2)
    own.weight.grad = torch.randn(2, 2)
    own.bias.grad = own.weight.grad[0]
    module.kept = layer.bias.grad
    module.without = without = nn.Linear(2, 2)
    without.zero_grad()


@constructor
def a_step_of_an_optimizer(module: Written) -> None:
    module.layer = layer = nn.Linear(3, 3)
    module.optimizer = optimizer = torch.optim.AdamW(layer.parameters())
    for _ in range(2):
        layer(torch.randn(2, 3)).sum().backward()
        optimizer.step()
    module.moments = [state["exp_avg"] for state in optimizer.state.values()]


@constructor
def statistics_of_a_batch(module: Written) -> None:
    module.norm = norm = nn.BatchNorm1d(4)
    for _ in range(2):
        norm(torch.randn(5, 4))
    norm.eval()(torch.randn(5, 4))
    module.after = torch.randn(2)


@constructor
def states_that_go_from_one_generator_to_another(module: Written) -> None:
    first, second = torch.Generator().manual_seed(4), torch.Generator()
    module.a = torch.randn(5, generator=first)
    second.set_state(first.get_state())
    module.b, module.c = torch.rand(3, generator=second), torch.rand(3, generator=first)
    third = first.clone_state()
    module.d, module.e = torch.rand(3, generator=third), torch.rand(3, generator=first)
    torch.set_rng_state(third.get_state())
    module.f = torch.randn(20)


@constructor
def seeds_and_states(module: Written) -> None:
    module.a = nn.Linear(3, 3)
    with torch.random.fork_rng():
        torch.manual_seed(9)
        module.b = nn.Linear(3, 3)
    module.c = nn.Linear(3, 3)
    state = torch.get_rng_state()
    module.d = torch.randn(3)
    torch.set_rng_state(state)
    module.e = torch.randn(3)
    torch.manual_seed(5)
    module.f = nn.Linear(3, 3)
    torch.manual_seed(5)
    module.g = nn.Linear(3, 3)
    module.seed = torch.tensor(torch.initial_seed())


@constructor
def own_generators(module: Written) -> None:
    generator = torch.Generator().manual_seed(1)
    module.a = torch.randn(4, generator=generator)
    module.b = nn.init.normal_(torch.empty(4), generator=generator)
    generator.manual_seed(1)
    module.c = torch.rand(4, generator=generator)
    module.d = torch.randn(4)


@constructor
def random_functions_of_every_kind(module: Written) -> None:
    module.a = torch.bernoulli(torch.rand(10))
    module.b = torch.multinomial(torch.rand(10), 3)
    module.c = torch.poisson(torch.rand(10) * 5)
    module.d = torch.normal(torch.zeros(5), torch.ones(5))
    module.e = torch.randperm(10)
    module.f = torch.rand_like(module.d)
    module.g = nn.functional.dropout(module.d, 0.5, True)
    module.h = torch.empty(7).exponential_()
    module.i = torch.distributions.Beta(torch.tensor(1.0), torch.tensor(2.0)).sample((4,))
    module.j = torch.randint_like(module.d, 0, 9)
    module.k = nn.functional.rrelu(module.d, training=True)
    module.m = torch.empty(5).cauchy_()
    module.n = torch.empty(3, 2).t().normal_()
    module.o = torch.binomial(torch.full((4,), 10.0), torch.full((4,), 0.5))
    module.p = torch.randn(3, dtype=torch.complex64)
    module.q = torch.empty(9).geometric_(0.3)
    module.r = torch.empty(9).log_normal_()
    module.s = torch.randint(3, (5,))
    module.weight = nn.Parameter(torch.randn(20))


@constructor
def tensors_from_numbers_of_tensors(module: Written) -> None:
    x = torch.rand(3, dtype=torch.float64)
    module.numbers = torch.tensor([x[0], [x[1], 2][0]])
    module.copied = torch.tensor(data=[x[1]], dtype=torch.float32, requires_grad=True)
    module.as_tensor = torch.as_tensor([x[0], 3.0])
    module.new = x.new_tensor([[1, 2]])
    module.new_integers = x.new_tensor(data=3, dtype=torch.int8, device="cpu")
    module.new_copy = x.new_tensor([x[2], x[1]], requires_grad=True)
    module.bound = x.new_tensor(0.1).item()


@constructor
def initializers(module: Written) -> None:
    functions: list[Callable[[Tensor], object]] = [
        nn.init.orthogonal_,
        lambda tensor: nn.init.sparse_(tensor, 0.5),
        nn.init.trunc_normal_,
        nn.init.xavier_normal_,
        nn.init.kaiming_normal_,
        nn.init.eye_,
    ]
    for index, function in enumerate(functions):
        weight = nn.Parameter(torch.empty(6, 4))
        function(weight)
        module.register_parameter(f"p{index}", weight)
    module.dirac = nn.Parameter(torch.empty(4, 2, 3))
    nn.init.dirac_(module.dirac)


@constructor
def content_that_is_exchanged(module: Written) -> None:
    first, second = nn.Linear(3, 4), nn.Linear(3, 4)
    first.weight.data = torch.randn(4, 3)
    second.weight = first.weight
    first.bias.data.fill_(3.0)
    second.bias.data = first.bias.data
    first.weight.data[0].zero_()
    module.first, module.second, module.data = first, second, first.weight.data
    third = nn.Parameter(torch.randn(2))
    torch.utils.swap_tensors(third, fourth := nn.Parameter(torch.ones(2)))  # type: ignore[no-untyped-call] # torch gives it no types
    module.third, module.fourth = third, fourth


@constructor
def default_dtypes(module: Written) -> None:
    module.a = torch.randn(3)
    torch.set_default_dtype(torch.float64)
    try:
        module.b = torch.randn(3)
        module.c = torch.arange(3) / 2
        module.d = nn.Linear(2, 2)
        module.e = torch.arange(4).to(torch.uint8).sqrt()
    finally:
        torch.set_default_dtype(torch.float32)
    module.f = torch.tensor([1, 2]) / 3


@constructor
def contexts(module: Written) -> None:
    with torch.inference_mode():
        module.a = torch.randn(3)
        module.b = module.a * 2
    with torch.no_grad():
        module.c = torch.randn(3) + 1
    with torch.autocast("cpu"):
        module.d = torch.randn(3, 3) @ torch.randn(3, 3)
    with torch.device("cpu"):
        module.e = torch.randn(2)
    with torch.device("meta"):
        module.f = nn.Linear(2, 2)
    with torch.enable_grad():
        module.g = nn.Parameter(torch.randn(2)) * 2


@constructor
def autograd(module: Written) -> None:
    module.weight = nn.Parameter(torch.randn(3))
    module.scaled = module.weight * 2
    module.norm = (module.scaled**2).sum()
    module.column = module.weight.view(3, 1)
    x = torch.randn(3, requires_grad=True)
    (x**2).sum().backward()  # type: ignore[no-untyped-call] # torch gives it no types
    module.x, module.gradient = x, x.grad


@constructor
def loading(module: Written) -> None:
    a, b, c = nn.Linear(3, 3), nn.Linear(3, 3), nn.Linear(3, 3)
    b.load_state_dict(a.state_dict())
    a.load_state_dict({"weight": torch.ones(3, 3), "bias": torch.arange(3.0)})
    c.load_state_dict(a.state_dict(), assign=True)
    module.a, module.b, module.c = a, b, c


@constructor
def flags_and_attributes(module: Written) -> None:
    module.frozen = nn.Linear(3, 3).requires_grad_(False)
    module.counts = nn.Parameter(torch.zeros(3, dtype=torch.int32), requires_grad=False)
    module.nested = [torch.randn(2), (torch.ones(1), {"k": torch.randn(2)})]
    module.weight = nn.Parameter(torch.randn(3))
    module.weight.no_weight_decay = True  # type: ignore[attr-defined] # programs keep what they like on a tensor
    module.buffer = nn.Buffer(torch.randn(3))
    module.hidden = nn.Buffer(torch.randn(2), persistent=False)
    module.also = module.weight


@constructor
def numpy_and_old_constructors(module: Written) -> None:
    table = numpy.arange(6.0).reshape(2, 3)
    module.register_buffer("floats", torch.from_numpy(table).float())
    shared = torch.from_numpy(table)
    shared[0] = torch.randn(3)
    module.register_buffer("shared", shared)
    module.copied = torch.tensor(table)
    module.as_tensor = torch.as_tensor(table)
    module.weight = nn.Parameter(torch.FloatTensor(3, 2).uniform_())
    module.other = nn.Parameter(torch.Tensor(2, 2).normal_())
    module.new = module.weight.new(3).zero_()
    module.new_zeros = module.weight.new_zeros(2)


@constructor
def an_array_that_is_used_for_each_layer(module: Written) -> None:
    table = numpy.zeros(3, dtype=numpy.float32)
    for index in range(3):
        table[:] = index
        weight = nn.Parameter(torch.empty(3))
        with torch.no_grad():
            weight.copy_(torch.from_numpy(table))
        setattr(module, f"weight{index}", weight)


@constructor
def an_array_of_a_tensor_that_changes(module: Written) -> None:
    module.weight = nn.Parameter(torch.zeros(3))
    array = module.weight.detach().numpy()
    with torch.no_grad():
        module.weight.add_(1)
    module.as_array = float(array.sum())
    module.buffer = torch.from_numpy(array.copy())


@constructor
def contents_from_outside(module: Written) -> None:
    module.weight = nn.Parameter(torch.empty(2, 3))
    module.weight.data = OUTSIDE


@constructor
def tensors_in_attributes_of_parameters(module: Written) -> None:
    module.weight = nn.Parameter(torch.randn(3))
    module.weight.scale = torch.randn(2)  # type: ignore[attr-defined] # programs keep what they like on a tensor


@torch.library.custom_op("qten_gen_tests::doubled", mutates_args=())
def doubled(x: Tensor) -> Tensor:
    return x * 2


@constructor
def operators_without_a_rule_for_fake_tensors(module: Written) -> None:
    module.weight = nn.Parameter(doubled(torch.randn(3)))


@constructor
def numbers_alone(module: Written) -> None:
    module.number = torch.randn(3).sum().item()


@constructor
def mathematics(module: Written) -> None:
    module.fft = torch.fft.rfft(torch.randn(8))
    module.qr = torch.linalg.qr(torch.randn(4, 4))[0]
    module.singular = torch.linalg.svdvals(torch.randn(3, 3))
    module.norm = torch.linalg.matrix_norm(torch.randn(5, 3), 2)
    module.eigenvalues = torch.linalg.eig(torch.randn(4, 4))[0]
    module.low_rank = torch.svd_lowrank(torch.randn(6, 5), q=2)[1]
    module.sorted, module.places = torch.sort(torch.randn(5))
    module.spectrum = torch.stft(torch.randn(32), 8, window=torch.hann_window(8), return_complex=True)
    module.window = torch.hann_window(8)
    module.mask = torch.triu(torch.full((4, 4), float("-inf")), 1)
    module.summed = torch.cumsum(torch.ones(4), 0)
    module.stacked = torch.stack([torch.randn(2) for _ in range(3)])
    module.grid = torch.meshgrid(torch.arange(2), torch.arange(3), indexing="ij")
    module.outer = torch.einsum("i,j->ij", torch.randn(2), torch.randn(3))
    module.mapped = torch.func.vmap(lambda x: x * 2)(torch.randn(3))


@constructor
def copies(module: Written) -> None:
    x = torch.randn(4, 6)
    held = Written(lambda module: None)
    held.weight = nn.Parameter(torch.randn(2, 2))
    held.register_buffer("x", x)
    held.register_buffer("rows", x[1:3])
    held.register_buffer("transposed", x.t())
    held.tag = x
    module.held, copied = held, copy.deepcopy(held)
    copied.rows.fill_(3)
    module.copied, module.shallow = copied, copy.copy(held.weight)


class OwnParameter(nn.Parameter):
    """A parameter of another class."""

    def __new__(cls, data: Tensor, requires_grad: bool = True) -> OwnParameter:
        return super().__new__(cls, data, requires_grad)


@constructor
def parameters_of_another_class(module: Written) -> None:
    module.a = OwnParameter(torch.randn(3))
    module.b = OwnParameter(torch.randn(3), requires_grad=False)


@constructor
def resizing_and_reshaping_in_place(module: Written) -> None:
    module.a = torch.randn(2, 3).t_()
    module.b = torch.randn(2, 3).unsqueeze_(0)
    module.c = torch.empty(0).resize_(2, 2).fill_(1)
    module.d = torch.randn(6).set_(torch.randn(4))  # type: ignore[call-overload] # torch takes a tensor too
    module.e = torch.mul(torch.ones(3), torch.randn(3), out=torch.empty(3))
    torch.add(torch.ones(3), 1, out=module.e)
