"""The page of what was measured: scores, their history, the questions behind them."""

import re
import shutil
from collections.abc import Callable, Iterator
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from app.api.server import create_app
from app.library.quality import MEASURES
from app.page.labels import moment
from app.page.quality import change_html, differences_html, question_html
from app.page.quality_history import card_html, chart, history_of, legend_html
from app.page.quality_scores import groups_of, newest_html, scores_html
from app.page.quality_words import in_words
from app.schema.quality import (
    EvaluatedAnswer,
    EvaluatedQuestion,
    FoundPassage,
    QualityChange,
    QualityComparison,
    QualityMeasure,
    QualityRun,
    QualityScore,
)
from app.settings import AppSettings
from kb_pipeline.evaluation.gaps import KnowledgeGaps, save_gaps
from kb_pipeline.evaluation.use import AnswerUse, UseTally
from kb_pipeline.settings import Settings
from kb_pipeline_tests.app.page.conftest import ask_at, html
from kb_pipeline_tests.app.page.test_shown import EVIL
from kb_pipeline_tests.app.quality_history import BREAD, CROP, JAM, write_history
from kb_pipeline_tests.app.serving import serving_app

Look = Callable[[], AppTest]
MEASURE = QualityMeasure(name="article@5", kind="retrieval", meaning="an article that answers is among the first five")


@pytest.fixture
def own(knowledge_base: Settings, tmp_path: Path) -> Settings:
    """A copy of the knowledge base that may be written to."""
    shutil.copytree(knowledge_base.home, tmp_path / "home")
    return knowledge_base.model_copy(update={"home": str(tmp_path / "home")})


@pytest.fixture
def look(own: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[Look]:
    """Open the page, on a service of the test's own."""

    def script() -> None:
        from app.page import quality

        quality.show()

    with serving_app(create_app(AppSettings(), own)) as url:
        ask_at(url, monkeypatch)
        yield lambda: AppTest.from_function(script, default_timeout=30).run()


@pytest.mark.parametrize(
    ("name", "value", "n", "words"),
    [
        ("article@5", 41 / 42, 42, "Of 42 known questions 41 find their article"),
        ("article@1", 1, 1200, "Of 1,200 known questions 1,200 find their article first"),
        ("MRR@10", 0.8, 42, "The right article stands at about place 1.2"),
        ("MRR@10", 1, 42, "The right article stands at about place 1"),
        ("MRR@10", 0, 42, "The right article is not among what is found first"),
        ("AUC", 0.94, 42, "In 94 of 100 pairs the question that has an answer looks more answerable"),
        ("refused", 0.5, 4, "Of 4 questions that have no answer 2 are refused"),
        ("citation recall", 0.972, 40, "Of 100 statements 97 have their words in a passage that they refer to"),
        ("one's own {n}", 0.5, 4, "An article that answers is among the first five"),
    ],
)
def test_a_measure_is_told_in_words_before_its_name(name: str, value: float, n: int, words: str) -> None:
    measure = MEASURE.model_copy(update={"name": name})
    score = QualityScore(value=value, low=value, high=value, n=n)
    assert in_words(measure, score) == words
    shown = unescape(card_html([run(scores={name: {"all": score.model_dump()}})], measure, "all"))
    assert shown.index(words) < shown.index(f"<code>{name}</code>")


def test_every_measure_has_a_sentence() -> None:
    for measure in MEASURES:
        said = in_words(measure, QualityScore(value=0.5, low=0.4, high=0.6, n=10))
        assert said.casefold() != measure.meaning.casefold() and "{" not in said


def test_the_page_says_how_to_begin_and_then_leads_from_scores_to_questions(look: Look, own: Settings) -> None:
    assert "There are no evaluation runs yet" in html(look())
    write_history(own)
    page = look()
    assert "Significantly worse than before" in html(page)
    assert "Questions expect 1 article that the index does not have: stapler." in html(page)
    assert list(fates(page).options) == [
        *("Lost (1)", "Won (1)", "Changed (0)", "Missed of the later run", "All of the later run")
    ]
    assert CROP.question in html(page) and JAM.question not in html(page)
    page = fates(page).set_value("won").run()
    assert JAM.question in html(page) and CROP.question not in html(page)
    assert 'href="knowledge-base?article=printing" data-kb="open"' in html(page)
    page = fates(page).set_value("missed").run()
    assert CROP.question in html(page) and JAM.question not in html(page)


def test_answers_are_looked_at_beside_what_is_found(look: Look, own: Settings) -> None:
    write_history(own)
    page = look().button_group(key="quality-kind").set_value("answers").run()
    assert "answered with quotations, without a model" in html(page)
    assert CROP.question not in html(page), "it was answered well"
    shown = html(fates(page, "Missed").set_value("all").run())
    assert "It costs five euros." in shown and "Grounded 0.50: The price is nowhere." in shown
    assert "the model was silent for 30 s" in shown
    assert BREAD.question in shown


def test_any_two_runs_can_be_compared_and_a_run_alone_tells_what_it_missed(look: Look, own: Settings) -> None:
    write_history(own)
    page = look()
    earlier, later = (box for box in page.selectbox)
    assert earlier.options[1] == f"{moment('2026-03-01T02:00:00+00:00')} · index generation-o · abcdef012"
    assert earlier.options[0].endswith("not accepted")
    page = later.set_value(earlier.value).run()
    assert JAM.question in html(page) and CROP.question not in html(page)


def test_a_single_run_has_no_chart_and_says_when_there_is_one(look: Look, own: Settings) -> None:
    write_history(own)
    page = look()
    assert page.get("vega_lite_chart") and "Band: 95 % interval" in html(page)
    page = page.button_group(key="quality-kind").set_value("answers").run()
    assert not page.get("vega_lite_chart") and "Band" not in html(page)
    assert "A chart of each measure is shown from the second run on." in html(page)


def fates(page: AppTest, first: str = "Lost (1)") -> Any:
    """What chooses which questions are shown."""
    return next(group for group in page.button_group if first in group.options)


# --- what is shown of it ---------------------------------------------------------------------------


def score(value: float = 0.8, **changed: Any) -> QualityScore:
    return QualityScore(**{"value": value, "low": value - 0.1, "high": value + 0.1, "n": 40} | changed)


def run(day: int = 1, **changed: Any) -> QualityRun:
    fields: dict[str, Any] = {
        "id": f"retrieval-{day}",
        "kind": "retrieval",
        "made_at": f"2026-03-{day:02}T02:00:00+00:00",
        "generation": "one",
        "question_sets": {"own": 40},
        "scores": {"article@5": {"all": score(), "how-to": score(n=7), "paraphrase": score(0.5)}},
        "accepted": True,
    }
    return QualityRun(**fields | changed)


WITH_BORDER = history_of([run(1), run(2, generation="two")], "article@5", "all")


def question(**changed: Any) -> EvaluatedQuestion:
    found = FoundPassage(article_id="layers", chunk_id="layers-1", title="Layers", right=True)
    fields: dict[str, Any] = {"question_id": "1", "asked": "How?", "kind": "how-to", "article_id": "layers"}
    return EvaluatedQuestion(**fields | {"found": (found,), "article_rank": 1} | changed)


def test_how_answers_were_used_is_shown_with_and_without_runs(look: Look, own: Settings) -> None:
    assert "How answers were used" not in html(look())
    use = AnswerUse(answers=3, refused=1, sources=UseTally(times=4, well=2))
    save_gaps(own, KnowledgeGaps(made_at="2026-11-27T05:30:00+00:00", use=use))
    shown = re.sub(r"<[^>]+>", " ", html(look()))
    assert re.search(r"Answers that answer\s+2\s+3", shown)
    assert re.search(r"Sources that were opened\s+2\s+4", shown)
    write_history(own)
    assert "How answers were used" in html(look())


def test_groups_are_all_then_other_words_then_kinds() -> None:
    assert groups_of(run()) == ["all", "paraphrase", "how-to"]


def test_a_table_has_values_with_intervals_and_the_numbers_that_differ() -> None:
    table = scores_html(run(), [MEASURE])
    assert "<b>0.80</b><i>0.70–0.90</i>" in table
    assert '<th scope="row">How-to<i>7 questions</i></th>' in table
    assert MEASURE.meaning in table


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"worse": ("span@5 -0.2",)}, "kb evaluate --accept"),
        ({"worse": ("span@5 -0.2",), "accepted": True}, "accepted manually"),
        ({"unknown_articles": tuple("abcdef")}, "6 articles that the index does not have: a, b, c, d, e …"),
    ],
)
def test_what_is_wrong_is_said_first(changed: dict[str, Any], said: str) -> None:
    assert said in newest_html([run(**{"accepted": False} | changed)])
    assert "kb-panel" not in newest_html([run()])


def test_what_a_model_was_paid_for_is_told() -> None:
    answered = run(kind="answers", settings={"model": "gpt"}, tokens=12_000, cost=0.25)
    assert "answered by gpt, 12,000 tokens, cost 0.25" in newest_html([answered])


def test_a_card_tells_the_change_since_the_run_before_of_the_same_questions() -> None:
    before = run(scores={"article@5": {"all": score(0.75)}})
    assert "+0.050 since 1 Mar" in card_html([before, run(2)], MEASURE, "all")
    assert "unchanged since 1 Mar" in card_html([run(), run(2)], MEASURE, "all")
    fewer = run(scores={"article@5": {"all": score(0.75, n=5)}})
    assert "0.75 on 1 Mar, over 5 questions" in card_html([fewer, run(2)], MEASURE, "all")
    assert "first run" in card_html([run()], MEASURE, "all")


def test_the_history_marks_where_index_or_questions_changed() -> None:
    runs = [
        run(1),
        run(2),
        run(3, generation="two"),
        run(4, generation="two", question_sets={"other": 9}),
        run(5, scores={}),
    ]
    history = history_of(runs, "article@5", "all")
    assert list(history["border"]) == ["", "", "another index: two", "other questions"]
    assert list(history["when"].dt.day) == [1, 2, 3, 4]
    assert len(history_of(runs, "AUC", "all")) == 0


@pytest.mark.parametrize(("lowest", "ticks"), [(0.4, [1.0, 0.8, 0.6, 0.4]), (0.0, [1.0, 0.8, 0.6, 0.4, 0.2, 0.0])])
def test_a_chart_has_ticks_down_to_where_its_axis_begins(lowest: float, ticks: list[float]) -> None:
    encoded = chart(WITH_BORDER, lowest)["layer"][1]["encoding"]["y"]
    assert encoded["axis"]["values"] == ticks
    assert encoded["scale"]["domain"][0] == lowest


def test_a_chart_draws_what_the_history_has() -> None:
    columns = set(WITH_BORDER.columns)
    named = set(re.findall(r"'field': '(\w+)'", str(chart(WITH_BORDER, 0.4))))
    assert named == columns | {"band"}


def test_without_borders_nothing_is_drawn_for_them() -> None:
    assert "border" in str(chart(WITH_BORDER, 0.4))
    assert "border" not in str(chart(history_of([run(1), run(2)], "article@5", "all"), 0.4)["layer"])


def test_a_chart_goes_from_the_first_run_to_the_last() -> None:
    domain = chart(WITH_BORDER, 0.4)["layer"][-1]["encoding"]["x"]["scale"]["domain"]
    assert domain == ["2026-03-01T02:00:00+00:00", "2026-03-02T02:00:00+00:00"]


def test_the_legend_names_what_is_drawn_only() -> None:
    plain, worse = history_of([run(1), run(2)], "article@5", "all"), run(3, generation="two", accepted=False)
    assert legend_html([plain]) == '<p class="kb-how">Band: 95 % interval.</p>'
    both = legend_html([plain, history_of([run(1), worse], "article@5", "all")])
    assert "dashed line" in both and "hollow point" in both


def test_a_band_ends_where_the_axis_begins() -> None:
    bands = [layer for layer in chart(WITH_BORDER, 0.4)["layer"] if "y2" in layer["encoding"]]
    assert len(bands) == 2
    for band in bands:
        assert band["encoding"]["y"]["field"] == "band"
        assert band["transform"] == [{"calculate": "max(datum.low, 0.4)", "as": "band"}]


def test_differences_are_coloured_where_they_are_more_than_chance() -> None:
    compared = QualityComparison(
        before=run(1),
        after=run(2),
        questions=40,
        differences={"a": score(0.2), "b": score(-0.2), "c": score(0.0)},
        changes=(),
    )
    shown = differences_html(compared)
    assert 'class="kb-good">a <b>+0.200' in shown
    assert 'class="kb-bad">b <b>−0.200' in shown
    assert 'class="kb-same">c <b>0.000' in shown


def test_a_changed_question_shows_both_outcomes_and_leads_to_the_articles() -> None:
    lost = question(article_rank=None, found=(), missed=("article@5",), section="Crop", answer_span="the words")
    shown = change_html(QualityChange(fate="lost", before=question(), after=lost))
    for said in ("Before", "article at rank 1", "After", "article not found", "missed: article@5", "Found: nothing"):
        assert said in shown
    assert 'href="knowledge-base?article=layers" data-kb="open">Layers</a>' in shown
    assert "› Crop" in shown and "<blockquote>the words</blockquote>" in shown


def test_of_a_question_that_nothing_answers_a_refusal_is_expected() -> None:
    assert "Expected: a refusal" in question_html(question(article_id=None, article_rank=None))


def test_words_of_others_stay_words() -> None:
    evil = FoundPassage(article_id=EVIL, chunk_id=EVIL, title=EVIL, right=False)
    said = EvaluatedAnswer(text=EVIL, failure=EVIL, unsupported=(EVIL,), grounded=0.5, reason=EVIL)
    named = dict.fromkeys(("asked", "kind", "article_id", "title", "section", "answer_span", "image"), EVIL)
    asked = question(**named, found=(evil,), answer=said, missed=(EVIL,))
    measured = run(
        generation=EVIL, commit=EVIL, worse=(EVIL,), unknown_articles=(EVIL,), question_sets={EVIL: 1},
        kind="answers", settings={"model": EVIL}, scores={EVIL: {"all": score(), EVIL: score()}},
    )  # fmt: skip
    measure = QualityMeasure(name=EVIL, kind="answers", meaning=EVIL)
    shown = [
        question_html(asked),
        newest_html([measured]),
        scores_html(measured, [measure]),
        card_html([measured], measure, "all"),
        differences_html(
            QualityComparison(before=measured, after=measured, questions=1, differences={EVIL: score()}, changes=())
        ),
    ]
    for each in shown:
        assert "<script" not in each
        assert "<img src=x" not in each
        assert 'onerror=alert(1)>"' not in each
