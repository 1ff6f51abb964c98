"""Objects in `torch.vmap`, `torch.func` and `torch.autograd`: as arguments, as results, nested, and inside."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest
import torch
import torch.utils._pytree as pytree
from torch import Tensor
from torch.fx.experimental.proxy_tensor import make_fx

from qten_gen import TensorClass
from tests.tensorclass.declared import Batch, Flat, Scale, assert_applied, batch, flat, tensors


def loss(value: Flat) -> Tensor:
    return (value.x.square().sum(-1) * value.y).sum()


def gradients(value: Flat) -> dict[str, Tensor]:
    """The gradients of `loss`, tensor by tensor."""
    inputs = [value.x.detach().requires_grad_(), value.y.detach().requires_grad_()]
    found = torch.autograd.grad(loss(Flat(*inputs, batch_size=value.batch_size)), inputs)
    return dict(zip("xy", found, strict=True))


def assert_close(value: TensorClass, expected: dict[str, Tensor]) -> None:
    torch.testing.assert_close(tensors(value), expected)


class TestVmap:
    def test_any_batch_dimension_of_every_argument_can_be_taken(self) -> None:
        left, right = flat(4, 5), flat(5, 4)
        made: Flat = torch.vmap(lambda a, b, factor: (a + b) * factor, in_dims=(0, 1, None))(left, right, 2.0)
        assert_close(
            made, {path: (tensors(left)[path] + tensors(right)[path].transpose(0, 1)) * 2 for path in ("x", "y")}
        )

    def test_a_dimension_counted_from_the_end_is_one_of_the_batch(self) -> None:
        value = flat(4, 5)
        made: Tensor = torch.vmap(lambda item: item.x.sum(), in_dims=(value.vmap_dims(-1),))(value)
        assert torch.allclose(made, value.x.sum((0, 2)))

    def test_objects_without_some_fields_and_with_static_values_pass_through(self) -> None:
        value = batch(4, full=False)
        made: Batch = torch.vmap(lambda item: item.clone())(value)
        assert_applied(made, value, lambda tensor: tensor)
        assert (made.mask, made.source, made.tags) == (None, "test", ["a"])


class TestFunc:
    def test_grad_and_value_give_an_object_and_a_tensor(self) -> None:
        value = flat(4)
        gradient, found = torch.func.grad_and_value(loss)(value)
        assert type(gradient) is Flat
        assert gradient.batch_size == (4,)
        assert_close(gradient, gradients(value))
        assert torch.equal(found, loss(value))

    def test_the_further_result_of_grad_may_be_an_object(self) -> None:
        value = flat(4)
        _, beside = torch.func.grad(lambda item: (loss(item), item * 2), has_aux=True)(value)
        assert_applied(beside, value, lambda tensor: tensor * 2)

    def test_gradients_of_every_item(self) -> None:
        value = flat(4)
        each: Flat = torch.vmap(torch.func.grad(loss))(value)
        assert each.batch_size == (4,)
        assert_close(each, gradients(value))

    def test_jacrev_gives_an_object_with_the_jacobian_of_each_tensor(self) -> None:
        value = flat(4)
        jacobian: Flat = torch.func.jacrev(lambda item: item.x.square().sum(-1))(value)
        assert type(jacobian) is Flat
        assert jacobian.x.shape == (4, 4, 3)
        assert torch.equal(jacobian.x.diagonal().mT, 2 * value.x)

    @pytest.mark.filterwarnings("ignore:.*torch.jit.script.*:DeprecationWarning")
    def test_the_jacobian_of_an_object_is_an_object_of_objects(self) -> None:
        value = flat(2)
        jacobian: Any = torch.func.jacfwd(lambda item: item * 3)(value)
        assert torch.equal(jacobian.y.y, 3 * torch.eye(2))
        assert not jacobian.y.x.any()

    @pytest.mark.filterwarnings("ignore:.*torch.jit.script.*:DeprecationWarning")
    def test_products_with_jacobians_take_and_give_objects(self) -> None:
        value, direction = flat(4), flat(4)
        tangent: Flat = torch.func.jvp(lambda item: item * item, (value,), (direction,))[1]
        assert_close(tangent, tensors(value * direction * 2))
        found: Any = torch.func.vjp(lambda item: item * item, value)
        out, pull = found
        (cotangent,) = pull(direction)
        assert_close(cotangent, tensors(value * direction * 2))
        assert (type(out), type(cotangent), cotangent.batch_size) == (Flat, Flat, (4,))

    def test_an_ensemble_maps_over_modules(self) -> None:
        modules, value = [Scale() for _ in range(3)], flat(4)
        parameters, buffers = torch.func.stack_module_state(modules)

        def call(parameters: dict[str, Tensor], buffers: dict[str, Tensor], value: Flat) -> Flat:
            made: Flat = torch.func.functional_call(modules[0], (parameters, buffers), (value,))
            return made

        made: Flat = torch.vmap(call, in_dims=(0, 0, None))(parameters, buffers, value)
        assert_close(made, tensors(Flat.stack([module(value) for module in modules])))
        assert made.batch_size == (3, 4)

    def test_what_is_traced_can_be_run_on_other_objects(self) -> None:
        graph = make_fx(lambda item: item * 2 + item.y)(flat(4))
        value = flat(4)
        assert_close(graph(value), tensors(value * 2 + value.y))

    @pytest.mark.parametrize(
        "step",
        [
            lambda item: item[1:-1],
            lambda item: item.split(4)[1],
            lambda item: item.chunk(4)[-1],
            lambda item: Flat.stack([item, item]).reshape(-1),
            lambda item: item.clone().auto_batch_size_(1),
        ],
        ids=["slice", "split", "chunk", "reshape", "auto_batch_size_"],
    )
    def test_batch_sizes_may_be_symbols(self, step: Callable[[Flat], Flat]) -> None:
        graph = make_fx(step, tracing_mode="symbolic")(flat(6))
        value = flat(6)
        assert_close(graph(value), tensors(step(value)))


class TestAutograd:
    def test_the_gradient_of_an_object_is_an_object(self) -> None:
        value = flat(4).requires_grad_()
        inputs: Any = value
        (gradient,) = torch.autograd.grad(loss(value), inputs)
        assert type(gradient) is Flat
        assert gradient.batch_size == (4,)
        assert_close(gradient, gradients(value))

    def test_objects_and_tensors_can_be_mixed(self) -> None:
        value, factor = flat(4).requires_grad_(), torch.tensor(2.0, requires_grad=True)
        inputs: Any = [factor, value]
        found: Any = torch.autograd.grad(loss(value) * factor, inputs)
        assert torch.equal(found[0], loss(value))
        torch.testing.assert_close(found[1].x, 2 * gradients(value)["x"])

    def test_tensors_without_gradient_give_zeros(self) -> None:
        value = batch(4)
        value.point.requires_grad_()
        inputs: Any = value
        total = value.point.position.sum()
        with pytest.raises(RuntimeError, match="appears to not have been used in the graph"):
            torch.autograd.grad(total, inputs, retain_graph=True)
        found: Any = torch.autograd.grad(total, inputs, allow_unused=True)
        assert torch.equal(found[0].point.position, torch.ones(4, 2))
        assert torch.equal(found[0].tokens, torch.zeros_like(value.tokens))
        assert torch.equal(found[0].point.weight, torch.zeros(4))

    def test_outputs_may_be_objects_weighted_by_objects(self) -> None:
        value, weight = flat(4).requires_grad_(), flat(4)
        outputs: Any = value * value
        inputs: Any = value
        weights: Any = weight
        (gradient,) = torch.autograd.grad(outputs, inputs, weights)
        assert_close(gradient, tensors((value * weight * 2).detach()))

    def test_backward_adds_to_the_gradients_of_the_tensors(self) -> None:
        value, weight = flat(4).requires_grad_(), flat(4)
        outputs: Any = value * value
        weights: Any = weight
        torch.autograd.backward(outputs, weights)
        assert value.x.grad is not None
        torch.testing.assert_close(value.x.grad, (2 * value.x * weight.x).detach())

    def test_backward_can_be_limited_to_objects(self) -> None:
        value, factor = flat(4).requires_grad_(), torch.tensor(2.0, requires_grad=True)
        inputs: Any = [value]
        torch.autograd.backward(loss(value) * factor, inputs=inputs)
        assert factor.grad is None
        assert value.y.grad is not None

    def test_what_cannot_be_differentiated_is_refused(self) -> None:
        value, other = flat(4).requires_grad_(), batch(4)
        unlike: Any = other
        inputs: Any = value
        outputs: Any = value * 2
        with pytest.raises(RuntimeError, match=r"grad: no tensor of the inputs requires a gradient"):
            torch.autograd.grad(loss(value), unlike)
        with pytest.raises(ValueError, match=r"grad: expected the gradient of a Flat to be one like it, got a Batch"):
            torch.autograd.grad(outputs, inputs, unlike)
        with pytest.raises(ValueError, match=r"grad: expected one gradient for each of 1 outputs, got 2"):
            torch.autograd.grad(outputs, inputs, [inputs, inputs])


def test_optree_knows_objects_in_the_namespace_of_torch() -> None:
    optree: Any = pytest.importorskip("optree", reason="torch registers pytrees with optree where it is installed")
    # Imported by torch when it needs it, and then it registers all classes.
    import_module("torch.utils._cxx_pytree")
    value = batch(4)
    made: Batch = optree.tree_map(lambda tensor: tensor[:2], value, namespace="torch")
    assert_applied(made, value, lambda tensor: tensor[:2], (2,))
    paths = [accessor.codify("") for accessor in optree.tree_accessors(value, namespace="torch")]
    assert paths[:3] == [".tokens", ".point.position", ".point.weight"]


def test_a_tree_map_knows_the_path_of_every_tensor() -> None:
    paths: Any = pytree.tree_map_with_path(lambda path, _: pytree.keystr(path), batch(4, full=False))
    assert (paths.tokens, paths.point.position, paths.point.weight) == (".tokens", ".point.position", ".point.weight")
