"""Objects in `torch.vmap`, `torch.func`, `torch.autograd` and trees: leaves, key paths, batch sizes, results."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest
import torch
import torch.utils._pytree as pytree
from torch import Tensor, nn
from torch.fx.experimental.proxy_tensor import make_fx

from qten_gen import TensorClass
from tests.tensorclass.declared import Batch, Flat, assert_applied, assert_sound, batch, flat, tensors


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


@pytest.mark.parametrize("full", [True, False])
def test_the_leaves_are_the_tensors_and_lead_back(full: bool) -> None:
    value = batch(2, 3, full=full).to("cpu")
    leaves, spec = pytree.tree_flatten(value)
    assert [id(leaf) for leaf in leaves] == [id(tensor) for tensor in tensors(value).values()]
    back = pytree.tree_unflatten(leaves, spec)
    assert_applied(back, value, lambda tensor: tensor)
    assert (back.device, back.source, back.mask is None) == (torch.device("cpu"), "test", not full)
    paths, _ = pytree.tree_flatten_with_path(value)
    assert [pytree.keystr(path) for path, _ in paths][:3] == [".tokens", ".point.position", ".point.weight"]


def test_objects_of_different_batch_sizes_have_one_structure() -> None:
    assert pytree.tree_structure(batch(4)) == pytree.tree_structure(batch(5))
    assert pytree.tree_structure(batch(4)) != pytree.tree_structure(batch(4).replace(source="other"))
    assert pytree.tree_structure(batch(4)) != pytree.tree_structure(batch(4, full=False))


def test_a_mapped_tree_has_batch_size_and_device_of_its_tensors_whatever_the_function_does() -> None:
    value = batch(4, 5)
    assert_applied(pytree.tree_map(lambda tensor: tensor[0], value), value, lambda tensor: tensor[0], (5,))
    assert_applied(pytree.tree_map(lambda tensor: tensor[None], value), value, lambda tensor: tensor[None], (1, 4, 5))
    assert_sound(pytree.tree_map(lambda tensor: tensor.sum(-1), value))
    assert_sound(pytree.tree_map(lambda tensor: tensor[..., None], value))
    assert_sound(pytree.tree_map(lambda tensor: tensor.reshape(-1), value))
    assert pytree.tree_map(lambda tensor: tensor.to("meta"), flat(4).to("cpu")).device == torch.device("meta")
    assert pytree.tree_map(lambda tensor: tensor.to("meta"), flat(4)).device is None


def test_leaves_can_be_anything_in_between() -> None:
    shapes: Any = pytree.tree_map(lambda tensor: list(tensor.shape), flat(4))
    assert (shapes.x, shapes.batch_size) == ([4, 3], ())
    mapped = pytree.tree_map(lambda tensor: None, flat(4).to("cpu"))
    assert (mapped.batch_size, mapped.device, mapped.x, mapped.y) == ((), None, None, None)


class Mask(TensorClass):
    """Perhaps without a tensor that could say the batch size."""

    kept: Tensor | None = None


class Masked(TensorClass):
    x: Tensor
    mask: Mask


@pytest.mark.parametrize("size", [(4, 5), (4, 4)])
def test_an_object_without_tensors_follows_the_batch_size_of_its_holder(size: tuple[int, ...]) -> None:
    value = Masked(torch.rand(*size, 2), Mask(batch_size=(*size, 7)), batch_size=size)
    seen: list[torch.Size] = []

    def scaled(item: Masked) -> Masked:
        seen.extend([item.batch_size, item.mask.batch_size])
        return item * 2

    mapped = torch.vmap(scaled)(value)
    assert seen == [size[1:], (*size[1:], 7)]
    assert (mapped.batch_size, mapped.mask.batch_size) == (size, (*size, 7))
    assert value.mask.batch_size == (*size, 7)
    assert pytree.tree_map(lambda tensor: tensor[:2], value).mask.batch_size == (2, *size[1:], 7)


def test_an_object_without_tensors_keeps_its_batch_size_and_its_names_with_its_dimensions() -> None:
    assert pytree.tree_map(torch.neg, Mask(batch_size=3)).batch_size == (3,)
    value = Masked(torch.rand(4, 2), Mask(batch_size=4, names=["time"]), batch_size=4)
    assert pytree.tree_map(torch.neg, value).mask.names == ("time",)
    assert pytree.tree_map(lambda tensor: tensor[:2], value).mask.names == ("time",)
    assert pytree.tree_map(lambda tensor: tensor[0], value).mask.names == ()


class Prefixed(TensorClass):
    text: Tensor
    x: Tensor | None
    text_lengths: Tensor


class Scaled(nn.Module):
    def forward(self, value: Prefixed) -> Prefixed:
        return value.replace(text=value.text * 2)


@pytest.mark.parametrize("strict", [False, True])
def test_a_field_whose_name_begins_with_the_name_of_another_is_exported(strict: bool) -> None:
    value = Prefixed(torch.rand(3, 4), None, torch.rand(3), batch_size=3)
    found = torch.export.export(Scaled(), (value,), strict=strict).module()(value)
    assert torch.equal(found.text, value.text * 2) and torch.equal(found.text_lengths, value.text_lengths)
    mapped = pytree.tree_map(lambda tensor: tensor + 1, value)
    assert torch.equal(mapped.text, value.text + 1) and mapped.x is None
    assert torch.equal(torch.vmap(lambda one: one * 2)(value).text_lengths, value.text_lengths * 2)


def test_control_flow_refuses_objects_themselves() -> None:
    value: Any = flat(4)
    with pytest.raises(Exception, match="tensor leaves"):
        torch.cond(value.x.sum() > 0, lambda one: one * 2, lambda one: one + 1, (value,))
