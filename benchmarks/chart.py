"""Draws the comparison of TensorClasses as a chart: `python -m benchmarks.chart RESULTS.json CHART.svg`, or `make bench-chart`.

A row is a group of operations, a mark the geometric mean of one column over the group, as a multiple of the class written by
hand. The axis is logarithmic: twice as fast is as far from the middle as twice as slow. The text depends on the results alone.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log
from pathlib import Path

from .tensorclass.comparison import MEASURE, mean_ratio
from .tensorclass.operations import OPERATIONS
from .timing import Row

LEFT, RIGHT, TOP, LINE = 150, 26, 96, 30
"""Space for the names of the rows, behind the axis, and above the rows; height of a row."""
WIDTH = 800
LOWEST, HIGHEST = 1 / 16, 32
TICKS = (0.1, 0.2, 0.5, 1, 2, 5, 10, 20)


@dataclass(frozen=True, slots=True)
class Mark:
    """How a column is drawn: what the legend says, the colour on white and on black, and the shape around its middle."""

    legend: str
    light: str
    dark: str
    path: str


MARKS: Mapping[str, Mark] = {
    "generated": Mark("qten-gen", "#0969da", "#58a6ff", "M-6,0a6,6 0 1,0 12,0a6,6 0 1,0 -12,0z"),
    "tensordict": Mark("tensordict", "#bc4c00", "#f0883e", "M-5,-5h10v10h-10z"),
    "tensor_only": Mark("tensordict, tensor_only", "#8250df", "#bc8cff", "M0,-7L6,5H-6z"),
    "pytree": Mark("dataclass through pytree", "#57606a", "#a0a8b0", "M0,-6L6,0L0,6L-6,0z"),
}

STYLE = """\
text { font: 13px system-ui, sans-serif; fill: #1f2328 }
.title { font-size: 15px; font-weight: 600 }
.small { font-size: 12px; fill: #57606a }
.all { font-weight: 600 }
.back { fill: #ffffff }
.grid { stroke: #d0d7de }
.one { stroke: #1f2328; stroke-width: 1.5 }"""
DARK_STYLE = """\
text { fill: #e6edf3 }
.small { fill: #a0a8b0 }
.back { fill: #0d1117 }
.grid { stroke: #30363d }
.one { stroke: #e6edf3 }"""


def draw(rows: Sequence[Row]) -> str:
    """The chart of rows that are named like the operations."""
    groups = {group: [row for row in rows if _group(row) == group] for group in dict.fromkeys(map(_group, rows))}
    found = {**groups, "all operations": list(rows)}
    height = TOP + LINE * len(found) + 16
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img">',
        "<title>Time of operations as a multiple of a class written by hand</title>",
        f"<style>\n{_style()}\n</style>",
        f'<rect class="back" width="{WIDTH}" height="{height}" rx="6"/>',
        '<text class="title" x="16" y="26">Time of an operation / that of a class written by hand</text>',
        *_legend(),
        *_axis(TOP + LINE * len(found)),
    ]
    for number, (group, members) in enumerate(found.items()):
        parts += _row(group, members, TOP + LINE * number + LINE // 2, "all" if group == "all operations" else "")
    return "\n".join([*parts, "</svg>", ""])


def _group(row: Row) -> str:
    return next(operation.group for operation in OPERATIONS if operation.name == row.name)


def _style() -> str:
    light = "\n".join(f".{name} {{ fill: {mark.light} }}" for name, mark in MARKS.items())
    dark = "\n".join(f".{name} {{ fill: {mark.dark} }}" for name, mark in MARKS.items())
    return f"{STYLE}\n{light}\n@media (prefers-color-scheme: dark) {{\n{DARK_STYLE}\n{dark}\n}}"


def _legend() -> list[str]:
    parts, x = [], 22
    for name, mark in MARKS.items():
        parts.append(f'<path class="{name}" transform="translate({x},48)" d="{mark.path}"/>')
        parts.append(f'<text x="{x + 12}" y="52">{mark.legend}</text>')
        x += 40 + 7 * len(mark.legend)
    return parts


def _axis(bottom: int) -> list[str]:
    """Lines and numbers at the ticks, that of the class written by hand in front."""
    parts = []
    for tick in TICKS:
        x = position(tick)
        words = "by hand" if tick == 1 else f"{tick:g} x"
        parts.append(f'<line class="{"one" if tick == 1 else "grid"}" x1="{x}" x2="{x}" y1="{TOP - 8}" y2="{bottom}"/>')
        parts.append(f'<text class="small" x="{x}" y="{TOP - 14}" text-anchor="middle">{words}</text>')
    return parts


def _row(group: str, members: Sequence[Row], y: int, weight: str) -> list[str]:
    """The name of a group and its marks; a mark says its number to whom points at it."""
    parts = [f'<text class="{weight}" x="16" y="{y + 4}">{group}</text>']
    for name, mark in reversed(list(MARKS.items())):  # ours is drawn last, on top
        if any({name, MEASURE} <= row.seconds.keys() for row in members):
            ratio = mean_ratio(members, name, MEASURE)
            label = f"<title>{mark.legend}: {ratio:.2f}</title>"
            parts.append(
                f'<path class="{name}" transform="translate({position(ratio)},{y})" d="{mark.path}">{label}</path>'
            )
    return parts


def position(ratio: float) -> float:
    """Where a ratio lies; one that leads out of the axis is drawn at its end."""
    share = log(min(max(ratio, LOWEST), HIGHEST) / LOWEST) / log(HIGHEST / LOWEST)
    return round(LEFT + share * (WIDTH - LEFT - RIGHT), 1)


def read(path: Path, layout: str) -> list[Row]:
    """The rows of one layout from what `python -m benchmarks.tensorclass --json` wrote."""
    found = [Row(**row) for row in json.loads(path.read_text(encoding="utf-8"))]
    prefix = f"{layout}: "
    return [Row(row.name.removeprefix(prefix), row.seconds, row.limit) for row in found if row.name.startswith(prefix)]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.chart", description=__doc__)
    parser.add_argument("results", type=Path, help="what python -m benchmarks.tensorclass --json wrote")
    parser.add_argument("chart", type=Path, help="the SVG file to write")
    parser.add_argument("--layout", default="Three", help="the class whose operations are drawn")
    options = parser.parse_args()
    options.chart.write_text(draw(read(options.results, options.layout)), encoding="utf-8")


if __name__ == "__main__":
    main()
