"""The measure of judges counts what they keep and mark, and what they cost."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.library.retrieval import Retrieval
from app.settings import AppSettings
from benchmarks.statements import Result, answers_of, judge_all, read_lines, report
from kb_pipeline.flow.workspace import Workspace
from kb_pipeline.settings import Settings
from kb_pipeline_tests.app.judging.lamps import as_model
from kb_pipeline_tests.app.model_servers import OwnModel

UNDO, JAM = "How do I undo a crop?", "How do I clear a paper jam?"
STATEMENTS = [
    (UNDO, "Press Ctrl+Z to undo the last crop.", "layers", False),
    (UNDO, "To undo the last crop of a layer press Ctrl+Z.", "layers", False),
    (UNDO, "Press Ctrl+Y to undo the last crop.", None, False),
    (JAM, "Open the rear tray.", "printing", True),
    (JAM, "Open the front tray.", None, True),
]


@pytest.fixture
def statements(tmp_path: Path) -> Path:
    """A file of two questions with three true statements and two near misses."""
    names = ("question", "statement", "article_id", "judges")
    lines = [{"kind": "plain", **dict(zip(names, each, strict=True))} for each in STATEMENTS]
    (tmp_path / "statements.jsonl").write_text("\n".join(map(json.dumps, lines)))
    return tmp_path / "statements.jsonl"


@pytest.fixture
def retrieval(knowledge_base: Settings) -> Iterator[Retrieval]:
    """Searches the small knowledge base."""
    searching = Retrieval(Workspace(knowledge_base))
    yield searching
    searching.close()


def judged(statements: Path, retrieval: Retrieval, **settings: str) -> list[Result]:
    return asyncio.run(judge_all(read_lines(statements), AppSettings(**settings), retrieval))


def test_true_statements_and_near_misses_are_answers_of_their_own(statements: Path) -> None:
    lines = read_lines(statements)
    shuffled = [lines[at] for at in (0, 3, 1, 4, 2)]
    for answers in (answers_of(lines), answers_of(shuffled)):
        assert [(answer[0].question, len(answer)) for answer in answers] == [(UNDO, 2), (UNDO, 1), (JAM, 1), (JAM, 1)]


def test_fewer_are_those_of_some_questions(statements: Path) -> None:
    assert [line.question for line in read_lines(statements, most=3)] == [UNDO] * 3


def test_a_judge_that_can_tell_keeps_the_true_ones_and_marks_the_others(statements: Path, retrieval: Retrieval) -> None:
    with OwnModel(as_model()) as model:
        results = judged(statements, retrieval, chat_model="gpt-test", chat_base_url=model.base_url)
    assert len(model.requests) == 4
    assert all("passages" in request["messages"][-1]["content"] for request in model.requests)
    told = "\n".join(report(results))
    assert "true statements kept, all: 3 of 3, 1.00" in told
    assert "near misses marked, judging: 1 of 1, 1.00" in told
    assert "not judged: 0 of 5" in told
    assert "300 tokens read, 40 written" in told


def test_without_a_judge_all_stand(statements: Path, retrieval: Retrieval) -> None:
    told = "\n".join(report(judged(statements, retrieval), show=True))
    assert "true statements kept, all: 3 of 3" in told
    assert "near misses marked, all: 0 of 2" in told
    assert "not judged: 5 of 5" in told
    assert "Press Ctrl+Y to undo the last crop." in told
    assert "Open the front tray." not in told  # it judges, so nobody looks at it
