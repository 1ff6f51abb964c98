"""Calling a module with handlers gives what nn.Module's call gives, and calling a functional what `invoke` gives."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import MethodType
from typing import TYPE_CHECKING, Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn.modules import module as torch_module

from qten_gen import Module
from qten_gen.runtime.module import dispatch


class Twice(Module):
    def forward(self, x: Tensor, scale: float = 1.0) -> Tensor:
        return 2 * scale * x


@Twice.register(int)
def _(twice: Twice, number: int, scale: float = 1.0) -> float:
    return 2 * scale * number


class PlainTwice(nn.Module):
    def forward(self, x: Tensor | int, scale: float = 1.0) -> Tensor | float:
        return 2 * scale * x


class HeirOfTwice(Twice):
    pass


class PlainHeirOfTwice(PlainTwice):
    pass


def untyped(value: Any) -> Any:
    """A module that a checker lets be called on anything."""
    return value


def result(call: Callable[[], object]) -> str:
    try:
        return str(call())
    except Exception as error:  # any error: it is compared with the plain module's
        return f"{type(error).__name__}: {error}".replace("Plain", "")


Hook = Callable[[nn.Module, list[object]], object]


class Patched:
    """An attribute that is another one until `remove`."""

    def __init__(self, target: object, name: str, value: object) -> None:
        self.patch = pytest.MonkeyPatch()
        self.patch.setattr(target, name, value)

    def remove(self) -> None:
        self.patch.undo()


def wrapped_forward(module: nn.Module, log: list[object]) -> object:
    """As accelerate wraps a module: the new forward calls the old one."""
    old = module.forward
    wrapped = functools.update_wrapper(functools.partial(lambda m, x: ("wrapped", old(x)), module), old)
    return Patched(module, "forward", wrapped)


def method(module: nn.Module, log: list[object]) -> object:
    own = MethodType(lambda self, x: ("method", type(self).__name__.removeprefix("Plain"), x), module)
    return Patched(module, "forward", own)


def wrapped_class_forward(module: nn.Module, log: list[object]) -> object:
    old: Any = type(module).forward
    return Patched(type(module), "forward", lambda self, x: ("of the class", old(self, x)))


def class_forward(module: nn.Module, log: list[object]) -> object:
    return Patched(type(module), "forward", lambda self, x: ("of the class", x))


def class_call_impl(module: nn.Module, log: list[object]) -> object:
    return Patched(type(module), "_call_impl", lambda self, *given: ("of the class", *given))


def noted(name: str) -> Hook:
    """As a profiler does: every call is noted, and then made."""

    def patch(module: nn.Module, log: list[object]) -> object:
        old: Any = getattr(nn.Module, name)

        def noting(self: nn.Module, *given: object, **keywords: object) -> object:
            log.append(given)
            return old(self, *given, **keywords)

        return Patched(nn.Module, name, noting)

    return patch


HOOKS: dict[str, Callable[[Any, list[object]], object]] = {
    "forward": lambda module, log: module.register_forward_hook(lambda _, given, out: log.append((given, out))),
    "replacing": lambda module, log: module.register_forward_hook(lambda _, given, out: 100),
    "before": lambda module, log: module.register_forward_pre_hook(lambda _, given: (given[0] + 1,)),
    "before, with keywords": lambda module, log: module.register_forward_pre_hook(
        lambda _, given, keywords: (given, {"scale": 5.0}), with_kwargs=True
    ),
    "backward": lambda module, log: module.register_full_backward_hook(lambda _, before, after: log.append(after)),
    "before backward": lambda module, log: module.register_full_backward_pre_hook(lambda _, grad: log.append(grad)),
    "always called": lambda module, log: module.register_forward_hook(
        lambda _, given, out: log.append(out), always_call=True
    ),
    "global": lambda module, log: torch_module.register_module_forward_hook(
        lambda _, given, out: log.append(("global", out))
    ),
    "global, before": lambda module, log: torch_module.register_module_forward_pre_hook(
        untyped(lambda _, given: (given[0] * 3,))
    ),
    "global, backward": lambda module, log: torch_module.register_module_full_backward_hook(
        lambda _, before, after: log.append(after)
    ),
    "global, before backward": lambda module, log: torch_module.register_module_full_backward_pre_hook(
        lambda _, grad: log.append(grad)
    ),
    "own forward": lambda module, log: Patched(module, "forward", lambda x: ("own", x)),
    "own method": method,
    "wrapped forward": wrapped_forward,
    "wrapped forward of the class": wrapped_class_forward,
    "forward of the class": class_forward,
    "static forward of the class": lambda module, log: Patched(
        type(module), "forward", staticmethod(lambda x: ("static", x))
    ),
    "compiled": lambda module, log: Patched(module, "_compiled_call_impl", lambda *given: ("compiled", *given)),
    "own _call_impl": lambda module, log: Patched(module, "_call_impl", lambda *given: ("own", *given)),
    "_call_impl of the class": class_call_impl,
    "_call_impl of torch": noted("_call_impl"),
    "__call__ of torch": noted("__call__"),
}


def called(module: nn.Module, hook: Hook) -> tuple[list[str], str]:
    """What calls of a module with a hook give, and what the hook noted."""
    log: list[object] = []
    handle = hook(module, log)
    try:
        x = torch.ones(2, requires_grad=True)
        said = [result(lambda: module(x)), result(lambda: module(3)), result(lambda: module("x", y=1))]
        loss = module(x)
        if isinstance(loss, Tensor):
            torch.autograd.backward(loss.sum())
            said.append(str(x.grad))
    finally:
        if handle is not None:
            handle.remove()  # type: ignore[attr-defined] # hooks give handles
    return said, str(log)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("hook", HOOKS.values(), ids=HOOKS)
@pytest.mark.parametrize("cls", [Twice, HeirOfTwice])
def test_hooks_and_patches_see_what_they_see_of_a_plain_module(hook: Hook, cls: type[Twice]) -> None:
    plain = PlainTwice() if cls is Twice else PlainHeirOfTwice()
    assert called(cls(), hook) == called(plain, hook)


@pytest.mark.parametrize("patch", [wrapped_class_forward, class_forward, class_call_impl])
def test_a_patch_of_the_class_holds_for_heirs_and_only_while_it_is_there(patch: Hook) -> None:
    def calls(base: nn.Module, heir: Any) -> list[object]:
        patched: Any = patch(base, [])
        while_patched = [heir(3), heir(4.0)]
        patched.remove()
        return [*while_patched, heir(3), heir(4.0)]

    assert calls(Twice(), HeirOfTwice()) == calls(PlainTwice(), PlainHeirOfTwice())


def test_a_handler_that_is_registered_under_a_patch_is_called_by_it() -> None:
    class Late(Twice):
        pass

    late = untyped(Late())
    Late.register(int)(lambda module, number: "handler")
    patched: Any = wrapped_class_forward(late, [])
    Late.register(str)(lambda module, text: "late")
    assert late("a") == ("of the class", "late")
    patched.remove()
    assert (late("a"), late(3)) == ("late", "handler")


def test_a_call_that_was_kept_sees_later_handlers() -> None:
    class Kept(Twice):
        pass

    kept = untyped(Kept())
    call, of_class = kept.__call__, untyped(Kept).__call__
    assert call(3) == 6
    Kept.register(int)(lambda module, number: "late")
    assert (call(3), of_class(kept, 3)) == ("late", "late")


@pytest.mark.parametrize("given", [(), ("x", "y", "z")])
def test_wrong_arguments_are_refused_in_the_words_of_forward(given: tuple[str, ...]) -> None:
    assert result(lambda: untyped(Twice())(*given)) == result(lambda: PlainTwice()(*given))


@pytest.mark.parametrize("given", [(3,), (3, 2.0), (torch.ones(1),)])
def test_a_constructor_without_super_is_reported_as_nn_module_does(given: tuple[object, ...]) -> None:
    class Unset(Twice):
        def __init__(self) -> None:
            pass

    class PlainUnset(PlainTwice):
        def __init__(self) -> None:
            pass

    assert result(lambda: untyped(Unset())(*given)) == result(lambda: PlainUnset()(*given))


def test_with_another_layout_nn_module_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dispatch, "KNOWN", False)

    class Newer(Module):
        pass

    Newer.register(int)(lambda newer, number: number)
    assert untyped(Newer).__call__ is nn.Module.__call__
    assert untyped(Newer())(3) == 3


def test_an_heir_with_its_own_call_reaches_its_own_forward() -> None:
    class Base(Module):
        def forward(self, x: object, scale: float = 1.0) -> str:
            return "of the base"

    Base.register(int)(lambda base, number, scale=1.0: "handler of the base")

    class Heir(Base):
        def forward(self, x: object, scale: float = 1.0) -> str:
            return "of the heir"

        if not TYPE_CHECKING:  # Module says to checkers that it is `forward`'s

            def __call__(self, *given: object, **keywords: object) -> str:
                return super().__call__(*given, **keywords)

    assert (untyped(Heir())("x"), untyped(Heir())("x", scale=2.0)) == ("of the heir", "of the heir")


def test_fx_sees_the_module() -> None:
    class Outer(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = Twice()

        def forward(self, x: Tensor) -> Tensor:
            out: Tensor = self.inner(x)
            return out

    class AsLeaf(torch.fx.Tracer):
        def is_leaf_module(self, m: nn.Module, module_qualified_name: str) -> bool:
            return True

    assert [node.op for node in AsLeaf().trace(Outer()).nodes] == ["placeholder", "call_module", "output"]
