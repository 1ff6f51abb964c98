"""A class statement that runs, without a file: the same rules check it."""

from qten_gen import rules
from qten_gen.model import (
    Argument,
    ClassSource,
    ConfigDecl,
    Declaration,
    Dim,
    FieldDecl,
    FieldKind,
    FieldSource,
    ModuleDecl,
    ParameterDecl,
    SpecifierCall,
    TensorClassDecl,
    TypeExpr,
    language,
)
from qten_gen.rules.rule_input import Facts


def test_a_class_without_a_file_is_checked_by_the_same_rules() -> None:
    batch = TensorClassDecl(
        "Batch",
        (FieldDecl("_map", FieldKind.TENSOR, type=TypeExpr("torch.Tensor"), owner="here.Batch"),),
        ("_map",),
        frozenset({"frozn"}),
        module="here",
    )
    net = ModuleDecl(
        "Net",
        (
            ConfigDecl("dim", type=TypeExpr("builtins.int"), owner="here.Net"),
            ParameterDecl("weight", (Dim("dmi"),), owner="here.Net"),
        ),
        ("dim", "weight"),
        module="here",
    )
    weight = SpecifierCall(language.PARAM, (Argument(None, Dim("dmi")),))
    fields = (FieldSource("weight", TypeExpr("torch.nn.Parameter"), specifier=weight),)

    def codes(declaration: Declaration, source: ClassSource) -> list[str]:
        return [finding.code for finding in rules.check_declaration(declaration, source, Facts())]

    assert codes(batch, ClassSource("Batch", ())) == ["QG104", "QG205"]
    assert codes(net, ClassSource("Net", (), fields=fields)) == ["QG302", "QG303"]
