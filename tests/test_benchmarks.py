"""The benchmarks compare like with like, and their tables read well. Nothing is timed here."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from benchmarks import chart, compiled, derived, materialize, module, storage
from benchmarks.tensorclass.columns import SMALL, Column, build, columns
from benchmarks.tensorclass.comparison import differing, mean_ratio
from benchmarks.tensorclass.layouts import LAYOUTS, THREE, Layout
from benchmarks.tensorclass.operations import OPERATIONS, Operation
from benchmarks.timing import Row, interleaved, table


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.name)
@pytest.mark.parametrize("operation", [found for found in OPERATIONS if found.compared], ids=lambda found: found.name)
def test_all_columns_give_what_the_class_written_by_hand_gives(operation: Operation, layout: Layout) -> None:
    assert differing(operation, columns(), layout, SMALL) == []


@pytest.mark.parametrize("device", [None, "cpu"])
@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.name)
def test_the_class_written_by_hand_is_shown_as_the_generated_one(layout: Layout, device: str | None) -> None:
    generated, hand = [column for column in columns() if column.name in ("generated", "by hand")]
    assert repr(build(generated, layout, [4], 3, device)) == repr(build(hand, layout, [4], 3, device))


def test_an_operation_that_gives_something_else_is_noticed() -> None:
    hand = next(column for column in columns() if column.name == "by hand")

    class Wrong(hand.cls(THREE)):  # type: ignore[misc] # the class is made when the benchmark runs
        __slots__ = ()

        def clone(self) -> object:
            return self.apply(lambda tensor: tensor + 1)

    clone = next(found for found in OPERATIONS if found.name == "clone")
    assert differing(clone, [hand, Column("wrong", lambda layout: Wrong)], THREE, SMALL) == ["wrong"]


def test_ratios_are_averaged_geometrically_over_the_rows_that_have_both_columns() -> None:
    rows = [
        Row("clone", {"this": 2.0, "hand": 1.0}),
        Row("get", {"this": 1.0, "hand": 8.0}),
        Row("set", {"this": 1.0}),
    ]
    assert mean_ratio(rows, "this", "hand") == pytest.approx(0.5)


def test_the_compiled_step_does_the_same_in_all_columns() -> None:
    results = {}
    for name, (step, a, b) in compiled.steps().items():
        made = step(a, b)
        results[name] = made if isinstance(made, tuple) else (made.q, made.k, made.v)
    expected = [tensor.tolist() for tensor in results["by hand"]]
    assert all([tensor.tolist() for tensor in made] == expected for made in results.values())


@pytest.mark.parametrize("row", list(module.rows()), ids=lambda row: row[0])
def test_the_columns_for_modules_do_the_same(row: tuple[str, str, dict[str, module.Names], str]) -> None:
    _, statement, columns, _ = row
    results = [module.left(statement, names) for names in columns.values()]
    assert all(result == results[0] for result in results)


def test_the_ways_to_start_a_module_give_the_same_tensors_with_values() -> None:
    def shown(start: str) -> dict[str, tuple[torch.Size, bool, bool]]:
        tensors = materialize.starts(4, 2)[start]().state_dict()
        return {name: (tensor.shape, tensor.is_meta, bool(tensor.isfinite().all())) for name, tensor in tensors.items()}

    eager = shown("eager")
    assert len(eager) == 14
    assert all(not is_meta and is_finite for _, is_meta, is_finite in eager.values())
    assert {start: shown(start) for start in materialize.starts(4, 2)} == dict.fromkeys(materialize.starts(4, 2), eager)


@pytest.mark.parametrize("row", list(derived.rows()), ids=lambda row: row[0])
def test_the_columns_for_derived_tensors_give_equal_ones(row: tuple[str, derived.Cells, str]) -> None:
    assert derived.agree(row[1])


@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.parametrize("column", storage.columns(), ids=lambda column: column.name)
def test_the_columns_for_the_disk_load_what_they_saved(column: storage.Column, tmp_path: Path) -> None:
    storage.check(column, str(tmp_path / "map"), {name: torch.rand(4, 3) for name in "qkv"})


def test_columns_are_measured_in_turns_and_the_minimum_counts() -> None:
    order: list[str] = []
    times = {"a": iter([3.0, 1.0, 2.0]), "b": iter([6.0, 5.0, 4.0])}

    def measurement(name: str) -> float:
        order.append(name)
        return next(times[name])

    best = interleaved({"a": lambda: measurement("a"), "b": lambda: measurement("b")}, rounds=3)
    assert best == {"a": 1.0, "b": 4.0}
    assert order == ["a", "b", "b", "a", "a", "b"]


def test_the_chart_in_the_documentation_is_drawn_from_the_results_beside_it() -> None:
    docs = Path(__file__).parents[1] / "docs"
    rows = chart.read(docs / "tensorclass-speed.json", "Three")
    assert chart.draw(rows) == (docs / "tensorclass-speed.svg").read_text(encoding="utf-8")


def test_a_table_has_times_relations_limits_and_dashes() -> None:
    rows = [
        Row("construct", {"this": 1.1e-6, "hand": 1e-6}, "1.05"),
        Row("get", {"this": 35e-9, "hand": 70e-9}),
        Row("set", {"this": 35e-9}),
    ]
    assert table(rows, lambda this, hand: f"{this / hand:.2f}", "/").splitlines() == [
        "             this   hand  / hand  limit",
        "construct  1.1 us   1 us    1.10   1.05",
        "get         35 ns  70 ns    0.50",
        "set         35 ns      -       -",
    ]
