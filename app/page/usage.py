"""The page of usage, for those who answer for the knowledge base: what was asked, what became of it, what it cost, and
which articles no answer used.
"""

from collections.abc import Sequence
from http import HTTPStatus
from typing import Any, Literal

import pandas as pd
import streamlit as st

from app.client import ClientError
from app.page import places, session
from app.page.failures import panel, sentence
from app.page.labels import chosen
from app.page.templates import render
from app.schema.usage import WEEKS, UsageOfTime, UsageReport
from kb_pipeline.wording import counted

_FATES = {
    "answered": "answered",
    "closest": "only something close",
    "refused": "refused",
    "asked_back": "asked back",
    "failed": "failed",
}
_INK = ("#2f8f86", "#c79a3d", "#cf5a50", "#7d9fc4", "#858e90")
"""The colours of the parts of a bar, in the order of :data:`_FATES`: seen on light and dark ground alike."""
_HEIGHT = 240
"""Pixels of the chart: the figures above it and some rows below it fit on a screen."""
_DAYS = 30
"""Days that are drawn; all of them are in the file."""
_TOPICS = 12
"""Topics whose bars fit on a screen; the file has more."""
_UNUSED = 50
"""Articles that are listed; all of them are in the file."""
_By = Literal["weeks", "days"]
_BY: dict[_By, str] = {"weeks": "By week", "days": "By day"}


def show() -> None:
    """Show how the knowledge base is used, to reviewers."""
    places.begin_wide_page()
    st.title("Usage", anchor=False)
    try:
        report = session.client().usage()
    except ClientError as exc:
        if exc.status != HTTPStatus.FORBIDDEN:
            raise
        st.html(panel("This is for those who answer for the knowledge base", sentence(str(exc)), kind="note"))
        return
    st.html(figures_html(report))
    if report.total.asked:
        _show_times(report)
    if report.topics:
        st.html(render("usage", "topics", report.topics[:_TOPICS]))
    st.html(unused_html(report))
    st.download_button(
        "Download all as CSV",
        report.csv(),
        f"usage-{report.made_at[:10]}.csv",
        "text/csv",
        icon=":material/download:",
        on_click="ignore",
        key="download-usage",
    )


def figures_html(report: UsageReport) -> str:
    """The last seven days in sentences and in figures, each beside the seven days before."""
    return render("usage", "figures", report.in_words(), report.last_week, report.week_before, report.total)


def unused_html(report: UsageReport) -> str:
    """The articles that no answer used, the oldest first."""
    return render("usage", "unused", report, report.unused[:_UNUSED], WEEKS)


@st.fragment
def _show_times(report: UsageReport) -> None:
    by = chosen("Time", _BY, "weeks", "usage-by")
    times = report.weeks if by == "weeks" else report.days[-_DAYS:]
    st.vega_lite_chart(parts_of(times), chart(times), key=f"usage-{by}")
    st.html(render("usage", "times", report.rows_of(times), counted(len(times), by.removesuffix("s"))))


def parts_of(times: Sequence[UsageOfTime]) -> pd.DataFrame:
    """A row for each part of each bar."""
    rows = [
        {"from": each.begins, "became": name, "questions": getattr(each, fate), "order": order}
        for each in times
        for order, (fate, name) in enumerate(_FATES.items())
    ]
    return pd.DataFrame(rows)


def chart(times: Sequence[UsageOfTime]) -> dict[str, Any]:
    """The Vega-Lite specification of the bars: what became of the questions of each time."""
    present = [(fate, name, ink) for (fate, name), ink in zip(_FATES.items(), _INK, strict=True)]
    shown = [(name, ink) for fate, name, ink in present if any(getattr(each, fate) for each in times)]
    most = max(sum(getattr(each, fate) for fate in _FATES) for each in times)
    names, inks = [name for name, _ in shown], [ink for _, ink in shown]
    return {
        "height": _HEIGHT,
        "config": {"view": {"strokeWidth": 0}},
        "mark": {"type": "bar", "cornerRadius": 1},
        "encoding": {
            "x": {
                "field": "from",
                "type": "ordinal",
                "title": None,
                "axis": {
                    "labelExpr": "timeFormat(toDate(datum.value), '%-d %b')",
                    "labelAngle": 0,
                    "labelOverlap": True,
                    "ticks": False,
                },
            },
            "y": {
                "field": "questions",
                "type": "quantitative",
                "title": None,
                "axis": {"tickMinStep": 1},
                # named, because Vega looks for it before Streamlit gives it the rows, and warns that there is none
                "scale": {"domain": [0, most]},
            },
            "color": {
                "field": "became",
                "type": "nominal",
                "title": None,
                "scale": {"domain": names, "range": inks},
                "legend": {"orient": "top"},
            },
            "order": {"field": "order", "type": "quantitative"},
            "tooltip": [{"field": name} for name in ("from", "became", "questions")],
        },
    }
