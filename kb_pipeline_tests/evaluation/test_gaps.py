"""Questions that were not answered: like ones together, most asked first, nothing kept that must not be."""

import json
from pathlib import Path

import pytest

from kb_pipeline.errors import DamagedLayerError
from kb_pipeline.evaluation.gaps import (
    KnowledgeGaps,
    RecordedQuestions,
    Unanswered,
    find_gaps,
    grouped,
    load_gaps,
    save_gaps,
)
from kb_pipeline.flow.workspace import Workspace
from kb_pipeline.models.hashing import HashingEmbedder
from kb_pipeline.settings import Settings
from kb_pipeline_tests.conftest import Article, Build

AT = "2026-03-01T00:00:00+00:00"


def asked(question: str, day: int = 1, reason: str = "refused", **facts: object) -> Unanswered:
    return Unanswered.model_validate(
        {"question": question, "asked_at": f"2026-02-{day:02}T00:00:00+00:00", "reason": reason, **facts}
    )


def test_like_questions_stand_together() -> None:
    groups = grouped(
        [
            asked("How do I connect to Splunk?"),
            asked("how do I connect  to splunk?", 2),
            asked("How do I connect to Splunk", 3),
            asked("Is there a mobile app?"),
        ],
        HashingEmbedder(),
    )
    assert sorted(len(group) for group in groups) == [1, 3]
    assert grouped([], HashingEmbedder()) == []


def test_what_makes_no_sense_alone_stands_with_its_subject() -> None:
    splunk, mobile = "How do I connect to Splunk?", "Is there a mobile app?"
    groups = grouped(
        [
            asked("And on Windows?", continues=(splunk,)),
            asked("and on Windows?", 2, continues=(splunk,)),
            asked("And on Windows?", 3, continues=(mobile,)),
        ],
        HashingEmbedder(),
    )
    assert sorted(len(group) for group in groups) == [1, 2]


def all_of(*unanswered: Unanswered) -> RecordedQuestions:
    return RecordedQuestions(unanswered=unanswered, cited={"layers": 4})


@pytest.fixture
def published(settings: Settings, article: Article, build_here: Build) -> Workspace:
    article("printing", "<h1>Printing</h1><h2>Paper jam</h2><p>Open the rear tray to clear a paper jam.</p>")
    article("layers", "<h1>Layers</h1><h2>Crop</h2><p>Choose Crop to Content to crop a layer.</p>")
    build_here()
    return Workspace(settings)


def test_a_gap_says_how_often_why_when_last_and_what_is_near(published: Workspace) -> None:
    found = find_gaps(
        published,
        all_of(
            asked("Is there a paper jam alarm?", 1),
            asked("is there a paper jam alarm?", 9, "disliked"),
            asked("Can I crop a video layer?", 3, "closest"),
        ),
        AT,
        records_content=True,
    )
    first, second = found.gaps
    assert (first.question, first.count, first.last_asked[:10]) == ("is there a paper jam alarm?", 2, "2026-02-09")
    assert first.reasons == {"refused": 1, "disliked": 1}
    assert (first.article_id, first.title) == ("printing", "Printing")
    assert (second.article_id, second.reasons) == ("layers", {"closest": 1})
    assert (found.questions, found.made_at, found.cited) == (3, AT, {"layers": 4})
    assert found.rows()[0] == {
        "question": "is there a paper jam alarm?",
        "asked": 2,
        "refused": 1,
        "closest": 0,
        "disliked": 1,
        "last asked": "2026-02-09T00:00:00+00:00",
        "nearest article": "printing",
    }


def test_without_permission_no_word_of_a_question_is_kept(published: Workspace, settings: Settings) -> None:
    found = find_gaps(published, all_of(asked("Is Zebulon paid more?")), AT, records_content=False)
    save_gaps(settings, found)
    assert "Zebulon" not in (Path(settings.home) / "evaluation" / "gaps.json").read_text()
    assert "Zebulon" not in str(found.rows())
    (gap,) = found.gaps
    assert (gap.question, gap.count) == ("", 1)


def test_what_was_written_is_kept_only_where_it_may_be(published: Workspace) -> None:
    mail = asked("Is there a paper jam alarm?", whole="Dear Ms Smith, is there a paper jam alarm? Jane Doe")
    (gap,) = find_gaps(published, all_of(mail), AT, records_content=True).gaps
    assert gap.whole == ""
    (gap,) = find_gaps(published, all_of(mail), AT, records_content=True, keeps_whole=True).gaps
    assert gap.whole == mail.whole
    (gap,) = find_gaps(published, all_of(mail), AT, records_content=False, keeps_whole=True).gaps
    assert (gap.question, gap.whole) == ("", "")


def test_a_gap_says_when_it_was_asked_first_and_the_last_three_times(published: Workspace) -> None:
    questions = [asked("Is there a paper jam alarm?", day) for day in (2, 5, 1, 4, 3)]
    (gap,) = find_gaps(published, all_of(*questions), AT, records_content=True).gaps
    assert (gap.first_asked[:10], gap.last_asked[:10]) == ("2026-02-01", "2026-02-05")
    assert [at[8:10] for at in gap.recent] == ["05", "04", "03"]


def test_words_of_those_who_need_not_sign_in_are_kept(published: Workspace) -> None:
    named, unnamed = asked("Is Zebulon paid more?"), asked("is zebulon paid more", is_unnamed=True)
    (gap,) = find_gaps(published, all_of(named, unnamed), AT, records_content=False).gaps
    assert (gap.question, gap.count) == ("is zebulon paid more", 2)


def test_a_gap_names_what_its_question_continues_and_is_nearest_to_that(published: Workspace) -> None:
    about_jams = asked("And on Windows?", continues=("How do I clear a paper jam?",))
    (gap,) = find_gaps(published, all_of(about_jams), AT, records_content=True).gaps
    assert (gap.question, gap.article_id) == ("How do I clear a paper jam? And on Windows?", "printing")
    (gap,) = find_gaps(published, all_of(about_jams), AT, records_content=False).gaps
    assert gap.question == ""


def test_of_what_is_too_long_the_question_itself_is_kept(published: Workspace) -> None:
    (gap,) = find_gaps(
        published, all_of(asked("And on Windows?", continues=("word " * 200,))), AT, records_content=True
    ).gaps
    assert gap.question.endswith("word … And on Windows?") and len(gap.question) <= 300
    (gap,) = find_gaps(
        published, all_of(asked("x" * 500, continues=("How do I crop?",))), AT, records_content=True
    ).gaps
    assert gap.question == "x" * 300


def test_before_anything_was_published_there_is_no_nearest_article(settings: Settings) -> None:
    (gap,) = find_gaps(Workspace(settings), all_of(asked("Why?")), AT, records_content=True).gaps
    assert (gap.article_id, gap.title) == ("", "")


def test_gaps_are_kept_until_the_next_time(settings: Settings) -> None:
    assert load_gaps(settings) is None
    for made_at in (AT, "2026-03-02T00:00:00+00:00"):
        save_gaps(settings, KnowledgeGaps(made_at=made_at))
        assert load_gaps(settings) == KnowledgeGaps(made_at=made_at)
    (Path(settings.home) / "evaluation" / "gaps.json").write_text("{")
    with pytest.raises(DamagedLayerError):
        load_gaps(settings)


def test_what_an_earlier_release_kept_is_masked_once(settings: Settings) -> None:
    mail = "Dear Ms Smith, this is Jane Doe of Example GmbH. " * 3 + "Why does jane@example.com bounce? Yours, Jane"
    short = "Call 030 1234567, how do I print?"
    gaps = [{"question": each, "count": 1, "reasons": {}, "last_asked": AT} for each in (mail, short, "")]
    path = Path(settings.home) / "evaluation" / "gaps.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"made_at": AT, "records_content": True, "gaps": gaps}))
    found = load_gaps(settings)
    assert found and [gap.question for gap in found.gaps] == [
        "Why does [e-mail address] bounce?",
        "Call [telephone number], how do I print?",
        "",
    ]
    assert len({gap.id for gap in found.gaps}) == 3
    assert "Jane" not in path.read_text() and "1234567" not in path.read_text()
    assert load_gaps(settings) == found
