"""The templates are functions in the package, and these are what the files in `templates/` say."""

import pytest
from jinja2 import Environment, StrictUndefined

from qten_gen.emit.file import python_file
from qten_gen.emit.stub_file import stub_file
from qten_gen.generate import python_templates, stub_templates
from qten_gen.generate.outputs import render
from templates.compile import FOLDER, compiled, statements
from tests.emit.declared import linked

CLASSES = """
class Point(TensorClass):
    at: Tensor
    name: str = "origin"
    next: Tensor | None = None

class Net(Module):
    dim: int
    point: nn.Linear = submodule(nn.Linear, "dim", 3)
    scale: nn.Parameter = param("dim", initializer=nn.init.ones_)
"""


def test_the_functions_are_fresh() -> None:
    assert {path: path.read_text(encoding="utf-8") for path in compiled()} == compiled()


@pytest.mark.parametrize("suffix", ["py", "pyi"])
def test_a_function_gives_the_text_that_jinja2_gives(suffix: str) -> None:
    (file,) = linked(shop__model=f"from qten_gen import param, submodule\n{CLASSES}").values()
    environment = Environment(
        undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True, autoescape=False
    )

    def rendered(template: str, **given: object) -> str:
        text = (FOLDER / f"{template}.{suffix}.j2").read_text(encoding="utf-8")
        return environment.from_string(text).render(**given)

    view = python_file(file) if suffix == "py" else stub_file(file)
    classes = [rendered("tensorclass" if "Tensor" in type(c).__name__ else "module", c=c) for c in view.classes]
    assert render(file)[suffix].split("\n", 2)[2] == rendered("file", file=view, classes=classes)


def test_every_template_is_compiled() -> None:
    made = {name for module in (python_templates, stub_templates) for name in vars(module) if "_py" in name}
    assert made == {path.name.removesuffix(".j2").replace(".", "_") for path in FOLDER.glob("*.j2")}


@pytest.mark.parametrize(
    ("loop", "refused"),
    [
        ("{% for x in c.names %}a{% else %}b{% endfor %}", "else: write an if before the loop"),
        ("{% for x in c.names if x.own %}a{% else %}b{% endfor %}", "else: write an if before the loop"),
        ("{% for x in c.names recursive %}a{% endfor %}", "recursive: write the levels out"),
    ],
)
def test_a_loop_that_would_differ_from_the_one_of_jinja2_is_refused(loop: str, refused: str) -> None:
    with pytest.raises(NotImplementedError, match=f"^line 2: a for loop cannot have {refused}$"):
        list(statements(f"\n{loop}"))
