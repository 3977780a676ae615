"""Usage: every model that was used is told in real numbers, and nothing is paid twice."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from kb_pipeline.errors import TransientError
from kb_pipeline.flow.build import ArticleResult, build_article
from kb_pipeline.flow.layers import LAYER_NAMES, Run
from kb_pipeline.flow.workspace import Workspace
from kb_pipeline.records import Price, Usage
from kb_pipeline.services.usage import metering, priced, record_usage, timed_use, total
from kb_pipeline.settings import Settings, load_settings
from kb_pipeline.store.layout import Layout
from kb_pipeline_tests import processes
from kb_pipeline_tests.conftest import Article, Build, Ledger
from kb_pipeline_tests.doubles import PaidAnalyzer
from kb_pipeline_tests.pictures import screenshot
from kb_pipeline_tests.search.losing import lose
from kb_pipeline_tests.served import state_of

# --- counting ------------------------------------------------------------------------------------


def test_usage_is_collected_for_whoever_asks_innermost_first() -> None:
    record_usage(Usage(model="nobody asked"))
    with metering() as outer:
        record_usage(Usage(model="a", calls=1))
        with metering() as inner:
            record_usage(Usage(model="b", calls=1))
    assert [usage.model for usage in outer] == ["a"]
    assert [usage.model for usage in inner] == ["b"]


def test_a_model_of_this_machine_has_calls_and_seconds_and_costs_nothing() -> None:
    with metering() as used, timed_use("local", calls=3):
        pass
    (usage,) = used
    assert (usage.model, usage.calls, usage.cost) == ("local", 3, 0.0)
    assert usage.seconds >= 0


def test_a_call_that_the_backend_reports_is_counted_once() -> None:
    with metering() as used, timed_use("vision"):
        record_usage(Usage(model="vision-2026", calls=1, input_tokens=5))
    assert [(usage.model, usage.calls) for usage in total(used)] == [("vision", 0), ("vision-2026", 1)]


def test_a_call_that_failed_is_none_but_took_its_time() -> None:
    with metering() as used, pytest.raises(TransientError), timed_use("vision"):
        raise TransientError("busy")
    assert [usage.calls for usage in used] == [0]


def test_totals_are_by_model_in_order_of_name() -> None:
    parts = [Usage(model="b", calls=1, pages=2, cost=0.5), Usage(model="a", calls=1), Usage(model="b", seconds=0.25)]
    assert total(parts) == (Usage(model="a", calls=1), Usage(model="b", calls=1, pages=2, seconds=0.25, cost=0.5))
    assert total([]) == ()


PRICES = (
    Price(model="gpt-4.1", input_tokens=2, output_tokens=8),
    Price(model="gpt-4.1-mini", input_tokens=0.4, output_tokens=1.6),
    Price(model="reader", pages=3, call=0.01),
)


@pytest.mark.parametrize(
    ("usage", "cost"),
    [
        (Usage(model="gpt-4.1", input_tokens=1_000_000, output_tokens=500_000), 6.0),
        (Usage(model="gpt-4.1-2025-04-14", input_tokens=1_000_000), 2.0),
        (Usage(model="gpt-4.1-mini-2025-04-14", input_tokens=1_000_000, output_tokens=1_000_000), 2.0),
        (Usage(model="gpt-4.1x", input_tokens=1_000_000), None),
        (Usage(model="reader", calls=2, pages=1000), 3.02),
        (Usage(model="unheard of", calls=1), None),
        (Usage(model="of this machine", calls=1, cost=0.0), 0.0),
    ],
)
def test_the_price_table_makes_usage_a_cost(usage: Usage, cost: float | None) -> None:
    assert priced([usage], PRICES)[0].cost == (pytest.approx(cost) if cost is not None else None)


def test_the_price_table_is_a_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KB_PRICES", '{"gpt-4.1": {"input_tokens": 2, "output_tokens": 8}, "reader": {"call": 0.01}}')
    assert load_settings().prices == (PRICES[0], Price(model="reader", call=0.01))


# --- paying --------------------------------------------------------------------------------------

PAID = "kb_pipeline_tests.doubles:PaidAnalyzer"
PAGE = "<body><h1>Clock</h1><p>The clock of a ticket stops.</p>{}</body>"
SHOWN = "".join(f"<p>Look:</p><img src='{name}.image' alt='{name}'>" for name in ("one", "two"))
PRICED = (Price(model="paid-vision-1", input_tokens=2, output_tokens=10),)


@pytest.fixture
def page(article: Article, ledger: Ledger) -> Path:
    return article("page", PAGE.format(SHOWN), {f"{name}.image": screenshot(name) for name in ("one", "two")})


def paid(usages: tuple[Usage, ...]) -> Usage:
    return next(usage for usage in usages if usage.model == "paid-vision-1-2026")


def used(result: ArticleResult, layer: str) -> tuple[Usage, ...]:
    assert result.error is None
    return next(made.usage for made in result.layers if made.name == layer)


def test_what_a_layer_used_and_cost_is_told_and_remembered(page: Path, build_here: Build, settings: Settings) -> None:
    result = build_here(analyzer=PAID, prices=PRICED)["page"]
    state = state_of(settings, "page")
    assert paid(used(result, "image_descriptions")) == paid(state.layers["image_descriptions"].usage)
    assert paid(state.spent["image_descriptions"]) == Usage(
        model="paid-vision-1-2026", calls=2, input_tokens=2000, output_tokens=400, cost=0.008
    )
    (embedding,) = used(result, "chunk_embeddings")
    assert (embedding.model, embedding.calls, embedding.cost) == ("hashing-256", 4, 0.0)


def test_what_was_spent_adds_up_and_what_is_reused_costs_nothing(
    page: Path, build_here: Build, settings: Settings, ledger: Ledger
) -> None:
    build_here(analyzer=PAID, prices=PRICED)
    assert used(build_here(analyzer=PAID, prices=PRICED)["page"], "image_descriptions") == ()
    (page / "two.image").write_bytes(screenshot("changed"))
    result = build_here(analyzer=PAID, prices=PRICED)["page"]
    assert paid(used(result, "image_descriptions")).calls == 1
    spent = paid(state_of(settings, "page").spent["image_descriptions"])
    assert (spent.calls, spent.input_tokens, spent.cost) == (3, 3000, pytest.approx(0.012))
    assert len(ledger()) == 3


def touch(page: Path, settings: Settings) -> None:
    for file in page.iterdir():
        os.utime(file, (1, 1))


def drop_index(page: Path, settings: Settings) -> None:
    lose(Workspace(settings).index)


def delete_what_was_made(page: Path, settings: Settings) -> None:
    for name in ("state", "reports", "converted", "versions", "serving", "staged", "descriptions/by-article"):
        shutil.rmtree(Path(settings.home) / name)


def edit_the_text(page: Path, settings: Settings) -> None:
    (page / "index.html").write_text(PAGE.format(SHOWN).replace("stops", "rests"))


def rename_an_image(page: Path, settings: Settings) -> None:
    (page / "one.image").rename(page / "uno.image")
    (page / "index.html").write_text(PAGE.format(SHOWN).replace("one.image", "uno.image"))


def tear_the_descriptions(page: Path, settings: Settings) -> None:
    Layout.of(settings).descriptions("page").write_bytes(b"torn")
    edit_the_text(page, settings)


@pytest.mark.parametrize(
    "change", [touch, drop_index, delete_what_was_made, edit_the_text, rename_an_image, tear_the_descriptions]
)
def test_an_image_is_paid_once_whatever_happens_to_its_article(
    page: Path, build_here: Build, settings: Settings, ledger: Ledger, change: Callable[[Path, Settings], None]
) -> None:
    build_here(analyzer=PAID)
    change(page, settings)
    build_here(analyzer=PAID)
    assert build_here(analyzer=PAID)["page"].error is None
    assert len(ledger()) == 2


@pytest.mark.parametrize("also_its_copy", [False, True])
def test_a_torn_description_is_paid_again_only_if_its_copy_is_torn_as_well(
    page: Path, build_here: Build, settings: Settings, ledger: Ledger, also_its_copy: bool
) -> None:
    build_here(analyzer=PAID)
    first = min(Path(settings.home).glob("descriptions/by-content/*/*.json"))
    first.write_bytes(b"torn")
    if also_its_copy:
        (Path(settings.home) / "copies" / first.relative_to(settings.home)).write_bytes(b"torn")
    Layout.of(settings).descriptions("page").unlink()
    assert build_here(analyzer=PAID)["page"].error is None
    assert len(ledger()) == 2 + also_its_copy


@pytest.mark.parametrize("change", [{"image_model": "paid-vision-2"}, {"prompt_version": "2"}])
def test_another_model_or_prompt_describes_every_image_again(
    page: Path, build_here: Build, ledger: Ledger, monkeypatch: pytest.MonkeyPatch, change: dict[str, str]
) -> None:
    build_here(analyzer=PAID)
    for name, value in change.items():
        monkeypatch.setattr(PaidAnalyzer, name, value)
    result = build_here(analyzer=PAID)["page"]
    assert len(ledger()) == 4
    made = [layer.name for layer in result.layers if not layer.reused]
    assert "chunk_embeddings" not in made, "the descriptions came out the same"


def test_an_image_of_two_articles_is_paid_once(article: Article, build_here: Build, ledger: Ledger) -> None:
    for key in ("first", "second"):
        article(key, PAGE.format(SHOWN), {f"{name}.image": screenshot(name) for name in ("one", "two")})
    assert all(result.error is None for result in build_here(analyzer=PAID).values())
    assert len(ledger()) == 2


@pytest.mark.slow("builds a whole knowledge base")
def test_an_image_of_many_articles_built_at_once_is_paid_once(
    article: Article, settings: Settings, ledger: Ledger
) -> None:
    keys = [f"page-{number}" for number in range(4)]
    for key in keys:
        article(key, PAGE.format(SHOWN), {f"{name}.image": screenshot(name) for name in ("one", "two")})
    slow = settings.model_copy(update={"analyzer": "kb_pipeline_tests.doubles:SlowPaidAnalyzer"})
    run = Run("run-1", "2026-01-01T00:00:00+00:00")
    with processes.at_once(2) as pool:
        results = [pool.submit(build_article, slow, key, LAYER_NAMES[:3], run) for key in keys]
        assert [future.result().error for future in results] == [None] * len(keys)
    assert len(ledger()) == 2


@pytest.mark.usefixtures("no_pauses")
def test_what_a_failed_try_paid_for_is_kept_and_counted(
    page: Path, build_here: Build, settings: Settings, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    describe = PaidAnalyzer.describe

    def busy_after_the_first(self: PaidAnalyzer, png: bytes) -> object:
        if len(ledger()) == 1:
            raise TransientError("the service is busy")
        return describe(self, png)

    with monkeypatch.context() as patched:
        patched.setattr(PaidAnalyzer, "describe", busy_after_the_first)
        assert build_here(analyzer=PAID)["page"].error is not None
    assert paid(state_of(settings, "page").spent["image_descriptions"]).calls == 1
    result = build_here(analyzer=PAID)["page"]
    assert paid(used(result, "image_descriptions")).calls == 1
    assert paid(state_of(settings, "page").spent["image_descriptions"]).calls == 2
    assert len(ledger()) == 2
