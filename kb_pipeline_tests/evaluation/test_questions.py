"""Question sets: what a file may say, and how it is told where it is wrong."""

import contextlib
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_pipeline.errors import QuestionSetError
from kb_pipeline.evaluation.asking import wordings
from kb_pipeline.evaluation.questions import EvaluationQuestion, question_sets, read_questions
from kb_pipeline.settings import Settings
from kb_pipeline_tests.evaluation.known import question, write_questions


def read(tmp_path: Path, data: bytes) -> tuple[EvaluationQuestion, ...]:
    path = tmp_path / "set.jsonl"
    path.write_bytes(data)
    return read_questions(path).questions


def line(**fields: object) -> bytes:
    return json.dumps({"question": "Where?", "article_id": "a"} | fields).encode()


def test_a_line_is_a_question(tmp_path: Path) -> None:
    fields = {
        "section": "Rooms",
        "answer_span": "in the room",
        "kind": "how-to",
        "needs_image": True,
        "paraphrase": "Which place?",
        "also_in": ["b"],
        "image": "room.image",
        "page": 3,
    }
    (question,) = read(tmp_path, line(**fields))
    assert question.model_dump() == {"question": "Where?", "article_id": "a", **fields, "also_in": ("b",)}
    assert question.right_articles == {"a", "b"}


def test_null_as_the_article_says_that_nothing_answers(tmp_path: Path) -> None:
    (question,) = read(tmp_path, line(article_id=None, kind="unanswerable", section=None, answer_span=""))
    assert question.article_id is None
    assert question.right_articles == frozenset()


@pytest.mark.parametrize(
    "data",
    [
        b"\xef\xbb\xbf" + line(),
        b"\n\r\n" + line() + b"\r\n\n",
        line(source="gimp", image_answer="Cubic"),
        line(question="  Where? "),
        '{"question": "Wo\u2028?", "article_id": "ä"}'.encode(),
    ],
    ids=["byte order mark", "empty lines", "the author's own notes", "white space", "a line separator within a text"],
)
def test_what_editors_do_to_a_file_does_no_harm(tmp_path: Path, data: bytes) -> None:
    assert len(read(tmp_path, data)) == 1


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "holds no question"),
        (line() + b"\nnot json", ":2: Invalid JSON"),
        (line() + b"\n\n" + line(), ":3: the same question as in line 1"),
        (line(question="WHERE?") + b"\n" + line(), ":2: the same question"),
        (b'{"question": "Where?"}', ":1: article_id: Field required"),
        (line(question=" "), ":1: question: "),
        (line(question="x" * 5000), ":1: question: "),
        (line(article_id=7), ":1: article_id: "),
        (line(article_id=""), ":1: article_id: "),
        (line(needs_image="yes"), ":1: needs_image: "),
        (line(also_in="b"), ":1: also_in: "),
        (line(kind="all"), "is reserved for the score tables"),
        (line(kind="unanswerable"), "must have article_id null"),
        (line(article_id=None, answer_span="words"), "has no answer"),
        (b'["Where?", "a"]', ":1: "),
        (b"\xff\xfe", ":1: "),
        (b'{"question": ' + b"[" * 100_000, ":1: "),
    ],
)
def test_what_is_wrong_is_said_with_its_line(tmp_path: Path, data: bytes, said: str) -> None:
    with pytest.raises(QuestionSetError) as raised:
        read(tmp_path, data)
    assert said in str(raised.value)
    assert "set.jsonl" in str(raised.value)
    assert len(str(raised.value)) < 1000


@given(st.binary(max_size=200))
def test_no_file_breaks_the_reader(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    with contextlib.suppress(QuestionSetError):
        assert read(tmp_path_factory.getbasetemp(), data)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    for path in (tmp_path / "nothing.jsonl", tmp_path):
        with pytest.raises(QuestionSetError, match=str(path)):
            read_questions(path)


def test_the_sets_of_a_knowledge_base_lie_in_its_own_folder(settings: Settings) -> None:
    assert question_sets(settings) == ()
    for name in ("b", "a"):
        write_questions(Path(settings.home) / "evaluation", [question(name)], name)
    (settings.evaluation_path / "notes.txt").write_text("not a set")
    assert [each.name for each in question_sets(settings)] == ["a", "b"]


def test_another_folder_must_be_there(settings: Settings, tmp_path: Path) -> None:
    for place in (str(tmp_path / "away"), "abfs://container/questions"):
        with pytest.raises(QuestionSetError, match="KB_EVALUATION"):
            question_sets(settings.model_copy(update={"evaluation": place}))
    write_questions(tmp_path / "mine", [question("teapot")])
    assert len(question_sets(settings.model_copy(update={"evaluation": str(tmp_path / "mine")}))) == 1


def test_each_question_is_asked_in_each_wording_and_once_however_many_sets_hold_it(tmp_path: Path) -> None:
    paths = [
        write_questions(tmp_path, [question("teapot", paraphrase="Where do I brew?"), question("kettle")], "first"),
        write_questions(tmp_path, [question("teapot")], "second"),
    ]
    asked = [(each.question_set, each.text, each.paraphrase) for each in wordings([*map(read_questions, paths)])]
    assert asked == [
        ("first", "Where is the teapot?", False),
        ("first", "Where do I brew?", True),
        ("first", "Where is the kettle?", False),
    ]
