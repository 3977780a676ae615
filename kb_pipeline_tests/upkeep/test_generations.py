"""Generations of the index: the next one is filled beside the live one, and readers are switched when it is whole."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from kb_pipeline.errors import SearchError
from kb_pipeline.flow.layers import Run
from kb_pipeline.flow.workspace import Reader, Workspace
from kb_pipeline.settings import Settings
from kb_pipeline.upkeep.generations import Promotion, clean_up, promote_when_complete, switch_to
from kb_pipeline.upkeep.reconcile import compare
from kb_pipeline.upkeep.remove import remove_all
from kb_pipeline.upkeep.versions import pin
from kb_pipeline_tests.building import AT, build_here, made_once, page, stage, unstage
from kb_pipeline_tests.conftest import Article
from kb_pipeline_tests.pictures import screenshot

NOW = datetime(2026, 1, 2, tzinfo=UTC)
CHANGES = {
    "another model": {"embedder": "kb_pipeline_tests.doubles:OtherEmbedder"},
    "other chunks": {"chunk_max_tokens": 30},
}


@pytest.fixture(autouse=True)
def published(settings: Settings) -> None:
    made_once(publish_two, settings)


def publish_two(settings: Settings) -> None:
    for name in ("one", "two"):
        stage(settings, name, page(name))
    build_here(settings)


@pytest.fixture(params=CHANGES.values(), ids=list(CHANGES))
def changed(settings: Settings, request: pytest.FixtureRequest) -> Settings:
    return settings.model_copy(update=request.param)


@pytest.fixture
def other(settings: Settings) -> Settings:
    return settings.model_copy(update=CHANGES["another model"])


def promote(settings: Settings) -> Promotion:
    workspace = Workspace(settings)
    return promote_when_complete(workspace, compare(workspace), NOW.isoformat())


def found(reader: Reader, question: str = "plain words") -> set[str]:
    """Articles that a reader finds, by words and by vector."""
    (vector,) = reader.embedder.embed([question])
    return {hit.chunk.article_id for hit in reader.index.search(question, vector)}


def live(settings: Settings) -> str:
    return Workspace(settings).reader().generation.id


def generations(settings: Settings) -> set[str]:
    return {generation.id for generation in Workspace(settings).catalog.generations()}


@pytest.mark.slow("builds a whole knowledge base")
def test_readers_keep_the_old_generation_until_the_new_one_holds_every_article(
    settings: Settings, changed: Settings
) -> None:
    reading, old, new = Workspace(settings), Workspace(settings).generation.id, Workspace(changed).generation.id
    assert old != new
    build_here(changed, "one")
    assert not promote(changed).switched
    for workspace in (reading, Workspace(changed)):
        assert workspace.reader().generation.id == old
        assert found(workspace.reader()) == {"one", "two"}
    build_here(changed, "two")
    assert live(changed) == old
    assert promote(changed).switched
    for workspace in (reading, Workspace(changed)):
        assert workspace.reader().generation.id == new
        assert found(workspace.reader()) == {"one", "two"}


def test_nothing_is_promoted_where_nothing_changed(settings: Settings) -> None:
    assert promote(settings) == Promotion(False, "")


def test_what_a_generation_waits_for_is_said(settings: Settings, other: Settings) -> None:
    build_here(other, "one")
    reason = promote(other).reason
    assert "waits for 1 article;" in reason
    assert "two" in reason
    assert "kb rollback" in reason


def test_a_generation_without_any_article_is_waited_for(settings: Settings, other: Settings) -> None:
    remove_all(Workspace(settings), ["one", "two"])
    assert promote(other) == Promotion(
        False, f"generation {Workspace(other).generation.id} waits for its first article"
    )


def test_an_article_that_fails_blocks_until_its_good_version_is_put_back(
    settings: Settings, other: Settings, article: Article
) -> None:
    article("two", "<body></body>")
    assert build_here(other)["two"].error is not None
    assert "two" in promote(other).reason
    workspace = Workspace(other)
    pin(workspace, "two", None, Run("run-3", AT))
    assert build_here(other, "two")["two"].error is None
    assert promote(other).switched
    assert found(Workspace(other).reader()) == {"one", "two"}


def test_an_article_that_never_was_published_blocks_nothing(
    settings: Settings, other: Settings, article: Article
) -> None:
    article("bad", "<body></body>")
    build_here(other)
    assert promote(other).switched


def test_an_article_that_went_meanwhile_goes_from_both_generations_and_blocks_nothing(
    settings: Settings, other: Settings
) -> None:
    build_here(other, "one")
    unstage(settings, "two")
    remove_all(Workspace(other), ["two"])
    assert found(Workspace(other).reader()) == {"one"}
    assert promote(other).switched
    for generation in Workspace(other).catalog.generations():
        assert Workspace(other).catalog.open(generation).entries().keys() == {"one"}


def test_a_run_that_died_before_the_switch_is_completed_by_the_next(settings: Settings, other: Settings) -> None:
    build_here(other)
    assert live(other) == Workspace(settings).generation.id
    assert all(layer.reused for result in build_here(other, run_id="next").values() for layer in result.layers)
    assert promote(other).switched


@pytest.mark.slow("builds a whole knowledge base")
def test_the_new_generation_embeds_once_and_coming_back_embeds_nothing(
    settings: Settings, other: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kb_pipeline_tests.building import forbid_models

    build_here(other)
    promote(other)
    forbid_models(monkeypatch)
    assert all(result.error is None for result in build_here(settings).values())
    assert promote(settings).switched


class TestSwitching:
    @pytest.mark.slow("builds a whole knowledge base")
    def test_back_is_one_step_and_holds(self, settings: Settings, other: Settings) -> None:
        build_here(other)
        promote(other)
        old, new = Workspace(settings).generation.id, Workspace(other).generation.id
        switch_to(Workspace(other), old, NOW.isoformat())
        assert live(other) == old
        assert found(Workspace(other).reader()) == {"one", "two"}
        for _ in range(2):
            assert f"generation {new} is held back" in promote(other).reason
            switch_to(Workspace(other), old, NOW.isoformat())  # asked for once more, it still holds
        assert live(other) == old

    @pytest.mark.slow("builds a whole knowledge base")
    def test_forward_again_ends_the_hold(self, settings: Settings, other: Settings) -> None:
        build_here(other)
        promote(other)
        old, new = Workspace(settings).generation.id, Workspace(other).generation.id
        for generation in (old, new):
            switch_to(Workspace(other), generation, NOW.isoformat())
        assert live(other) == new
        pointer = Workspace(other).catalog.live()
        assert pointer is not None
        assert pointer.held is None

    @pytest.mark.parametrize("unknown", ["nosuch", "", "../x", "' OR 1=1"])
    def test_to_a_generation_that_is_not_there_is_refused(self, settings: Settings, unknown: str) -> None:
        with pytest.raises(SearchError, match=Workspace(settings).generation.id):
            switch_to(Workspace(settings), unknown, NOW.isoformat())

    @pytest.mark.slow("builds a whole knowledge base")
    def test_to_one_without_entries_is_refused(self, settings: Settings, other: Settings) -> None:
        build_here(other)
        Workspace(other).index.remove(["one", "two"])
        with pytest.raises(SearchError, match="no entries"):
            switch_to(Workspace(other), Workspace(other).generation.id, NOW.isoformat())
        assert live(other) == Workspace(settings).generation.id


class TestCleaningUp:
    def days_later(self, days: float) -> datetime:
        return NOW + timedelta(days=days)

    @pytest.mark.slow("builds a whole knowledge base")
    def test_the_former_generation_stays_for_a_week(self, settings: Settings, other: Settings) -> None:
        build_here(other)
        promote(other)
        old, new = Workspace(settings).generation.id, Workspace(other).generation.id
        assert clean_up(Workspace(other), self.days_later(6.9)) == []
        assert generations(other) == {old, new}
        assert [dropped.id for dropped in clean_up(Workspace(other), self.days_later(7.1))] == [old]
        assert generations(other) == {new}
        assert found(Workspace(other).reader()) == {"one", "two"}

    @pytest.mark.slow("builds a whole knowledge base")
    def test_how_long_is_a_setting(self, settings: Settings, other: Settings) -> None:
        build_here(other)
        promote(other)
        brief = other.model_copy(update={"keep_generation_days": 0})
        assert len(clean_up(Workspace(brief), NOW)) == 1

    @pytest.mark.slow("builds a whole knowledge base")
    def test_the_one_that_is_being_filled_stays(self, settings: Settings, other: Settings) -> None:
        build_here(other, "one")
        assert clean_up(Workspace(other), self.days_later(100)) == []

    @pytest.mark.slow("builds a whole knowledge base")
    def test_the_one_that_is_held_back_stays(self, settings: Settings, other: Settings) -> None:
        build_here(other)
        promote(other)
        switch_to(Workspace(other), Workspace(settings).generation.id, NOW.isoformat())
        assert clean_up(Workspace(other), self.days_later(100)) == []

    @pytest.mark.slow("builds a whole knowledge base")
    def test_one_that_was_given_up_half_filled_goes(self, settings: Settings, other: Settings) -> None:
        build_here(other, "one")
        dropped = clean_up(Workspace(settings), NOW)
        assert [generation.id for generation in dropped] == [Workspace(other).generation.id]

    @pytest.mark.slow("builds a whole knowledge base")
    def test_a_clock_that_went_backwards_drops_nothing(self, settings: Settings, other: Settings) -> None:
        build_here(other)
        promote(other)
        assert clean_up(Workspace(other), self.days_later(-300)) == []

    def test_before_anything_was_published_there_is_nothing_to_do(self, settings: Settings, tmp_path: Path) -> None:
        empty = settings.model_copy(update={"home": str(tmp_path / "fresh")})
        assert clean_up(Workspace(empty), NOW) == []


@pytest.mark.slow("builds a whole knowledge base")
def test_images_that_readers_of_the_old_generation_cite_stay(
    article: Article, settings: Settings, other: Settings
) -> None:
    article("one", page("one", "<img src='a.image' alt='A form'>"), {"a.image": screenshot("A form")})
    build_here(settings, "one")
    served = Path(settings.home) / "serving" / "one" / "images" / "a.png"
    assert served.is_file()
    article("one", page("one"))
    build_here(other, "one")
    assert served.is_file(), "the old generation still shows it"
    assert compare(Workspace(other)).unserved == ()
    again = build_here(other, "one")["one"]
    assert all(layer.reused for layer in again.layers)
