"""Errors about what a fake tensor cannot do: what was asked for, why it cannot be answered, and what to do."""

from __future__ import annotations


class FakeTensorError(RuntimeError):
    """Something was asked of a fake tensor that needs its values, its memory, or a device that does not exist."""


class ValueDependentShapeError(FakeTensorError):
    """The shape of a result depends on values."""


def needs_values(what: str) -> FakeTensorError:
    """The error about reading a value: `.item()`, `bool(tensor)`, `tolist()` and what calls them."""
    return FakeTensorError(
        f"{what} needs the values of a fake tensor, and a fake tensor has none; "
        "do not branch on values or read them in fake mode, or run this part on real tensors, outside of the context"
    )


def shape_depends_on_values(what: str) -> ValueDependentShapeError:
    """The error about an operation whose result has a shape that depends on values, such as `nonzero`."""
    return ValueDependentShapeError(
        f"the shape of the result of {what} depends on the values of a fake tensor, and a fake tensor has none; "
        "use an operation whose shape does not depend on them, such as torch.where(mask, x, y), or real tensors"
    )


def has_no_memory(what: str, instead: str) -> FakeTensorError:
    """The error about memory: `data_ptr()`, `numpy()`, `pin_memory()` and the like."""
    return FakeTensorError(f"{what} needs the memory of a fake tensor, and a fake tensor has none; {instead}")


NO_PINNING = "pin real tensors, and only on a machine with CUDA; a fake tensor moves at once"


def no_rule(what: str) -> FakeTensorError:
    """The error about an operation that nothing knows the shape of."""
    return FakeTensorError(
        f"{what} has no rule that computes the shape of its result without data; "
        "if it is an operation of your own, register one with torch.library.register_fake"
    )


def needs_fake_cuda(device: object) -> FakeTensorError:
    """The error about a CUDA device that does not exist, where none is emulated."""
    return FakeTensorError(
        f"expected a device of this machine, got {device}: CUDA is not available here; "
        "enter fake_mode(fake_cuda=True) to have fake tensors on CUDA devices that do not exist"
    )


def writes_real_tensor(what: str, argument: str) -> FakeTensorError:
    """The error about a real tensor that is to receive the result of fake ones."""
    return FakeTensorError(
        f"{what} would write values of a fake tensor, which has none, into the real tensor given as {argument!r}; "
        "make that tensor in fake mode too, or make the other one outside of it"
    )


def lazy_on_emulated_device() -> FakeTensorError:
    """The error about a lazy module that has no sizes yet, and is to be on a CUDA device that does not exist."""
    return FakeTensorError(
        "a lazy module without sizes cannot be on a CUDA device that does not exist; "
        "make it on the CPU, call it once, and move it then, or state the sizes"
    )


def too_large(what: str, size: int) -> FakeTensorError:
    """The error about an operation without a rule, which is not computed on large tensors."""
    return FakeTensorError(
        f"{what} has no rule that computes the shape of its result without data, and {size / 2**20:,.0f} MiB of arguments are "
        "too many to try it on zeros; use smaller tensors, or register a rule with torch.library.register_fake"
    )
