"""The plan for some files is what the plan for all files has for them."""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from qten_gen.generate.plan import Plan, plan
from qten_gen.project.import_graph import graph_from_texts

from .random_projects import Project, projects

law = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def said_about(made: Plan, paths: set[str]) -> list[object]:
    return [item for item in made.diagnostics if item.path in paths]


@law
@given(projects(), st.data())
def test_the_plan_for_some_files_is_part_of_the_plan_for_all(project: Project, data: st.DataObject) -> None:
    sources = {path: text.encode() for path, text in project.items()}
    graph = graph_from_texts(sources)
    targets = set(data.draw(st.lists(st.sampled_from(sorted(sources)), unique=True)))
    whole, part = plan(sources, {}, graph=graph), plan(sources, {}, targets, graph)
    assert [(item.path, item.stage) for item in part.crashes if item.path in targets] == [
        (item.path, item.stage) for item in whole.crashes if item.path in targets
    ]
    owned = {f"{path.removesuffix('.py')}_qten.py" for path in targets}
    owned |= {f"{path}i" for path in owned}
    if "shop/__init__.py" in targets:
        owned |= {"shop/_qten.py", "shop/_qten.pyi"}
    assert part.outputs == {path: text for path, text in whole.outputs.items() if path in owned}
    assert said_about(part, targets) == said_about(whole, targets)
    assert set(part.blocked) == set(whole.blocked) & targets
    assert set(part.diagnostics) <= set(whole.diagnostics)
    assert part.lookups == {path: names for path, names in whole.lookups.items() if path in targets}
