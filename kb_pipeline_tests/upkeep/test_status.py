"""All articles at a snapshot."""

from kb_pipeline.records import CheckResult, Usage
from kb_pipeline.steps.checks import CHECKS
from kb_pipeline.store.state import ArticleState, BuildFailure, LayerState, Pin, PublishedVersion
from kb_pipeline.upkeep.status import overview


def layer(*failed: CheckResult, output_hash: str = "h") -> LayerState:
    return LayerState(
        fingerprint="f", output_hash=output_hash, run_id="r", made_at="t", seconds=1, failed_checks=tuple(failed)
    )


def failure(name: str = "converted_markdown") -> BuildFailure:
    return BuildFailure(layer=name, error="bad", transient=False, attempts=2, first_at="a", last_at="b", run_id="r")


def version(name: str = "v1") -> PublishedVersion:
    return PublishedVersion(id=name, published_at="t", run_id="r", source_hash="s", generation="g")


def usage(model: str, calls: int, cost: float | None = None) -> Usage:
    return Usage(model=model, calls=calls, cost=cost)


LOST = CheckResult(name="structure_is_preserved", passed=False, message="a table is lost")


def test_nothing_is_an_overview_too() -> None:
    seen = overview([])
    assert (seen.articles, seen.published, seen.failures, seen.spent) == (0, 0, {}, {})
    assert seen.checks.keys() == CHECKS.keys()
    assert seen.total_spent() == ()


def test_articles_are_counted_and_failures_named() -> None:
    states = [
        ArticleState(article_id="good", published=(version(),)),
        ArticleState(article_id="behind", published=(version(),), failure=failure()),
        ArticleState(article_id="never", failure=failure("staged_article")),
        ArticleState(article_id="under way"),
    ]
    seen = overview(iter(states))
    assert (seen.articles, seen.published) == (4, 2)
    assert {name: found.layer for name, found in seen.failures.items()} == {
        "behind": "converted_markdown",
        "never": "staged_article",
    }
    assert seen.behind == ["behind"]


def test_only_a_version_that_is_still_put_back_counts_as_pinned() -> None:
    put_back = Pin(version="v1", source_hash="s", pinned_at="t", run_id="r")
    states = [
        ArticleState(article_id="held", pin=put_back, layers={"staged_article": layer(output_hash="s")}),
        ArticleState(article_id="edited since", pin=put_back, layers={"staged_article": layer(output_hash="new")}),
    ]
    assert overview(states).pinned == {"held": "v1"}


def test_checks_are_counted_over_all_articles() -> None:
    states = [
        ArticleState(article_id="b", layers={"converted_markdown": layer(LOST)}),
        ArticleState(article_id="a", layers={"converted_markdown": layer(LOST)}),
        ArticleState(article_id="c", layers={"converted_markdown": layer(), "chunks": layer()}),
        ArticleState(article_id="d"),
    ]
    checks = overview(states).checks
    assert checks["structure_is_preserved"].passed == 1
    assert list(checks["structure_is_preserved"].failed) == ["a", "b"]
    assert checks["structure_is_preserved"].failed["a"].message == "a table is lost"
    assert (checks["article_is_not_empty"].passed, checks["article_is_not_empty"].failed) == (3, {})
    assert (checks["chunks_cover_the_article"].passed, checks["vectors_are_usable"].passed) == (1, 0)


def test_a_check_that_is_no_more_is_passed_over() -> None:
    old = CheckResult(name="of an older version", passed=False, message="?")
    checks = overview([ArticleState(article_id="a", layers={"chunks": layer(old)})]).checks
    assert checks.keys() == CHECKS.keys()


def test_spending_is_summed_by_layer_and_by_model() -> None:
    states = [
        ArticleState(article_id="a", spent={"image_descriptions": (usage("see", 2, 0.5), usage("ocr", 1, 0.0))}),
        ArticleState(
            article_id="b", spent={"image_descriptions": (usage("see", 3),), "chunks": (usage("ocr", 4, 0.0),)}
        ),
    ]
    seen = overview(states)
    assert {layer: [(each.model, each.calls) for each in spent] for layer, spent in seen.spent.items()} == {
        "image_descriptions": [("ocr", 1), ("see", 5)],
        "chunks": [("ocr", 4)],
    }
    assert [(each.model, each.calls) for each in seen.total_spent()] == [("ocr", 5), ("see", 5)]
