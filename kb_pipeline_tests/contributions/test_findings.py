"""What the service hands in by itself: for reviewers only, few, without names, and never in the way."""

import threading
import time
from pathlib import Path

import pytest

from kb_pipeline.contributions.base import Contribution
from kb_pipeline.contributions.findings import (
    MOST_A_DAY,
    MOST_WAITING,
    FindingsSender,
    OwnFinding,
    hand_in,
    hand_in_all,
)
from kb_pipeline.contributions.folder import FolderQueue
from kb_pipeline.errors import StorageError
from kb_pipeline.flow.workspace import Workspace
from kb_pipeline.settings import Settings
from kb_pipeline_tests.building import build_here
from kb_pipeline_tests.conftest import Article


@pytest.fixture
def workspace(settings: Settings) -> Workspace:
    return Workspace(settings)


def test_a_finding_is_a_pitfall_without_names(workspace: Workspace, queue: FolderQueue) -> None:
    finding = OwnFinding(
        source="feedback",
        question="Why can Ann not log in as ann@example.com?",
        comment="ann says: wrong, hannah knows\n# <b>",
        article_id="passwords",
        names=("ann", "ann@example.com", "x"),
    )
    handed_in = hand_in(workspace, queue, finding)
    assert handed_in
    assert queue.get(handed_in.id) == handed_in
    assert (handed_in.type, handed_in.source, handed_in.contributed_by) == ("Pitfall", "feedback", "")
    assert (handed_in.service, handed_in.state) == ("passwords", "pending")
    assert handed_in.description == "Why can [name] not log in as [e-mail address]?"
    assert handed_in.content == (
        "**Question:** Why can \\[name\\] not log in as \\[e-mail address\\]?\n\n"
        "**Comment:** \\[name\\] says: wrong, hannah knows\\\n\\# \\<b\\>"
    )


@pytest.mark.parametrize("article_id", ["", "../etc", ".hidden"])
def test_what_is_about_no_article_waits_among_open_questions(
    workspace: Workspace, queue: FolderQueue, article_id: str
) -> None:
    handed_in = hand_in(workspace, queue, OwnFinding("qa", "How? " * 200, article_id=article_id))
    assert handed_in
    assert handed_in.service == "open-questions"
    assert len(handed_in.description) <= 200


def test_the_same_is_handed_in_once_also_after_it_was_rejected(
    workspace: Workspace, queue: FolderQueue, article: Article
) -> None:
    article("one", "<h1>One</h1><p>Something is published.</p>")
    build_here(workspace.settings)
    question = "How do I export all of the tickets of a customer to a spreadsheet?"
    assert hand_in(workspace, queue, OwnFinding("qa", question))
    assert hand_in(workspace, queue, OwnFinding("qa", question.upper())) is None
    assert hand_in(workspace, queue, OwnFinding("qa", question.replace("all of the", "the"))) is None
    assert hand_in(workspace, queue, OwnFinding("qa", "Which colours may a label have?"))


@pytest.mark.slow("builds a whole knowledge base")
def test_a_thousand_findings_leave_staging_untouched_and_twenty_a_day_wait(
    workspace: Workspace, queue: FolderQueue
) -> None:
    findings = [OwnFinding("qa", f"Question number {number}, about thing {number * 7}?") for number in range(1000)]
    assert hand_in_all(workspace, queue, findings) == MOST_A_DAY
    assert list(Path(workspace.settings.staging).iterdir()) == []
    assert len(queue.list("pending")) == MOST_A_DAY


def test_one_that_cannot_be_handed_in_does_not_stop_the_others(
    workspace: Workspace, queue: FolderQueue, caplog: pytest.LogCaptureFixture
) -> None:
    assert hand_in_all(workspace, queue, [OwnFinding("qa", " "), OwnFinding("qa", "How?")]) == 1
    assert "could not be handed in" in caplog.text


def test_the_thread_hands_in_what_is_submitted(workspace: Workspace, queue: FolderQueue) -> None:
    findings = FindingsSender(workspace, queue)
    for question in ("How?", None, "Why?"):
        findings.submit(lambda question=question: OwnFinding("qa", question) if question else None)  # type: ignore[misc]
    findings.drain()
    assert sorted(one.description for one in queue.list()) == ["How?", "Why?"]
    findings.close()


class FullDisk(FolderQueue):
    """A queue that nothing can be added to."""

    def add(self, contribution: Contribution) -> None:
        raise StorageError(f"{contribution.id}: the disk is full")


def test_a_full_disk_and_a_fault_are_only_logged(
    workspace: Workspace, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    findings = FindingsSender(workspace, FullDisk(tmp_path))
    findings.submit(lambda: OwnFinding("qa", "How?"))
    findings.submit(lambda: 1 / 0)  # type: ignore[arg-type,return-value]
    findings.drain()
    assert "the disk is full" in caplog.text
    assert "ZeroDivisionError" in caplog.text
    findings.submit(lambda: OwnFinding("qa", "How?"))
    findings.drain()
    findings.close()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_while_the_thread_is_busy_or_dead_a_hundred_wait_and_the_rest_is_dropped_at_once(
    workspace: Workspace, queue: FolderQueue
) -> None:
    findings, hold = FindingsSender(workspace, queue), threading.Event()

    def wait() -> None:
        hold.wait()

    def die() -> None:
        raise SystemExit

    findings.submit(wait)
    while not findings._waiting.empty():
        time.sleep(0.001)
    for _ in range(2 * MOST_WAITING):
        findings.submit(lambda: OwnFinding("qa", "How?"))
    assert findings.dropped == MOST_WAITING
    findings._waiting.queue.clear()
    findings.submit(die)
    hold.set()
    assert findings._thread
    findings._thread.join(10)
    assert not findings._thread.is_alive()
    for _ in range(2 * MOST_WAITING):
        findings.submit(lambda: OwnFinding("qa", "How?"))
    findings.close(0.1)
    assert list(queue.list()) == []
