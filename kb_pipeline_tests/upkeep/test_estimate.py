"""What an ingest would do and cost, told before anything is done."""

import json
from pathlib import Path

import pytest

from kb_pipeline.analyzers.local import LocalAnalyzer
from kb_pipeline.flow.layers import LAYER_NAMES
from kb_pipeline.flow.workspace import Workspace
from kb_pipeline.models.hashing import HashingEmbedder
from kb_pipeline.records import ImageDescription, Price, Usage
from kb_pipeline.services.usage import record_usage
from kb_pipeline.settings import Settings
from kb_pipeline.store.state import load_state, load_states
from kb_pipeline.upkeep.estimate import Estimate, ModelUse, estimate
from kb_pipeline_tests.building import build_here, forbid_models, listing, made_once, page, stage, unstage
from kb_pipeline_tests.conftest import Article
from kb_pipeline_tests.pictures import screenshot

FIGURE = '<p><img src="form.image" alt="The form"></p></body>'


@pytest.fixture(autouse=True)
def published(settings: Settings) -> None:
    made_once(publish_two, settings)


def publish_two(settings: Settings) -> None:
    figure = page("one").replace("</body>", FIGURE)
    stage(settings, "one", figure, {"form.image": screenshot("New ticket", "Save")})
    stage(settings, "two", page("two"))
    build_here(settings)


def estimated(settings: Settings, *article_ids: str) -> Estimate:
    return estimate(Workspace(settings), article_ids or None)


def use(found: Estimate, layer: str) -> ModelUse:
    return next(use for use in found.models if use.layer == layer)


def changed(settings: Settings, **values: object) -> Settings:
    return settings.model_copy(update=values)


def spent(settings: Settings, layer: str) -> tuple[int, int]:
    """Calls that were made in the layer and the tokens that were sent, over all articles."""
    layout = Workspace(settings).layout
    used = [each for key in ("one", "two", "new") for each in load_state(layout, key).spent.get(layer, ())]
    return sum(each.calls for each in used), sum(each.input_tokens for each in used)


def embedded(settings: Settings) -> int:
    """Texts that were embedded so far, over all articles."""
    layout = Workspace(settings).layout
    return sum(used.calls for state in load_states(layout) for used in state.spent.get("chunk_embeddings", ()))


def test_where_nothing_is_stale_nothing_is_to_be_done(settings: Settings) -> None:
    found = estimated(settings)
    assert (found.articles, found.up_to_date, found.images, found.texts, found.models) == (0, 2, 0, 0, ())
    assert found.cost == 0


def test_estimating_calls_no_model_and_writes_nothing(
    settings: Settings, article: Article, monkeypatch: pytest.MonkeyPatch
) -> None:
    article("new", page("new").replace("</body>", FIGURE), {"form.image": screenshot("Other")})
    forbid_models(monkeypatch)
    before = listing(Path(settings.home))
    assert estimated(settings).articles == 1
    assert listing(Path(settings.home)) == before


def test_articles_are_counted_by_reason_and_layer(settings: Settings, article: Article) -> None:
    article("new", page("new"))
    article("two", page("two", "other words"))
    found = estimated(settings)
    assert found.reasons == {"new": 1, "changed in staging": 1}
    assert found.layers == dict.fromkeys(LAYER_NAMES, 2)
    assert (found.articles, found.up_to_date) == (2, 1)


def test_only_what_is_asked_for_is_estimated(settings: Settings, article: Article) -> None:
    article("new", page("new"))
    article("two", page("two", "other words"))
    found = estimated(settings, "two", "one", "never", "two")
    assert (found.reasons, found.up_to_date, found.not_staged) == ({"changed in staging": 1}, 1, ("never",))


def test_what_failed_for_good_is_counted_where_it_is_asked_for(settings: Settings, article: Article) -> None:
    article("two", "<body></body>")
    build_here(settings)
    assert estimated(settings).articles == 0
    assert estimated(settings, "two").reasons == {"failed for good, tried again": 1}


class TestImages:
    def test_files_that_were_never_described_are_counted_once(self, settings: Settings, article: Article) -> None:
        for name in ("new", "newer"):
            files = {
                "a.png": screenshot("A"),
                "b.image": screenshot("B"),
                "form.image": screenshot("New ticket", "Save"),
            }
            article(name, page(name).replace("</body>", FIGURE), {**files, "data.json": b"{}", "manual.pdf": b"%PDF"})
        found = estimated(settings)
        assert (found.images, found.images_are) == (2, "at most"), "the third is shown by an article that is described"

    @pytest.mark.slow("builds a whole knowledge base")
    def test_after_a_change_of_prompt_every_content_image_is_counted(
        self, settings: Settings, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(LocalAnalyzer, "prompt_version", "next")
        found = estimated(settings)
        assert (found.images, found.images_are) == (1, "exactly")
        build_here(settings)
        assert estimated(settings).images == 0

    def test_another_converter_describes_nothing_again(self, settings: Settings) -> None:
        found = estimated(changed(settings, analyzer="kb_pipeline_tests.doubles:RenamedAnalyzer"))
        assert (found.articles, found.images) == (2, 0)


class TestTexts:
    def test_another_embedder_embeds_every_chunk(self, settings: Settings) -> None:
        other = changed(settings, embedder="kb_pipeline_tests.doubles:OtherEmbedder")
        found = estimated(other)
        before = spent(settings, "chunk_embeddings")[0]
        build_here(other)
        assert found.texts == spent(settings, "chunk_embeddings")[0] - before
        assert found.texts_from == {"its chunks that have no vector": 2}
        assert found.tokens > found.texts

    def test_other_chunks_are_counted_as_they_will_be_cut(self, settings: Settings, article: Article) -> None:
        article("long", f"<body><h1>Long</h1>{'<p>Some words of a long section.</p>' * 60}</body>")
        build_here(settings)
        other = changed(settings, chunk_max_tokens=100)
        found = estimated(other)
        before = embedded(settings)
        build_here(other)
        assert found.texts == embedded(settings) - before > 1

    def test_what_was_embedded_once_is_not_counted(self, settings: Settings) -> None:
        build_here(changed(settings, embedder="kb_pipeline_tests.doubles:OtherEmbedder"))
        found = estimated(settings)
        assert (found.articles, found.texts) == (2, 0)

    def test_new_articles_are_counted_by_the_words_of_their_pages(self, settings: Settings, article: Article) -> None:
        words = " ".join(["word"] * 1000)
        code = "<script>var not_a_word = 'at all';</script><style>p { not: one }</style>"
        article("new", f"<html><head>{code}</head><body><h1>New</h1><p>{words}</p></body></html>")
        found = estimated(settings)
        assert (found.tokens, found.texts_from) == (1001, {"the words of the page or document": 1})
        assert 1001 / HashingEmbedder.max_tokens < found.texts < 20

    def test_where_the_markdown_may_change_all_chunks_are_counted(self, settings: Settings) -> None:
        found = estimated(changed(settings, analyzer="kb_pipeline_tests.doubles:RenamedAnalyzer"))
        assert found.texts_from == {"all its chunks": 2}
        assert found.texts == spent(settings, "chunk_embeddings")[0]


@pytest.mark.parametrize("html", [b"", b"%PDF-1.7", b"<!-- -->"])
def test_an_article_that_will_fail_is_named_and_costs_nothing(
    settings: Settings, article: Article, html: bytes
) -> None:
    article("bad", html)
    found = estimated(settings)
    assert (found.articles, found.unreadable, found.texts) == (1, ("bad",), 0)


def test_files_of_ours_that_are_gone_do_not_stop_the_estimate(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LocalAnalyzer, "prompt_version", "next")
    (Path(settings.home) / "converted" / "one" / "conversion.json").unlink()
    found = estimated(settings)
    assert (found.articles, found.unreadable) == (2, ("one",))


class TestMoney:
    def test_what_runs_here_costs_seconds_only(self, settings: Settings, article: Article) -> None:
        article("new", page("new"), {"a.png": screenshot("A")})
        found = estimated(settings)
        assert [(use.units, use.unit, use.cost, use.unknown) for use in found.models[:2]] == [
            (1, "articles", 0.0, ""),
            (1, "images", 0.0, ""),
        ]
        assert all(use.seconds is not None for use in found.models)
        assert found.cost == 0

    def test_a_model_that_was_never_used_is_unknown(self, settings: Settings) -> None:
        found = estimated(changed(settings, embedder="kb_pipeline_tests.doubles:OtherEmbedder"))
        used = use(found, "chunk_embeddings")
        assert (used.model, used.seconds, used.cost) == ("other", None, None)
        assert "ingest a few articles" in used.unknown
        assert found.cost is None

    @pytest.fixture
    def paid(self, monkeypatch: pytest.MonkeyPatch, settings: Settings, article: Article) -> None:
        """Descriptions and vectors of a service that bills; two images and all texts were paid for so far."""

        def describe(_self: object, png: bytes) -> ImageDescription:
            tokens = {"input_tokens": 1000, "output_tokens": 100}
            record_usage(Usage(model=f"{LocalAnalyzer.image_model}-2025-04-14", calls=1, **tokens))
            return ImageDescription(description=f"A picture of {len(png)} bytes")

        embed = HashingEmbedder.embed_batch

        def embed_batch(self: HashingEmbedder, texts: list[str]) -> object:
            tokens = sum(map(self.count_tokens, texts))
            record_usage(Usage(model=self.model_id, calls=1, input_tokens=tokens))
            return embed(self, texts)

        monkeypatch.setattr(LocalAnalyzer, "describe", describe)
        monkeypatch.setattr(LocalAnalyzer, "image_model", "gpt-see")
        monkeypatch.setattr(HashingEmbedder, "embed_batch", embed_batch)
        monkeypatch.setattr(HashingEmbedder, "model_id", "text-embed")
        article("two", page("two").replace("</body>", FIGURE), {"form.image": screenshot("Second")})
        build_here(settings)

    def test_what_bills_costs_what_it_took_so_far_at_todays_prices(
        self, paid: None, settings: Settings, article: Article, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        prices = (
            Price(model="gpt-see", input_tokens=2, output_tokens=8),
            Price(model="text-embed", input_tokens=1000),
        )
        files = {f"{name}.png": screenshot(name) for name in "abc"}
        article("new", page("new"), files)
        found = estimated(changed(settings, prices=prices))
        assert use(found, "image_descriptions").cost == pytest.approx(3 * (1000 * 2 + 100 * 8) / 1e6)
        assert use(found, "chunk_embeddings").cost == pytest.approx(found.tokens / 1000, rel=0.02)
        assert found.cost == pytest.approx(sum(use.cost or 0 for use in found.models))

    def test_without_a_price_the_cost_is_unknown(self, paid: None, settings: Settings, article: Article) -> None:
        article("new", page("new"), {"a.png": screenshot("A")})
        found = estimated(settings)
        used = use(found, "image_descriptions")
        assert (used.cost, used.unknown) == (None, "gpt-see has no price; set KB_PRICES")
        assert used.seconds is not None
        assert found.cost is None


def test_the_estimate_is_plain_json(settings: Settings, article: Article) -> None:
    article("new", page("new"), {"a.png": screenshot("A")})
    unstage(settings, "two")
    told = json.loads(json.dumps(estimated(settings, "new", "two").as_dict()))
    assert (told["articles"], told["images"], told["cost"]) == (1, 1, 0)
    assert told["not_staged"] == ["two"]
    assert told["models"][0]["unit"] == "articles"


def test_a_page_that_declares_its_encoding_as_xhtml_is_counted(settings: Settings, article: Article) -> None:
    article("xhtml", f'<?xml version="1.0" encoding="utf-8"?>{page("xhtml")}')
    assert estimated(settings, "xhtml").unreadable == ()
    assert estimated(settings, "xhtml").texts == 1
