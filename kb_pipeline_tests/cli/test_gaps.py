"""``kb gaps``: what was not answered, who sees to it, and what is no gap."""

import pytest

from kb_pipeline.evaluation.gaps import save_gaps
from kb_pipeline.settings import Settings
from kb_pipeline.store.audit import AuditLine, os_user, read_audit
from kb_pipeline_tests.app.api.test_gaps import GAPS
from kb_pipeline_tests.cli.conftest import Run

FIRST, SECOND = (gap.id for gap in GAPS.gaps)


def test_before_anybody_looked_there_are_none(run: Run) -> None:
    said = run("gaps")
    assert said.code == 0 and "nobody has looked for gaps yet" in said.words
    assert run("gaps", "--json").json == {"made_at": None, "gaps": []}


def test_gaps_are_listed_assigned_dismissed_and_opened_again(run: Run, settings: Settings) -> None:
    save_gaps(settings, GAPS)
    said = run("gaps")
    assert said.out.index("director") < said.out.index(FIRST) < said.out.index(SECOND) and "2 gaps" in said.words
    assert f"{SECOND} is assigned to bob" in run("gaps", "assign", SECOND, "bob").words
    assert f"{SECOND} is dismissed" in run("gaps", "dismiss", SECOND, "--reason", "We sell none.").words
    assert SECOND not in run("gaps").out
    (dismissed,) = run("gaps", "--dismissed", "--json").json["gaps"]
    assert (dismissed["id"], dismissed["assigned_to"], dismissed["reason"]) == (SECOND, "bob", "We sell none.")
    assert not {"wordings", "recent", "whole"} & dismissed.keys()
    assert not run("gaps", "reopen", SECOND, "--json").json["is_dismissed"]
    lines = [line for line in read_audit(settings.home_path / "audit") if isinstance(line, AuditLine)]
    assert [(line.action, line.who, line.via) for line in lines] == [("decide", os_user(), "terminal")] * 3


def test_one_is_shown_with_what_was_written_only_on_request(run: Run, settings: Settings) -> None:
    save_gaps(settings, GAPS)
    shown = run("gaps", "show", FIRST)
    assert "What does the director earn in Rome?" in shown.words and "3 times (2 refused, 1 disliked)" in shown.words
    assert "Ms Smith" not in shown.out and "whole" not in run("gaps", "show", FIRST, "--json").json
    assert "Ms Smith" in run("gaps", "show", FIRST, "--whole").out
    assert "KB_WHOLE_QUESTIONS" in run("gaps", "show", SECOND, "--whole").out


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("show", "0" * 16), "there is no gap"),
        (("assign", "../x", "bob"), "there is no gap"),
        (("dismiss", FIRST, "--reason", " "), "say why it is no gap"),
    ],
)
def test_what_cannot_be_decided_is_told(run: Run, settings: Settings, arguments: tuple[str, ...], problem: str) -> None:
    save_gaps(settings, GAPS)
    said = run("gaps", *arguments)
    assert said.code == 2 and problem in said.words


def test_only_reviewers_decide(run: Run, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    save_gaps(settings, GAPS)
    monkeypatch.setenv("KB_REVIEWERS", '["somebody-else"]')
    said = run("gaps", "assign", FIRST, "bob")
    assert said.code == 2 and "is no reviewer" in said.words
