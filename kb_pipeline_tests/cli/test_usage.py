"""``kb usage``: what was asked and what became of it, within a terminal of 80 columns."""

import csv
from io import StringIO

import pytest

from kb_pipeline.cli import console
from kb_pipeline.evaluation.gaps import KnowledgeGaps, save_gaps
from kb_pipeline.evaluation.use import AnswerUse, UseTally
from kb_pipeline.settings import Settings
from kb_pipeline_tests.cli.conftest import Run
from kb_pipeline_tests.defs.test_gaps import refuse


@pytest.mark.slow("runs whole commands")
def test_it_is_a_plain_table_and_names_what_no_answer_used(
    run: Run, settings: Settings, things_published: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    refuse(settings, "Is Zebulon there?", "How is Zebulon?")
    last_night = KnowledgeGaps(made_at="2026-01-02T03:00:00+00:00", use=AnswerUse(sources=UseTally(times=4, well=3)))
    save_gaps(settings, last_night)
    monkeypatch.setattr(console.out, "width", 80)
    said = run("usage")
    assert said.code == 0
    assert "2 questions in the last 7 days, 0 in the 7 days before" in said.words
    assert "that no answer used, the oldest first" in said.words and "garden The garden" in said.words
    assert "sources that were opened 3 4" in said.words
    assert max(map(len, said.out.splitlines())) <= 80
    assert len(run("usage", "--by", "day").out.splitlines()) > len(said.out.splitlines())
    whole = run("usage", "--json").json
    assert (whole["total"]["asked"], whole["total"]["refused"]) == (2, 2)
    rows = list(csv.DictReader(StringIO(run("usage", "--csv").out)))
    assert [row["refused"] for row in rows if row["of"] == "all"] == ["2"]
    assert "Zebulon" not in said.out + str(whole) + str(rows)
