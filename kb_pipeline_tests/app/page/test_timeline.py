"""The steps of an investigation and its report: what a reader finds on them, and that words of others stay words."""

from typing import Any

import pytest

from app.page.templates import render
from app.page.timeline import failure_of, now, numbers_of, report_html, steps_of, text_of, ticket_of
from app.schema.network import Investigation, InvestigationEvent
from kb_pipeline_tests.app.page.citing import citation
from kb_pipeline_tests.app.page.test_shown import EVIL


def events(*told: tuple[str, dict[str, Any]]) -> list[InvestigationEvent]:
    return [
        InvestigationEvent.model_validate({"id": number, "event": event, "data": data})
        for number, (event, data) in enumerate(told, 1)
    ]


BEGUN = (
    ("run_start", {"run_id": "run-1", "alert": "LINK_DOWN", "timestamp": "2026-11-02T03:40:00+00:00"}),
    ("step_thinking", {"agent": "TelemetryAgent", "status": "reading the alerts"}),
    ("step_start", {"step": 1, "agent": "TelemetryAgent"}),
)
DONE = (
    "step_complete",
    {"step": 1, "agent": "TelemetryAgent", "duration": 0.25, "query": "SELECT 1", "response": "10 alerts"},
)


def test_a_step_is_under_way_until_it_has_answered() -> None:
    [step] = steps_of(events(*BEGUN))
    assert (step.who, step.status, step.seconds) == ("Telemetry", "reading the alerts", None)
    assert "under way" in render("network", "step", step)
    [step] = steps_of(events(*BEGUN, DONE))
    assert (step.seconds, step.query, step.first_line, step.failed) == (0.25, "SELECT 1", "10 alerts", False)
    assert "0.25 s" in render("network", "step", step)


def test_what_an_agent_says_may_come_before_or_after_its_step_begins() -> None:
    late = events(BEGUN[0], BEGUN[2], BEGUN[1])
    assert steps_of(late)[0].status == "reading the alerts"
    assert now(late) == "Telemetry: reading the alerts"
    assert now(events(BEGUN[0])) == "Reading the alert"


def test_steps_that_overlap_are_told_apart_by_their_numbers() -> None:
    other = ("step_start", {"step": 2, "agent": "GraphExplorerAgent"})
    first, second = steps_of(events(*BEGUN, other, DONE))
    assert (first.seconds, second.seconds, second.who) == (0.25, None, "Graph explorer")


def test_a_step_that_failed_says_why_in_its_line() -> None:
    failed = (DONE[0], {**DONE[1], "error": True, "response": "the telemetry does not answer"})
    [step] = steps_of(events(*BEGUN, failed))
    html = render("network", "step", step)
    assert "kb-failed" in html and ">the telemetry does not answer</span>" in html and "What went wrong" in html


def test_a_response_is_a_table_where_it_is_one() -> None:
    table = "| id | message |\n|---|:---|\n| R-1 | a\\|b |\n| R-2 | <b>x</b> |"
    [step] = steps_of(events(*BEGUN, (DONE[0], {**DONE[1], "response": table})))
    assert step.table == (("id", "message"), ("R-1", "a|b"), ("R-2", "<b>x</b>"))
    html = render("network", "step", step)
    assert html.count("<tr>") == 3 and "&lt;b&gt;x&lt;/b&gt;" in html
    [step] = steps_of(events(*BEGUN, (DONE[0], {**DONE[1], "response": "R-1 | down\nR-2 | up"})))
    assert step.table == ()


def test_only_a_query_of_telemetry_can_be_asked_again() -> None:
    [step] = steps_of(events(*BEGUN, DONE))
    assert step.can_be_asked and 'data-kb="ask:1"' in render("network", "step", step)
    [step] = steps_of(events(*BEGUN, (DONE[0], {**DONE[1], "query": "which alerts?"})))
    assert not step.can_be_asked


def test_the_numbers_of_a_run_are_said_at_its_end() -> None:
    end = ("run_complete", {"steps": 6, "tokens": 0, "time": 0.41})
    assert numbers_of(events(*BEGUN)) == ""
    assert numbers_of(events(*BEGUN, end)) == "6 steps · 0.4 s · no language model"
    assert numbers_of(events(*BEGUN, ("run_complete", {"steps": 1, "tokens": 1200, "time": 30}))) == (
        "1 step · 30.0 s · 1,200 tokens"
    )
    assert failure_of(events(*BEGUN, ("error", {"message": "out of time"}), end)) == "out of time"
    assert text_of(events(*BEGUN, ("message", {"text": "# Report"}), end)) == "# Report"


def test_elements_that_a_report_names_can_be_chosen() -> None:
    html = report_html("Cause: **R-1**, not R-10, r-1, xR-1 or `R-1.2`; A\\_B, too.", {"R-1", "A_B"})
    assert html.count("data-kb=") == 2
    assert '<strong><button type="button" class="kb-element" data-kb="element:R-1"' in html
    assert 'data-kb="element:A_B"' in html


def test_the_longest_of_several_names_is_meant() -> None:
    html = report_html("R-1-A fails.", {"R-1", "R-1-A"})
    assert 'data-kb="element:R-1-A"' in html and html.count("data-kb=") == 1


def test_names_are_texts_whatever_they_are() -> None:
    name = 'x"><script>alert(1)</script>'
    html = report_html(f"Cause: {name}", {name})
    assert "<script" not in html and "element:x&#34;&gt;&lt;script" in html


def test_a_report_has_neither_links_nor_foreign_images_nor_html() -> None:
    html = report_html(f"[a](http://evil.example) <http://evil.example> ![p](http://evil.example/p.png) {EVIL}")
    assert "<a" not in html and "<img" not in html and "<script" not in html
    assert ">a " in html


def test_a_step_and_a_list_and_a_log_show_words_of_others_as_words() -> None:
    data = {**DONE[1], "query": EVIL, "response": EVIL}
    [step] = steps_of(events(BEGUN[0], ("step_thinking", {"agent": EVIL, "status": EVIL}), (DONE[0], data)))
    summary = Investigation(id=EVIL, alert=EVIL, began=EVIL, status="failed", cause=EVIL)
    shown = [
        render("network", "step", step),
        render("network", "list", [summary], {summary.scenario: EVIL}),
        render("network", "log", (EVIL,)),
        render("network", "alert", EVIL, EVIL),
        render("network", "actions", EVIL, EVIL, EVIL),
        render("network", "begin", EVIL, EVIL, EVIL),
        render("network", "status", "good", EVIL, EVIL, [EVIL]),
    ]
    for html in shown:
        assert "<img" not in html and "<script" not in html


def test_a_ticket_has_the_report_what_it_refers_to_and_the_alert() -> None:
    investigation = Investigation(
        id="run-1",
        alert="LINK_DOWN R-1\n",
        began="2026-11-02T03:40:00+00:00",
        status="finished",
        report="# Situation report\n\nR-1. [Ref #1]\n",
        citations=(citation(1), citation(2, used=False)),
    )
    assert ticket_of(investigation) == (
        "# Situation report\n\nR-1. [Ref #1]\n\n[Ref #1] Layers\n\n## Alert\n\n```\nLINK_DOWN R-1\n```"
    )


@pytest.mark.parametrize(
    ("report", "ticket"),
    [
        (r"OPTICAL\_LOSS at R\_1", "OPTICAL_LOSS at R_1"),
        (r"(file fibre\-cut\.md) \#4 \{a\|b\} \(x\)", "(file fibre-cut.md) #4 {a|b} (x)"),
        (r"\!\[x\]\(http://evil.example\) \<img\> \*a\* \`b\`", r"\!\[x\](http://evil.example) \<img\> \*a\* \`b\`"),
    ],
)
def test_names_stand_in_a_ticket_without_escapes_and_nothing_of_others_becomes_markup(report: str, ticket: str) -> None:
    told = Investigation(id="run-1", alert="", began="2026-11-02T03:40:00+00:00", status="finished", report=report)
    assert ticket_of(told) == ticket


def test_an_alert_does_not_leave_its_block_in_a_ticket() -> None:
    alert = "```\n![x](http://evil.example)\n````"
    told = Investigation(id="run-1", alert=alert, began="2026-11-02T03:40:00+00:00", status="finished")
    assert ticket_of(told) == f"## Alert\n\n`````\n{alert}\n`````"
