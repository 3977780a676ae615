"""Building articles: only what changed is computed, and one article's trouble stays its own."""

import os
import shutil
import threading
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace

import pytest

from kb_pipeline.analyzers.local import LocalAnalyzer
from kb_pipeline.errors import ImageError, ModelError, SearchError, TransientError, WorkerLostError
from kb_pipeline.flow.build import ArticleResult, build_article, build_articles, fail
from kb_pipeline.flow.layers import LAYER_NAMES, Run
from kb_pipeline.flow.layers.chunk_embeddings import ChunkEmbeddingsLayer
from kb_pipeline.flow.layers.converted_markdown import ConvertedMarkdownLayer
from kb_pipeline.flow.layers.serving_article import load_manifest
from kb_pipeline.flow.publish import publish
from kb_pipeline.flow.stale import stale_articles
from kb_pipeline.flow.workspace import Workspace, open_workspace
from kb_pipeline.records import ConvertedArticle, ImageDescription, ImageInfo
from kb_pipeline.search.lance.index import LanceDBIndex
from kb_pipeline.settings import Settings
from kb_pipeline.store.layout import Layout
from kb_pipeline.store.state import kept_state, load_state
from kb_pipeline_tests.conftest import Article, Build, Ledger
from kb_pipeline_tests.doubles import PaidAnalyzer
from kb_pipeline_tests.pictures import screenshot
from kb_pipeline_tests.search.losing import lose
from kb_pipeline_tests.served import serving_files

HTML = """<html><body><h1>Tickets</h1><p>A ticket is a question of a customer that waits for an answer.</p>
<h2>Create</h2><p>Click <b>New ticket</b> and fill in the form with all that you know about the customer.</p>
<p><img src="form.image" alt="The form"></p>
<h2>Close</h2><p>Click <b>Solve</b> when the customer is happy, and write down what solved it for the others.</p>
<p>See <a href="../other/index.html">the other article</a>.</p></body></html>"""


@pytest.fixture
def tickets(article: Article) -> Path:
    return article("tickets", HTML, {"form.image": screenshot("New ticket", "Subject", "Save")})


def reused(result: ArticleResult) -> dict[str, bool]:
    assert result.error is None
    return {layer.name: layer.reused for layer in result.layers}


def report(result: ArticleResult, layer: str) -> dict[str, object]:
    return dict(next(made.report for made in result.layers if made.name == layer))


@pytest.mark.slow("builds a whole knowledge base")
def test_all_layers_are_made_in_the_order_of_the_flow(tickets: Path, build_in_processes: Build) -> None:
    result = build_in_processes()["tickets"]
    assert [layer.name for layer in result.layers] == list(LAYER_NAMES)
    assert not any(layer.reused for layer in result.layers)


def test_a_second_build_computes_nothing(tickets: Path, build: Build) -> None:
    build()
    assert all(reused(build(run_id="run-2")["tickets"]).values())


def test_touching_a_file_computes_nothing(tickets: Path, build: Build) -> None:
    build()
    os.utime(tickets / "index.html", (1, 1))
    assert all(reused(build()["tickets"]).values())


def test_an_edited_sentence_embeds_only_its_section(tickets: Path, build: Build) -> None:
    before = build()["tickets"]
    (tickets / "index.html").write_text(HTML.replace("when the customer is happy", "when the customer has agreed"))
    after = build()["tickets"]
    assert report(before, "chunk_embeddings")["vectors"] == 5  # three sections, the picture, the article as a whole
    assert report(after, "chunk_embeddings")["newly_embedded"] == 2  # the section, and the summary that quotes it
    assert report(after, "chunk_embeddings")["kept"] == 3


def test_a_changed_screenshot_describes_one_image(tickets: Path, build_here: Build) -> None:
    build_here(analyzer="local")
    (tickets / "form.image").write_bytes(screenshot("New ticket", "Subject", "Send"))
    result = build_here(analyzer="local")["tickets"]
    assert report(result, "image_descriptions")["newly_described"] == 1
    served = (Path(tickets).parents[1] / "home" / "serving" / "tickets" / "article.md").read_text()
    assert "Send" in served


def test_serving_files_deleted_by_hand_are_put_in_place_again(tickets: Path, build: Build, settings: Settings) -> None:
    build()
    before = serving_files(settings, "tickets")
    shutil.rmtree(Layout.of(settings).serving("tickets"))
    result = reused(build()["tickets"])
    assert result.pop("search_index") is False
    assert all(result.values())
    assert serving_files(settings, "tickets") == before


@pytest.mark.slow("builds a whole knowledge base")
def test_a_version_deleted_by_hand_is_made_again_without_paying_twice(
    tickets: Path, build: Build, settings: Settings
) -> None:
    build()
    layout = Layout.of(settings)
    shutil.rmtree(layout.versions("tickets"))
    shutil.rmtree(layout.serving("tickets"))
    result = build()["tickets"]
    assert reused(result)["serving_article"] is False
    assert reused(result)["image_descriptions"] is True
    assert (layout.serving("tickets") / "images" / "form.png").is_file()
    assert all(reused(build()["tickets"]).values())


def test_a_dropped_index_heals_without_embedding_anything(tickets: Path, build: Build, settings: Settings) -> None:
    build()
    lose(Workspace(settings).index)
    result = reused(build()["tickets"])
    assert result.pop("search_index") is False
    assert all(result.values())
    assert Workspace(settings).index.count_of("text") == 3


def test_a_damaged_state_file_comes_back_from_its_copy(tickets: Path, build: Build, settings: Settings) -> None:
    build()
    path = Layout.of(settings).state("tickets")
    before = path.read_bytes()
    path.write_text("{ torn")
    assert all(reused(build()["tickets"]).values())
    assert path.read_bytes() == before


def test_a_state_that_is_lost_with_its_copy_costs_time_and_nothing_else(
    tickets: Path, build: Build, settings: Settings
) -> None:
    build()
    before = load_state(Layout.of(settings), "tickets").published
    kept = kept_state(Layout.of(settings), "tickets")
    for path in (kept.path, kept.copy):
        path.write_text("{ torn")
    result = build()["tickets"]
    assert report(result, "image_descriptions")["newly_described"] == 0
    assert report(result, "chunk_embeddings")["newly_embedded"] == 0
    after = load_state(Layout.of(settings), "tickets")
    assert (after.published, after.damage) == (before, "")


@pytest.mark.parametrize("kind", [ConvertedMarkdownLayer, ChunkEmbeddingsLayer])
def test_a_new_code_version_makes_its_layer_again(
    tickets: Path, build: Build, settings: Settings, monkeypatch: pytest.MonkeyPatch, kind: type
) -> None:
    build()
    monkeypatch.setattr(kind, "version", "next")
    result = build_article(settings, "tickets", LAYER_NAMES, Run("run-2", "2026-01-02T00:00:00+00:00"))
    made = [layer.name for layer in result.layers if not layer.reused]
    assert made == [kind.name], "an equal result makes nothing after it again"


@pytest.mark.slow("builds a whole knowledge base")
def test_the_manifest_lists_links_to_staged_articles_as_they_come(
    tickets: Path, article: Article, build: Build, settings: Settings
) -> None:
    build()
    assert load_manifest(Layout.of(settings).serving("tickets")).article_links == ()
    article("other", "<body><h1>Other</h1><p>text</p></body>")
    build(run_id="run-2")
    links = load_manifest(Layout.of(settings).serving("tickets")).article_links
    assert [(link.label, link.article_id) for link in links] == [("the other article", "other")]


def test_provenance_names_the_run_that_made_it_not_the_last_that_looked(
    tickets: Path, build: Build, settings: Settings
) -> None:
    build(run_id="first")
    build(run_id="second")
    provenance = load_manifest(Layout.of(settings).serving("tickets")).provenance
    assert provenance.run_id == "first"
    assert provenance.converter.startswith("local")


def test_an_image_that_cannot_be_described_fails_its_article_or_leaves_its_alt_text_and_a_warning(
    tickets: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(self: LocalAnalyzer, png: bytes) -> ImageDescription:
        raise ImageError("the pixels end too early; save the picture again")

    monkeypatch.setattr(LocalAnalyzer, "describe", refuse)
    settings = settings.model_copy(update={"analyzer": "local"})
    run = Run("run-1", "2026-01-01T00:00:00+00:00")
    failed = build_article(settings, "tickets", LAYER_NAMES, run)
    assert failed.failed_layer == "serving_article"
    assert "1 image cannot be shown: form.image: " in (failed.error or "")
    lenient = settings.model_copy(update={"advisory_checks": ("images_are_accounted_for",)})
    (result,) = publish(
        open_workspace(lenient), [build_article(lenient, "tickets", LAYER_NAMES, run)], LAYER_NAMES, run
    )
    assert report(result, "image_descriptions")["unreadable"] == 1
    text = (Layout.of(settings).serving("tickets") / "article.md").read_text()
    assert "The form" in text
    assert "form.png" not in text
    assert "pixels end too early" in load_manifest(Layout.of(settings).serving("tickets")).warnings[0]


def test_an_image_that_is_gone_from_the_article_is_gone_from_serving(
    tickets: Path, build: Build, settings: Settings
) -> None:
    build()
    (tickets / "index.html").write_text(HTML.replace('<p><img src="form.image" alt="The form"></p>', ""))
    build()
    assert not (Layout.of(settings).serving("tickets") / "images" / "form.png").exists()


def test_a_layer_without_its_upstream_says_what_to_materialize(tickets: Path, build: Build) -> None:
    result = build(layers=("chunks",))["tickets"]
    assert result.failed_layer == "chunks"
    assert "serving_article, not made yet" in (result.error or "")


@pytest.mark.parametrize("layer", ["image_descriptions", "chunks", "search_index"])
def test_a_layer_that_misses_one_that_failed_keeps_the_true_reason(
    tickets: Path, build: Build, settings: Settings, layer: str
) -> None:
    (tickets / "index.html").write_text("")
    why = build()["tickets"].error or ""
    before = load_state(Layout.of(settings), "tickets").failure
    result = build(layers=(layer,), run_id="run-2")["tickets"]
    assert "the page is empty" in why
    assert (result.failed_layer, result.error) == (layer, why)
    assert load_state(Layout.of(settings), "tickets").failure == before


def test_a_layer_that_misses_one_says_so_once_the_reason_is_mended(tickets: Path, build: Build) -> None:
    (tickets / "index.html").write_text("")
    build()
    (tickets / "index.html").write_text(HTML)
    result = build(layers=("chunks",))["tickets"]
    assert "serving_article, not made yet" in (result.error or "")


def test_the_index_alone_can_be_asked_for(tickets: Path, build: Build, settings: Settings) -> None:
    build(layers=LAYER_NAMES[:-1])
    assert Workspace(settings).index.count() == 0
    result = build(layers=("search_index",))["tickets"]
    assert result.error is None
    assert Workspace(settings).index.count_of("text") == 3


def test_an_article_the_index_refuses_does_not_keep_the_others_out(
    tickets: Path, article: Article, build: Build, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    article("good", "<body><h1>Good</h1><p>Fine text.</p></body>")
    publish = LanceDBIndex.publish

    def refuse(self: LanceDBIndex, articles: dict[str, object]) -> None:
        if "tickets" in articles:
            raise SearchError("the index refuses this one")
        publish(self, articles)  # type: ignore[arg-type]

    monkeypatch.setattr(LanceDBIndex, "publish", refuse)
    results = build()
    assert results["good"].error is None
    assert results["tickets"].failed_layer == "search_index"
    assert set(Workspace(settings).index.entries()) == {"good"}


@pytest.mark.slow("builds a whole knowledge base")
def test_an_article_that_kills_its_process_fails_alone(
    tickets: Path, article: Article, build: Build, settings: Settings
) -> None:
    for number in range(6):
        article(f"good-{number}", f"<body><h1>Good {number}</h1><p>Fine text.</p></body>")
    article("killer", "<body><h1>Killer</h1></body>")
    killing = settings.model_copy(update={"analyzer": "kb_pipeline_tests.doubles:KillingAnalyzer"})
    run = Run("run-1", "2026-01-01T00:00:00+00:00")
    ids = sorted(folder.name for folder in Path(settings.staging).iterdir())
    results = {result.article_id: result for result in build_articles(open_workspace(killing), ids, LAYER_NAMES, run)}
    assert results.keys() == set(ids)
    assert {key for key, result in results.items() if result.error} == {"killer"}
    assert "the process that built it died" in (results["killer"].error or "")


def test_a_lost_process_counts_as_the_article_s_own_fault_from_the_third_time_on(
    tickets: Path, settings: Settings
) -> None:
    workspace, run = Workspace(settings), Run("run-1", "2026-01-01T00:00:00+00:00")

    def lose_process(signature: str) -> bool:
        lost = WorkerLostError("tickets", "reading it", signature)
        return fail(workspace, ArticleResult("tickets", (), signature=signature), "chunks", lost, run).transient

    assert [lose_process("as staged") for _ in range(3)] == [True, True, False]
    assert lose_process("changed since")


def test_an_article_that_lost_its_process_is_tried_again(tickets: Path, build: Build, settings: Settings) -> None:
    signature = build()["tickets"].signature
    workspace, run = Workspace(settings), Run("run-2", "2026-01-01T00:00:00+00:00")
    lost = WorkerLostError("tickets", "reading it", signature)
    reasons = []
    for _ in range(3):
        fail(workspace, ArticleResult("tickets", (), signature=signature), "staged_article", lost, run)
        reasons += [stale.reason for stale in stale_articles(workspace)]
    assert reasons == ["failed for now", "failed for now"]


@pytest.mark.slow("builds a whole knowledge base")
@pytest.mark.parametrize("late", [False, True])
def test_what_is_wrong_with_the_index_breaks_off_the_build_however_late_it_is_known(
    tickets: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch, late: bool
) -> None:
    known = threading.Event()

    def count(_: LanceDBIndex) -> int:
        assert known.wait(60)
        raise SearchError("it is another program's")

    monkeypatch.setattr(LanceDBIndex, "count", count)
    results = build_articles(
        open_workspace(settings), ["tickets"], LAYER_NAMES, Run("run-1", "2026-01-01T00:00:00+00:00")
    )
    if late:
        assert next(results).error is None
    known.set()
    with pytest.raises(SearchError, match="another program"):
        list(results)


@pytest.mark.slow("builds a whole knowledge base")
@pytest.mark.parametrize("article_id", ["../outside", "_hidden", "never-staged"])
def test_an_id_that_is_no_article_fails_alone(tickets: Path, build: Build, article_id: str) -> None:
    results = build("tickets", article_id)
    assert results["tickets"].error is None
    assert results[article_id].failed_layer == "staged_article"
    assert "unexpected" not in (results[article_id].error or "")


@pytest.mark.slow("builds a whole knowledge base")
@pytest.mark.parametrize("also_the_index", [False, True])
def test_damaged_vectors_come_back_from_the_index_or_are_made_again(
    tickets: Path, build: Build, settings: Settings, also_the_index: bool
) -> None:
    build()
    path = torn(settings)["embeddings"]
    before = path.read_bytes()
    path.write_bytes(b"torn")
    if also_the_index:
        lose(Workspace(settings).index)
    assert report(build()["tickets"], "chunk_embeddings")["newly_embedded"] == 5 * also_the_index
    assert path.read_bytes() == before


EDITED = HTML.replace("when the customer is happy", "when the customer has agreed")


@pytest.mark.slow("builds a whole knowledge base")
@pytest.mark.parametrize("count", range(1, len(LAYER_NAMES)))
def test_building_some_layers_and_then_all_equals_building_all(
    tickets: Path, build: Build, settings: Settings, tmp_path: Path, count: int
) -> None:
    build()
    (tickets / "index.html").write_text(EDITED)
    build(layers=LAYER_NAMES[:count])
    build(layers=("search_index",))
    build()
    fresh = settings.model_copy(update={"home": str(tmp_path / "fresh")})
    run = Run("fresh", "2026-01-01T00:00:00+00:00")  # the day on which the article came in stands in the index
    publish(
        open_workspace(fresh),
        list(build_articles(open_workspace(fresh), ["tickets"], LAYER_NAMES, run)),
        LAYER_NAMES,
        run,
    )
    assert rows(settings) == rows(fresh)


def rows(settings: Settings) -> list[tuple[object, ...]]:
    """What the live index holds, vectors included, without the run."""
    import lancedb

    name = f"kb-articles-{Workspace(settings).reader().generation.id}"
    table = lancedb.connect(str(Path(settings.home) / "index")).open_table(name).to_arrow()
    columns = ["id", "chunk_index", "content", "content_hash", "content_vector", "image_urls"]
    return sorted(tuple(map(str, row.values())) for row in table.select(columns).to_pylist())


def test_vectors_of_older_chunks_are_never_published(tickets: Path, build: Build, settings: Settings) -> None:
    build()
    before = rows(settings)
    (tickets / "index.html").write_text(EDITED)
    build(layers=LAYER_NAMES[:6])
    result = build(layers=("search_index",))["tickets"]
    assert "chunk_embeddings is of an older version of the article; materialize" in (result.error or "")
    assert rows(settings) == before


def test_sections_that_change_places_change_places_in_the_index(
    article: Article, build: Build, settings: Settings
) -> None:
    one, two = (f"<h2>{name}</h2><p>{'Some words about ' + name + '. ' * 12}</p>" for name in ("One", "Two"))
    article("page", f"<body><h1>Page</h1><p>{'Introduction. ' * 12}</p>{one}{two}</body>")
    build()
    article("page", f"<body><h1>Page</h1><p>{'Introduction. ' * 12}</p>{two}{one}</body>")
    build()
    hits = Workspace(settings).index.search("words about", mode="keyword", top=5)
    order = {hit.chunk.section_header: hit.chunk.chunk_index for hit in hits}
    assert order["Two"] < order["One"]


def torn(settings: Settings) -> dict[str, Path]:
    layout = Layout.of(settings)
    version = load_state(layout, "tickets").version
    return {
        "staged": Path(layout.staged("tickets")),
        "converted": Path(layout.converted("tickets") / "conversion.json"),
        "descriptions": Path(layout.descriptions("tickets")),
        "serving manifest": Path(layout.serving("tickets") / "manifest.json"),
        "manifest": Path(layout.version("tickets", version) / "manifest.json"),
        "chunks": Path(layout.chunks("tickets", version)),
        "embeddings": Path(layout.vectors("tickets", version, Workspace(settings).embedder.model_id)),
        "state": Path(layout.state("tickets")),
    }


FILES = ("staged", "converted", "descriptions", "serving manifest", "manifest", "chunks", "embeddings", "state")


@pytest.mark.slow("builds a whole knowledge base")
@pytest.mark.parametrize("is_edited", [False, True])
@pytest.mark.parametrize("file", FILES)
def test_a_torn_file_harms_one_article_and_heals(
    tickets: Path, article: Article, build: Build, settings: Settings, file: str, is_edited: bool
) -> None:
    article("other", "<body><h1>Other</h1><p>Some other text.</p></body>")
    build()
    torn(settings)[file].write_bytes(b'{"torn')
    (tickets / "index.html").write_text(EDITED if is_edited else HTML)
    lose(Workspace(settings).index)
    first = build()
    assert first["other"].error is None
    assert "unexpected" not in (first["tickets"].error or "")
    assert build()["tickets"].error is None
    expected = "has agreed" if is_edited else "is happy"
    assert expected in (Layout.of(settings).serving("tickets") / "article.md").read_text()
    assert set(Workspace(settings).index.entries()) == {"tickets", "other"}


@pytest.mark.parametrize("lost", ["article.md", "images/form.png", "manifest.json"])
def test_a_serving_file_deleted_by_hand_comes_back(tickets: Path, build: Build, settings: Settings, lost: str) -> None:
    build()
    path = Path(Layout.of(settings).serving("tickets") / lost)
    path.unlink()
    build()
    assert path.is_file()


def test_staging_that_changes_during_the_build_is_noticed(tickets: Path, build: Build) -> None:
    build(layers=("staged_article", "converted_markdown"))
    (tickets / "form.image").write_bytes(screenshot("Another picture"))
    result = build(layers=("image_descriptions",))["tickets"]
    assert "was changed while the article was being read" in (result.error or "")
    assert build()["tickets"].error is None


def test_an_attachment_or_an_editors_backup_changes_nothing_but_the_inventory(tickets: Path, build: Build) -> None:
    build()
    (tickets / ".DS_Store").write_bytes(b"x")
    (tickets / "index.html~").write_text("old")
    assert all(reused(build()["tickets"]).values())


@pytest.mark.slow("builds a whole knowledge base")
def test_the_converter_in_the_provenance_is_the_one_that_was_chosen(tickets: Path, settings: Settings) -> None:
    own = settings.model_copy(update={"analyzer": "kb_pipeline_tests.doubles:RenamedAnalyzer"})
    run = Run("run-1", "2026-01-01T00:00:00+00:00")
    (result,) = publish(
        open_workspace(own), list(build_articles(open_workspace(own), ["tickets"], LAYER_NAMES, run)), LAYER_NAMES, run
    )
    assert result.error is None
    assert load_manifest(Layout.of(settings).serving("tickets")).provenance.converter == "renamed-9"


def test_the_index_names_the_run_that_published(tickets: Path, build: Build) -> None:
    build(run_id="first")
    layers = {layer.name: layer for layer in build(run_id="second")["tickets"].layers}
    assert (layers["search_index"].reused, layers["search_index"].run_id) == (True, "first")


def test_another_model_fills_a_generation_of_its_own_beside_the_one_that_is_read(
    tickets: Path, build: Build, settings: Settings
) -> None:
    build()
    before = rows(settings)
    other = settings.model_copy(update={"embedder": "kb_pipeline_tests.doubles:OtherEmbedder"})
    run = Run("run-2", "2026-01-01T00:00:00+00:00")
    (result,) = publish(
        open_workspace(other),
        list(build_articles(open_workspace(other), ["tickets"], LAYER_NAMES, run)),
        LAYER_NAMES,
        run,
    )
    made = [name for name, was_reused in reused(result).items() if not was_reused]
    assert made == ["chunks", "chunk_embeddings", "search_index"]
    assert report(result, "chunk_embeddings")["newly_embedded"] == 5
    workspace = Workspace(other)
    assert {each.embedding_model for each in workspace.catalog.generations()} == {"hashing-256", "other"}
    assert workspace.index.count_of("text") == 3
    assert workspace.reader().generation.embedding_model == "hashing-256"
    assert rows(other) == before


# --- passing and lasting failures ----------------------------------------------------------------

PAID = "kb_pipeline_tests.doubles:PaidAnalyzer"


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The pauses that are made before another try, in seconds; none is really waited for."""
    waited: list[float] = []
    monkeypatch.setattr("tenacity.nap.time", SimpleNamespace(sleep=waited.append))
    return waited


@pytest.fixture
def refusals(monkeypatch: pytest.MonkeyPatch, ledger: Ledger) -> list[Exception]:
    """What the paid service answers to its next calls instead of delivering."""
    errors: list[Exception] = []
    monkeypatch.setattr(PaidAnalyzer, "refusals", errors)
    return errors


def test_a_service_that_is_busy_is_asked_again_within_the_run(
    tickets: Path, build_here: Build, settings: Settings, ledger: Ledger, waits: list[float], refusals: list[Exception]
) -> None:
    refusals += [TransientError("busy"), TransientError("busy")]
    result = build_here(analyzer=PAID)["tickets"]
    assert not any(reused(result).values()), "what the first try made was made by this run"
    assert [layer.run_id for layer in result.layers] == ["run-1"] * len(LAYER_NAMES)
    assert load_state(Layout.of(settings), "tickets").failure is None
    assert len(ledger()) == 1
    assert len(waits) == 2
    assert 0 <= waits[0] <= 1
    assert 0 <= waits[1] <= 2


class BusyIndexError(SearchError, TransientError):
    """As the adapter of a search service raises it."""


@pytest.mark.parametrize(("busy", "published"), [(2, True), (9, False)])
def test_an_index_that_is_busy_is_asked_again_with_the_whole_batch(
    tickets: Path,
    article: Article,
    build_here: Build,
    waits: list[float],
    monkeypatch: pytest.MonkeyPatch,
    busy: int,
    published: bool,
) -> None:
    article("good", "<body><h1>Good</h1><p>Fine text.</p></body>")
    publish, asked = LanceDBIndex.publish, list[list[str]]()

    def refuse(self: LanceDBIndex, articles: dict[str, object]) -> None:
        asked.append(sorted(articles))
        if len(asked) <= busy:
            raise BusyIndexError("the search service is busy (429)", 3)
        publish(self, articles)  # type: ignore[arg-type]

    monkeypatch.setattr(LanceDBIndex, "publish", refuse)
    results = build_here()
    assert asked == [["good", "tickets"]] * 3
    assert waits == [3, 3]
    for result in results.values():
        assert (result.error is None) == published
        assert result.transient != published


@pytest.mark.parametrize(("asked", "waited"), [(7, 7), (0, 0), (3600, 60)])
def test_the_pause_is_what_the_service_asked_for_within_reason(
    tickets: Path, build_here: Build, waits: list[float], refusals: list[Exception], asked: float, waited: float
) -> None:
    refusals.append(TransientError("busy", retry_after=asked))
    assert build_here(analyzer=PAID)["tickets"].error is None
    assert waits == [waited]


def test_a_service_that_stays_busy_fails_the_article_for_now(
    tickets: Path,
    article: Article,
    build_here: Build,
    settings: Settings,
    waits: list[float],
    refusals: list[Exception],
) -> None:
    article("words-only", "<body><h1>Words</h1><p>Fine text.</p></body>")
    refusals += [TransientError(f"busy {number}") for number in range(9)]
    for attempts in (1, 2):
        results = build_here(analyzer=PAID, attempts=4)
        assert results["words-only"].error is None
        assert (results["tickets"].failed_layer, results["tickets"].transient) == ("image_descriptions", True)
        failure = load_state(Layout.of(settings), "tickets").failure
        assert failure is not None
        assert (failure.layer, failure.transient, failure.attempts) == ("image_descriptions", True, attempts)
    assert failure.error == "tickets: busy 7"
    assert len(waits) == 6
    assert build_here(analyzer=PAID)["tickets"].error is None
    assert load_state(Layout.of(settings), "tickets").failure is None


@pytest.mark.parametrize("error", [ModelError("the key is wrong"), RuntimeError("a defect")])
def test_what_will_not_pass_is_tried_once(
    tickets: Path, build_here: Build, waits: list[float], refusals: list[Exception], error: Exception
) -> None:
    refusals += [error, error]
    result = build_here(analyzer=PAID)["tickets"]
    assert str(error) in (result.error or "")
    assert not result.transient
    assert (len(refusals), waits) == (1, [])


@pytest.mark.slow("builds a whole knowledge base")
def test_a_damaged_file_is_a_passing_failure_because_the_next_try_makes_it_anew(
    tickets: Path, build_here: Build, settings: Settings
) -> None:
    build_here()
    torn(settings)["embeddings"].write_bytes(b"torn")
    lose(Workspace(settings).index)
    result = build_here(layers=("search_index",))["tickets"]
    assert (result.failed_layer, result.transient) == ("search_index", True)
    assert "is damaged; materialize chunk_embeddings again" in (result.error or "")
    result = build_here()["tickets"]
    assert (result.error, report(result, "chunk_embeddings")["newly_embedded"]) == (None, 5)


def test_a_folder_that_vanished_is_a_passing_failure_because_it_may_come_back_as_it_was(
    tickets: Path, settings: Settings
) -> None:
    shutil.rmtree(tickets)
    result = build_article(settings, "tickets", LAYER_NAMES, Run("run-1", "2026-01-01T00:00:00+00:00"))
    assert "was the article deleted or renamed?" in (result.error or "")
    assert result.transient


@pytest.mark.slow("builds a whole knowledge base")
def test_the_signature_of_the_last_attempt_is_remembered_good_or_bad(
    tickets: Path, build_here: Build, settings: Settings
) -> None:
    for html in (HTML, "", EDITED):
        (tickets / "index.html").write_text(html)
        signature = Workspace(settings).staging.signature("tickets")
        assert build_here()["tickets"].signature == signature
        assert load_state(Layout.of(settings), "tickets").signature == signature


def test_a_conversion_that_was_paid_for_is_kept_when_the_layer_gets_another_version(
    settings: Settings, article: Article, monkeypatch: pytest.MonkeyPatch
) -> None:
    article("tickets", "<h1>Tickets</h1><p>How to open one.</p>")
    calls: list[str] = []
    convert = LocalAnalyzer.convert

    def counted(self: LocalAnalyzer, article_id: str, html: bytes, images: Mapping[str, ImageInfo]) -> ConvertedArticle:
        calls.append(article_id)
        return convert(self, article_id, html, images)

    monkeypatch.setattr(LocalAnalyzer, "convert_pool", "converter")
    monkeypatch.setattr(LocalAnalyzer, "convert", counted)
    for version in ("1", "2"):  # a new check raises it
        monkeypatch.setattr(ConvertedMarkdownLayer, "version", version)
        result = build_article(settings, "tickets", LAYER_NAMES, Run(f"run-{version}", "2026-01-01T00:00:00+00:00"))
        assert result.error is None
        assert not next(layer for layer in result.layers if layer.name == "converted_markdown").reused
    assert calls == ["tickets"]
