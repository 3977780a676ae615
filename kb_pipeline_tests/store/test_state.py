"""The state of an article: small, whole, and true to what was made."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from upath import UPath

from kb_pipeline.records import CheckResult, Markdown, Table, Usage
from kb_pipeline.store.layout import Layout
from kb_pipeline.store.state import (
    ArticleState,
    BuildFailure,
    LayerState,
    Pin,
    PublishedVersion,
    kept_state,
    known_articles,
    load_reports,
    load_state,
    load_states,
    remove_state,
    save_reports,
    save_state,
    version_id,
)

AT = "2026-01-01T00:00:00+00:00"
HASH = "0123456789abcdef" * 4


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    return Layout(UPath(tmp_path), UPath(tmp_path) / "serving")


def layer(output_hash: str = HASH) -> LayerState:
    return LayerState(fingerprint="f", output_hash=output_hash, run_id="run-1", made_at=AT, seconds=0.5)


def published(version: str) -> PublishedVersion:
    return PublishedVersion(id=version, published_at=AT, run_id="run-1", source_hash="s", generation="g")


FULL = ArticleState(
    article_id="page",
    layers={
        "staged_article": layer("source"),
        "serving_article": layer().model_copy(
            update={
                "failed_checks": (CheckResult(name="structure_is_preserved", passed=False, message="1 table lost"),),
                "usage": (Usage(model="vision", calls=1, cost=0.5),),
            }
        ),
    },
    published=(published("a" * 16), published("b" * 16)),
    pin=Pin(version="a" * 16, source_hash="source", pinned_at=AT, run_id="run-1"),
    failure=BuildFailure(
        layer="chunks", error="page: no", transient=True, attempts=2, first_at=AT, last_at=AT, run_id="run-1"
    ),
    signature="seen",
    spent={"image_descriptions": (Usage(model="vision", calls=3),)},
)


REMEDIES = {
    "page: no model is set; set KB_TRANSCRIPTION_MODEL, or stage a text": "change KB_TRANSCRIPTION_MODEL, then: kb",
    "page: it took more than 9 s; raise KB_ARTICLE_SECONDS or KB_ARTICLE_MEMORY_MB": "change KB_ARTICLE_SECONDS or KB_",
    "page: a.msg needs packages; run: pip install 'kb-pipeline[formats]'": "pip install as the reason says, then: kb",
    "page: the page is a PDF, not HTML": "fix it in staging; it is then ingested again",
}


@pytest.mark.parametrize("error", REMEDIES)
def test_what_a_setting_or_a_package_mends_is_no_fault_of_the_article(error: str) -> None:
    failure = BuildFailure(
        layer="converted_markdown", error=error, transient=False, attempts=1, first_at=AT, last_at=AT, run_id="run-1"
    )
    assert failure.remedy.startswith(REMEDIES[error])
    assert failure.remedy.endswith("fix it in staging; it is then ingested again")


@pytest.mark.parametrize("state", [FULL, ArticleState(article_id="page")])
def test_what_is_saved_is_loaded(layout: Layout, state: ArticleState) -> None:
    save_state(layout, state)
    assert load_state(layout, "page") == state


def test_an_article_that_nothing_is_known_of_has_an_empty_state(layout: Layout) -> None:
    state = load_state(layout, "page")
    assert state == ArticleState(article_id="page")
    assert (state.version, state.published_version, state.pinned_version) == ("", None, None)


@pytest.mark.parametrize("data", [b"", b"{ torn", b"\xff\xfe", b"[]", b'{"article_id": "page", "of another age": 1}'])
def test_a_damaged_state_is_read_from_its_copy_and_says_so(layout: Layout, data: bytes) -> None:
    save_state(layout, FULL)
    layout.state("page").write_bytes(data)
    for state in (load_state(layout, "page"), *load_states(layout)):
        assert state.model_copy(update={"damage": ""}) == FULL
        assert "state/page.json is damaged; its copy" in state.damage


def test_a_state_that_is_gone_is_read_from_its_copy_and_says_so(layout: Layout) -> None:
    save_state(layout, FULL)
    layout.state("page").unlink()
    assert known_articles(layout) == ["page"]
    for state in (load_state(layout, "page"), *load_states(layout)):
        assert state.published == FULL.published
        assert "state/page.json is gone; its copy" in state.damage


def test_a_state_whose_copy_is_damaged_as_well_says_so_and_knows_nothing(layout: Layout) -> None:
    save_state(layout, FULL)
    for path in (layout.state("page"), kept_state(layout, "page").copy):
        path.write_bytes(b"{ torn")
    state = load_state(layout, "page")
    assert state == ArticleState(article_id="page", damage=state.damage)
    assert "state/page.json is damaged, and its copy" in state.damage


@pytest.mark.slow("builds a whole knowledge base")
def test_a_bit_that_flips_anywhere_in_a_state_is_noticed(layout: Layout) -> None:
    save_state(layout, FULL)
    whole = layout.state("page").read_bytes()
    for place in range(len(whole)):
        layout.state("page").write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        assert load_state(layout, "page").damage, place


def test_the_state_of_another_article_is_not_taken_for_this_ones(layout: Layout) -> None:
    save_state(layout, FULL)
    save_state(layout, ArticleState(article_id="other", signature="its own"))
    layout.state("page").write_bytes(layout.state("other").read_bytes())
    assert load_state(layout, "page").published == FULL.published
    assert load_state(layout, "page").damage


def test_a_state_that_was_removed_is_gone_with_its_copy(layout: Layout) -> None:
    save_state(layout, FULL)
    remove_state(layout, "page")
    assert known_articles(layout) == []
    assert load_state(layout, "page") == ArticleState(article_id="page")


def test_all_articles_that_were_attempted_are_known(layout: Layout) -> None:
    assert known_articles(layout) == []
    for name in ("b", "a.json", "工单"):
        save_state(layout, ArticleState(article_id=name))
    (layout.home / "state" / ".left-by-a-killed-run").write_bytes(b"")
    assert known_articles(layout) == ["a.json", "b", "工单"]
    assert [state.article_id for state in load_states(layout)] == ["a.json", "b", "工单"]


def test_versions_are_named_by_their_content() -> None:
    assert FULL.version == version_id(HASH) == "0123456789abcdef"
    assert FULL.published_version == "b" * 16


def test_a_pin_holds_for_the_source_it_was_set_for() -> None:
    assert FULL.pinned_version == "a" * 16
    assert FULL.with_layer("staged_article", layer("changed")).pinned_version is None
    assert FULL.without_layer("staged_article").pinned_version is None


def test_copies_leave_the_original_as_it_is() -> None:
    before = FULL.model_dump()
    FULL.with_layer("chunks", layer()).without_layer("staged_article").with_spent("chunks", [Usage(model="m", calls=1)])
    assert FULL.model_dump() == before
    assert FULL.without_layer("never made") == FULL


@pytest.mark.slow("builds a whole knowledge base")
@given(st.lists(st.lists(st.builds(Usage, model=st.sampled_from("ab"), calls=st.integers(0, 9)), max_size=3)))
def test_spending_is_the_sum_of_all_attempts(attempts: list[list[Usage]]) -> None:
    state = ArticleState(article_id="page")
    for usages in attempts:
        state = state.with_spent("image_descriptions", usages)
    spent = state.spent.get("image_descriptions", ())
    assert sum(usage.calls for usage in spent) == sum(usage.calls for usages in attempts for usage in usages)
    assert len(spent) == len({usage.model for usages in attempts for usage in usages})


def test_reports_are_kept_apart_and_come_back_as_they_were(layout: Layout) -> None:
    report = {"title": "Clock", "n": 3, "share": 0.5, "text": Markdown(text="# Clock"), "t": Table(rows=({"a": 1},))}
    save_reports(layout, "page", {"converted_markdown": report})
    assert load_reports(layout, "page") == {"converted_markdown": report}
    assert not layout.state("page").exists()


@pytest.mark.parametrize("data", [b"{ torn", b"[1]"])
def test_damaged_reports_are_none(layout: Layout, data: bytes) -> None:
    save_reports(layout, "page", {})
    assert load_reports(layout, "page") == {}
    layout.reports("page").write_bytes(data)
    assert load_reports(layout, "page") is None
