"""Plots the history of the main measures."""

from collections.abc import Sequence
from datetime import datetime
from io import BytesIO
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from kb_pipeline.evaluation.records import EvaluationRun

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SHOWN = 40
"""How many of the newest runs are plotted."""


class PlottedLine(NamedTuple):
    """A measure of a group of questions, with its label and colour."""

    measure: str
    group: str
    label: str
    colour: str


LINES = (
    PlottedLine("article@5", "all", "article@5", "#0b6e69"),
    PlottedLine("span@5", "all", "span@5", "#c2701c"),
    PlottedLine("MRR@10", "all", "MRR@10", "#8a5a9e"),
    PlottedLine("article@5", "paraphrase", "article@5, in other words", "#5b7f95"),
    PlottedLine("article cited", "all", "right article cited", "#0b6e69"),
    PlottedLine("words in the answer", "all", "answer holds the words", "#c2701c"),
    PlottedLine("citation recall", "all", "citation recall", "#8a5a9e"),
    PlottedLine("refused", "all", "unanswerable refused", "#5b7f95"),
    PlottedLine("top-1", "all", "right cause named first", "#0b6e69"),
    PlottedLine("top-3", "all", "among the first three", "#c2701c"),
    PlottedLine("no common cause", "all", "no common cause recognised", "#8a5a9e"),
    PlottedLine("Brier", "all", "Brier (0 is best)", "#5b7f95"),
)
"""The lines to plot; a run has four of them, by what it measures: retrieval, answers or diagnosis."""

_MUTED, _RULE, _BAD = "#616c71", "#e2ded5", "#b3372f"
_MOST_DATES = 8
"""Dates on the axis: more would overlap."""
_LEAST_APART = 0.055
"""The height of a label, as a share of the axis."""


def plot_history(runs: Sequence[EvaluationRun]) -> bytes:
    """A PNG of the newest runs, of which there must be one: scores with intervals, and changes of the generation."""
    from matplotlib.figure import Figure  # not pyplot, which keeps every figure and must run in the main thread

    shown = runs[-SHOWN:]
    figure = Figure(figsize=(9, 3.4), dpi=100, facecolor="white", layout="constrained")
    axes = figure.add_subplot()
    _draw_axes(axes, shown)
    ends = [(value, line) for line in LINES if (value := _draw(axes, shown, line)) is not None]
    _name_lines(axes, len(shown), ends)
    if not all(run.accepted for run in shown):
        axes.text(0, 1.02, "hollow: not accepted", color=_BAD, fontsize=7, transform=axes.transAxes)
    picture = BytesIO()
    figure.savefig(picture, format="png")
    return picture.getvalue()


def _draw_axes(axes: "Axes", runs: Sequence[EvaluationRun]) -> None:
    axes.set_xlim(-0.5, len(runs) - 0.5 + max(1.0, 0.28 * len(runs)))
    axes.set_ylim(0, 1.04)
    axes.set_yticks([0, 0.2, 0.4, 0.6, 0.8, 1])
    axes.grid(axis="y", color=_RULE, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.spines["bottom"].set_color(_RULE)
    axes.tick_params(length=0, colors=_MUTED, labelsize=8)
    step = -(-len(runs) // _MOST_DATES)
    dates = range(len(runs) - 1, -1, -step)
    axes.set_xticks(list(dates), [f"{datetime.fromisoformat(runs[place].made_at):%d %b\n%H:%M}" for place in dates])
    for place, (before, after) in enumerate(pairwise(runs), 1):
        if before.generation != after.generation:
            axes.axvline(place - 0.5, color=_MUTED, linewidth=0.8, linestyle=(0, (2, 3)))
            what = "network" if after.scenario else "generation"
            axes.text(place - 0.46, 0.015, f"{what} {after.generation}", color=_MUTED, fontsize=7)


def _draw(axes: "Axes", runs: Sequence[EvaluationRun], line: PlottedLine) -> float | None:
    """Draw one line with its intervals, and return its last value. Runs that were not accepted get a hollow red dot."""
    scores = [(place, run.scores.get(line.measure, {}).get(line.group)) for place, run in enumerate(runs)]
    points = [(place, score) for place, score in scores if score]
    if not points:
        return None
    places, values = [place for place, _ in points], [score.value for _, score in points]
    low, high = [score.low for _, score in points], [score.high for _, score in points]
    if len(points) > 1:
        axes.fill_between(places, low, high, color=line.colour, alpha=0.1, linewidth=0)
        axes.plot(places, values, color=line.colour, linewidth=1.8)
    else:
        axes.vlines(places, low, high, color=line.colour, alpha=0.35, linewidth=2)
    accepted = [runs[place].accepted for place in places]
    fill = [line.colour if good else "white" for good in accepted]
    edge = [line.colour if good else _BAD for good in accepted]
    axes.scatter(places, values, s=20, color=fill, edgecolors=edge, zorder=3)
    return values[-1]


def _name_lines(axes: "Axes", count: int, ends: Sequence[tuple[float, PlottedLine]]) -> None:
    """Write value and label at the end of each line, moved apart so that they do not overlap."""
    height = 2.0
    for value, line in sorted(ends, key=lambda end: -end[0]):
        height = min(value, height - _LEAST_APART)
        place = count - 1 + 0.02 * max(count, 4)
        text = axes.text(place, height, f"{value:.2f}  {line.label}", color=line.colour, fontsize=8.5, va="center")
        text.set_bbox({"facecolor": "white", "edgecolor": "none", "pad": 1})
