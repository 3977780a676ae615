"""``kb audit`` shows who did what, also in the terminal."""

import pytest

from kb_pipeline.settings import Settings
from kb_pipeline.store.audit import AuditLog, os_user
from kb_pipeline_tests.building import build_here
from kb_pipeline_tests.cli.conftest import Run


@pytest.fixture(autouse=True)
def everything(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KB_AUDIT", "all")


@pytest.fixture
def log(settings: Settings) -> AuditLog:
    return AuditLog(settings.model_copy(update={"audit": "all"}))


def test_lines_are_chosen_by_article_user_day_and_refusal(run: Run, log: AuditLog) -> None:
    log.add("open", "ann", "service", articles=["pay", "rules"])
    log.add("open", "bob", "service", articles=["pay"], outcome="refused")
    log.add("ask", "bob", "service", articles=["rules"])

    def shown(*options: str) -> list[tuple[str, str]]:
        return [(line["who"], line["action"]) for line in run("audit", "--json", *options).json["lines"]]

    assert shown() == [("ann", "open"), ("bob", "open"), ("bob", "ask")]
    assert shown("--article", "pay") == [("ann", "open"), ("bob", "open")]
    assert shown("--user", "bob", "--article", "rules") == [("bob", "ask")]
    assert shown("--refused") == [("bob", "open")]
    assert shown("--since", "2999-01-01") == []
    assert shown("--most", "1") == [("bob", "ask")]
    said = run("audit", "--most", "2")
    assert "open, refused" in said.out
    assert "the newest 2 of 3 lines" in said.words
    assert "--since" in run("audit", "--since", "yesterday").words


def test_nothing_that_somebody_named_moves_the_cursor(run: Run, log: AuditLog) -> None:
    log.add("open", "ann\x1b[2J", "service", articles=["[red]x"], about="a\nb")
    said = run("audit")
    assert "\x1b[2J" not in said.out
    assert "[red]x" in said.out


def test_a_damaged_file_is_told_of(run: Run, log: AuditLog) -> None:
    log.add("open", "ann", "service")
    [file] = log.folder.iterdir()
    file.write_bytes(file.read_bytes() + b'{"half')
    said = run("audit")
    assert (said.code, "1 damaged line" in said.words, "ann" in said.out) == (1, True, True)


@pytest.mark.slow("runs whole commands")
@pytest.mark.usefixtures("two_articles")
def test_the_terminal_is_recorded_as_its_user(run: Run, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    build_here(settings)
    run("search", "reset password")
    run("ask", "How do I reset a password?")
    run("show", "passwords")
    lines = run("audit", "--json").json["lines"]
    assert [(line["who"], line["via"], line["action"]) for line in lines] == [
        (os_user(), "terminal", action) for action in ("search", "ask", "open")
    ]
    assert all("passwords" in line["articles"] for line in lines)
    monkeypatch.setenv("KB_AUDIT", "off")
    run("search", "reset password")
    said = run("audit")
    assert "nothing is recorded (KB_AUDIT=off)" in said.words
    assert len(run("audit", "--json").json["lines"]) == len(lines)
