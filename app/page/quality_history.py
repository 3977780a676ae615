"""Charts of the measures over time: a card for each measure, with its newest value and a line through all runs."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pandas as pd
import streamlit as st

from app.page.labels import moment
from app.page.quality_scores import group_name, groups_of
from app.page.quality_words import in_words
from app.page.templates import render, signed
from app.schema.quality import QualityMeasure, QualityRun, QualityScore
from kb_pipeline.wording import counted

_COLUMNS = 3
"""Charts beside each other: wide enough for a dozen of runs."""
_HEIGHT = 150
"""Pixels of a chart: two rows of them fit on a screen."""
_ROOM = 0.12
"""What stays free below the lowest value, so that no line lies on the axis."""
_TOP, _HALF = 1.03, 0.5
"""What is above 1 keeps lines off the edge; below a half, ticks stand two tenths apart."""
_PADDING = {"left": 0, "right": 4, "top": 4, "bottom": 0}
_LINE, _REFUSED, _BORDER = "#2f8f86", "#cf5a50", "#858e90"
"""The colours of the line, of runs that were not accepted, and of borders between generations: seen on light and dark
ground alike, because a chart stays as it is when the system turns dark."""
_DAY, _TIME = "%-d %b", "%H:%M"
_DAYS = {
    "type": "temporal",
    "title": None,
    "axis": {
        # depends on the unit that a tick begins: runs may be months or minutes apart
        "format": {
            "year": _DAY,
            "month": _DAY,
            "week": _DAY,
            "date": _DAY,
            "day": _DAY,
            "hours": _TIME,
            "minutes": _TIME,
        },
        "tickCount": 4,
        "grid": False,
        "labelFlush": True,
    },
}
_TOOLTIP = [
    {"field": "when", "type": "temporal", "title": "measured", "format": "%-d %b %Y, %H:%M"},
    {"field": "value", "type": "quantitative", "format": ".3f"},
    {"field": "low", "type": "quantitative", "title": "95 % from", "format": ".3f"},
    {"field": "high", "type": "quantitative", "title": "to", "format": ".3f"},
    *({"field": name, "type": "nominal"} for name in ("questions", "generation", "commit", "accepted")),
]
_LEAST = 2
"""Runs that make a line; of a single one the card says all."""
_NO_CHART = '<p class="kb-how">A chart of each measure is shown from the second run on.</p>'


@st.fragment
def show(runs: Sequence[QualityRun], measures: Sequence[QualityMeasure]) -> None:
    """Show groups of questions to choose from, and a card for each measure that the newest run has of the group."""
    group = _chosen_group(runs[-1])
    shown = [measure for measure in measures if group in runs[-1].scores.get(measure.name, {})]
    lowest = _lowest(runs, shown, group)
    histories = {measure.name: history_of(runs, measure.name, group) for measure in shown}
    drawn = [history for history in histories.values() if len(history) >= _LEAST]
    for at in range(0, len(shown), _COLUMNS):
        for column, measure in zip(st.columns(_COLUMNS), shown[at : at + _COLUMNS], strict=False):
            with column.container(border=True, key=f"measure-{measure.kind}-{at}-{measure.name}"):
                st.html(card_html(runs, measure, group))
                history = histories[measure.name]
                if len(history) >= _LEAST:
                    key = f"chart-{measure.kind}-{measure.name}-{group}"
                    st.vega_lite_chart(history, chart(history, lowest), key=key)
    st.html(legend_html(drawn) if drawn else _NO_CHART)


def _chosen_group(run: QualityRun) -> str:
    groups = groups_of(run)
    return st.pills(
        "Questions",
        groups,
        default=groups[0],
        required=True,
        format_func=group_name,
        key=f"quality-group-{run.kind}",
        label_visibility="collapsed",
    )


def card_html(runs: Sequence[QualityRun], measure: QualityMeasure, group: str) -> str:
    """What the newest value of a measure says in words, its name, and the difference from the run before."""
    score = runs[-1].scores[measure.name][group]
    before = next((run for run in reversed(runs[:-1]) if group in run.scores.get(measure.name, {})), None)
    since = _since(before, before.scores[measure.name][group], score) if before else "first run"
    return render("scores", "card", measure, in_words(measure, score), score, since)


def _since(before: QualityRun, then: QualityScore, now: QualityScore) -> str:
    day = moment(before.made_at).partition(",")[0].rpartition(" ")[0]
    if then.n != now.n:
        return f"{then.value:.2f} on {day}, over {counted(then.n, 'question')}"
    difference = signed(now.value - then.value)
    return f"unchanged since {day}" if difference == signed(0) else f"{difference} since {day}"


def history_of(runs: Sequence[QualityRun], measure: str, group: str) -> pd.DataFrame:
    """A row for each run that has the measure, oldest first; ``border`` says how it differs from the run before."""
    measured = [run for run in runs if group in run.scores.get(measure, {})]
    borders = ["", *(_border(before, after) for before, after in pairwise(measured))]
    scores = [run.scores[measure][group] for run in measured]
    return pd.DataFrame(
        {
            "when": pd.to_datetime([run.made_at for run in measured], utc=True, format="ISO8601"),
            "value": [score.value for score in scores],
            "low": [score.low for score in scores],
            "high": [score.high for score in scores],
            "questions": [score.n for score in scores],
            "generation": [run.generation for run in measured],
            "commit": [run.commit for run in measured],
            "accepted": [run.accepted for run in measured],
            "border": borders[: len(measured)],
        }
    )


def _border(before: QualityRun, after: QualityRun) -> str:
    if before.generation != after.generation:
        return f"another index: {after.generation}"
    return "other questions" if before.question_sets != after.question_sets else ""


def _lowest(runs: Sequence[QualityRun], measures: Sequence[QualityMeasure], group: str) -> float:
    """The common minimum of all axes, so that cards can be compared; wide bands of few questions may go below it."""
    values = [run.scores[m.name][group].value for run in runs for m in measures if group in run.scores.get(m.name, {})]
    return max(0.0, int((min(values, default=0.0) - _ROOM) * 10) / 10)


def legend_html(histories: Sequence[pd.DataFrame]) -> str:
    """What is seen in the charts of these histories."""
    parts = ["Band: 95 % interval"]
    if any(any(history["border"]) for history in histories):
        parts.append("dashed line: from here on a new index or other questions")
    if not all(all(history["accepted"]) for history in histories):
        parts.append("hollow point: significantly worse, not accepted")
    return f'<p class="kb-how">{" · ".join(parts)}.</p>'


def chart(history: pd.DataFrame, lowest: float) -> dict[str, Any]:
    """The Vega-Lite specification of a measure's line and band (https://vega.github.io/vega-lite/docs/).

    It names the first and the last time, and has borders only if the history has some: Vega, which Streamlit gives the
    rows only afterwards, would warn that there is nothing to draw.
    """
    # as text: it would take a number for a year
    times = [time.isoformat() for time in (history["when"].min(), history["when"].max())]
    x = {"field": "when", **_DAYS, "scale": {"padding": 6, "domain": times}}
    y = _axis(lowest)
    value = {"x": x, "y": {"field": "value", **y}}
    interval_of = {"x": x, "y": {"field": "band", **y}, "y2": {"field": "high"}}
    # calculated, not clipped: Vega-Lite clips at the height without the axis, and the band would cover its labels
    band = {"transform": [{"calculate": f"max(datum.low, {lowest})", "as": "band"}], "encoding": interval_of}
    points = {
        "fill": {"condition": {"test": "datum.accepted", "value": _LINE}, "value": "transparent"},
        "stroke": {"condition": {"test": "datum.accepted", "value": _LINE}, "value": _REFUSED},
        "tooltip": _TOOLTIP,
    }
    borders = {
        "transform": [{"filter": "datum.border != ''"}],
        "mark": {"type": "rule", "color": _BORDER, "strokeDash": [4, 3]},
        "encoding": {"x": x, "tooltip": [{"field": "border", "title": "from here on"}]},
    }
    return {
        "height": _HEIGHT,
        "padding": _PADDING,
        "config": {"view": {"strokeWidth": 0}},
        "layer": [
            *([borders] if any(history["border"]) else []),
            {"mark": {"type": "area", "color": _LINE, "opacity": 0.16}, **band},
            {"mark": {"type": "rule", "color": _LINE, "opacity": 0.35}, **band},
            {"mark": {"type": "line", "color": _LINE, "strokeWidth": 2}, "encoding": value},
            {"mark": {"type": "point", "size": 42, "opacity": 1, "strokeWidth": 1.6}, "encoding": {**value, **points}},
        ],
    }


def _axis(lowest: float) -> dict[str, Any]:
    step = 0.2 if lowest < _HALF else 0.1
    ticks = [tick for at in range(11) if (tick := round(1 - step * at, 1)) >= lowest]
    return {
        "type": "quantitative",
        "title": None,
        "axis": {"values": ticks, "tickCount": len(ticks), "format": ".1f", "labelFlush": False},
        "scale": {"domain": [lowest, _TOP], "nice": False},
    }
