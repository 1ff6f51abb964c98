"""One statement of a class body to the declaration of a field, for both readers."""

import pytest

from qten_gen.model import (
    Argument,
    BufferDecl,
    ConfigDecl,
    Default,
    Dim,
    DimError,
    FieldKind,
    FieldSource,
    MethodSource,
    ModuleField,
    NodePath,
    ParameterDecl,
    Signature,
    SpecifierCall,
    SubmoduleDecl,
    TypeExpr,
    Value,
    language,
)
from qten_gen.model.build_field import build_module_field, build_tensorclass_field, build_virtual_field

TENSOR = TypeExpr("torch.Tensor", text="Tensor")
OWNER = "shop.model.Batch"


def value(text: str) -> Value:
    """A value as a reader makes it: a literal, or a name."""
    return Value(text, literal=None if text.replace(".", "").isidentifier() and text not in CONSTANTS else text)


CONSTANTS = ("None", "True", "False")


def call(name: str, *dims: Dim | DimError | Value, **keywords: str | Dim) -> SpecifierCall:
    """A call of a specifier; keywords that are text are values."""
    given = {key: value(item) if isinstance(item, str) else item for key, item in keywords.items()}
    return SpecifierCall(name, (*(Argument(None, dim) for dim in dims), *(Argument(*item) for item in given.items())))


def module_field(specifier: SpecifierCall | None, default: Value | None = None) -> ModuleField:
    source = FieldSource("x", TENSOR, default, specifier, doc="What it is.", place=NodePath(("body", 0)))
    return build_module_field(source, TENSOR, OWNER)


def test_a_parameter_has_what_its_specifier_says() -> None:
    found = module_field(
        call(language.PARAM, Dim("dim"), Dim("8"), requires_grad="False", when=Dim("bias"), tie="'embed.weight'")
    )

    assert found == ParameterDecl(
        "x",
        (Dim("dim"), Dim("8")),
        requires_grad=False,
        when=Dim("bias"),
        tie="embed.weight",
        type=TENSOR,
        owner=OWNER,
    )


def test_a_buffer_is_persistent_unless_it_says_otherwise() -> None:
    assert module_field(call(language.BUFFER, Dim("3"))) == BufferDecl("x", (Dim("3"),))
    assert module_field(call(language.BUFFER, Dim("3"), persistent="False")) == BufferDecl("x", (Dim("3"),), False)


@pytest.mark.parametrize("specifier", [language.PARAM, language.BUFFER])
def test_an_initializer_or_dtype_of_none_is_like_one_that_is_left_out(specifier: str) -> None:
    given = module_field(call(specifier, initializer="torch.nn.init.ones_", dtype="torch.int64"))
    none = module_field(call(specifier, initializer="None", dtype="None"))

    assert isinstance(given, ParameterDecl | BufferDecl) and isinstance(none, ParameterDecl | BufferDecl)
    assert given.initializer is not None and given.initializer.text == "torch.nn.init.ones_"
    assert given.dtype is not None and given.dtype.text == "torch.int64"
    assert (none.initializer, none.dtype) == (None, None)


def test_a_submodule_keeps_its_own_keywords_from_its_class() -> None:
    found = module_field(
        call(language.SUBMODULE, value("nn.Linear"), Dim("dim"), bias="False", repeat=Dim("depth"), init="False")
    )

    assert isinstance(found, SubmoduleDecl)
    assert found.cls.text == "nn.Linear"
    assert [argument.keyword for argument in found.arguments] == [None, "bias"]
    assert (found.repeat, found.keys, found.when) == (Dim("depth"), None, None)


@pytest.mark.parametrize(("written", "keys"), [("'tasks'", "tasks"), ("('a', 'b')", ("a", "b")), ("names", None)])
def test_the_keys_of_a_submodule_are_a_config_field_or_names(written: str, keys: object) -> None:
    found = module_field(call(language.SUBMODULE, value("nn.Linear"), keys=written))

    assert isinstance(found, SubmoduleDecl) and found.keys == keys


def test_a_field_without_a_specifier_of_its_own_is_a_constructor_argument() -> None:
    assert module_field(None) == ConfigDecl("x")
    assert module_field(None, value("8")) == ConfigDecl("x", Default(Value()))
    assert module_field(call(language.FIELD, default="8", kw_only="True")) == ConfigDecl("x", Default(Value()), True)
    assert module_field(call(language.FIELD, alias="'norm'")) == ConfigDecl("x", alias="norm")
    assert module_field(call(language.FIELD, default_factory="list")) == ConfigDecl("x", Default(Value(), factory=True))


@pytest.mark.parametrize(
    "specifier",
    [
        None,
        call(language.FIELD),
        call(language.PARAM),
        call(language.BUFFER),
        call(language.SUBMODULE, value("nn.Linear")),
    ],
)
def test_every_field_knows_where_it_is_from(specifier: SpecifierCall | None) -> None:
    found = module_field(specifier)

    assert (found.name, found.type, found.doc) == ("x", TENSOR, "What it is.")
    assert (found.owner, found.place) == (OWNER, NodePath(("body", 0)))


def test_arguments_that_cannot_be_used_are_left_out() -> None:
    unreadable = DimError("3*", "a number or a name is missing at the end", 2)

    parameter = module_field(call(language.PARAM, unreadable, Dim("2"), value("size"), when="flag", requires_grad="1"))
    child = module_field(call(language.SUBMODULE, value("nn.Linear"), unreadable, repeat="2.5", when="3"))
    without_class = module_field(call(language.SUBMODULE))

    assert parameter == ParameterDecl("x", (Dim("2"),))
    assert child == SubmoduleDecl("x", Value())
    assert without_class == SubmoduleDecl("x", Value())


def test_a_tensorclass_field_has_its_kind_from_the_annotation_and_its_default_from_the_specifier() -> None:
    source = FieldSource("x", TENSOR, specifier=call(language.FIELD, default="None", kw_only="True"), doc="Doc.")

    found = build_tensorclass_field(source, TENSOR, frozenset(), OWNER, lambda _: False)

    assert (found.kind, found.default, found.kw_only) == (FieldKind.TENSOR, Default(Value()), True)
    assert (found.owner, found.doc) == (OWNER, "Doc.")


def test_a_specifier_of_modules_is_not_a_default_in_a_tensorclass() -> None:
    source = FieldSource("x", TENSOR, specifier=call(language.PARAM, Dim("3")))

    assert build_tensorclass_field(source, TENSOR, frozenset(), OWNER, lambda _: False).default is None


def test_a_virtual_tensor_has_the_type_and_the_options_of_its_function() -> None:
    signature = Signature("dtype: torch.dtype", "Tensor | None", ("torch.dtype", "Tensor"))
    options = call(language.VIRTUAL, cached="True", sources="('dim',)")

    plain = build_virtual_field(MethodSource("x", Signature("", "")), OWNER)
    cached = build_virtual_field(MethodSource("x", signature, specifier=options, doc="Doc."), OWNER)

    assert (plain.cached, plain.sources, plain.type.text) == (False, None, "torch.Tensor")
    assert (cached.cached, cached.sources, cached.doc, cached.owner) == (True, ("dim",), "Doc.", OWNER)
    assert (cached.type.text, cached.type.names) == ("Tensor | None", ("Tensor",))
