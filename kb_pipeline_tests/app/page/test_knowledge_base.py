"""The page of the knowledge base against the real service: articles, one of them, searches."""

from collections.abc import Callable
from datetime import date
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from app.client import Client, ClientError
from app.page import knowledge_base
from app.schema.articles import ArticleFailure, ArticleList, ArticleSummary, ArticleUse
from app.schema.gaps import KnowledgeGap
from app.schema.search import SearchResults
from app.schema.wire import Problem
from kb_pipeline_tests.app.page.conftest import ask_at, html

Browse = Callable[..., AppTest]


@pytest.fixture
def browse() -> Browse:
    """Open the page, at an address: ``browse(article="layers")``."""

    def script() -> None:
        from app.page import knowledge_base

        knowledge_base.show()

    def opened(**query: str) -> AppTest:
        page = AppTest.from_function(script, default_timeout=30)
        for name, value in query.items():
            page.query_params[name] = value
        return page.run()

    return opened


def test_all_articles_that_a_reader_may_see_are_listed(service: Client, browse: Browse) -> None:
    shown = html(browse())
    for words in ("3 articles", ">Layers</a>", ">Printing</a>", ">Toner</a>", "1 image"):
        assert words in shown
    assert "Salaries" not in shown


def test_an_author_sees_how_an_article_is_used_and_what_to_mend(
    service: Client, browse: Browse, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "Nobody has looked yet." in html(browse(article="layers"))
    gap = KnowledgeGap(
        question="Can layers <b>move</b>?", count=3, last_asked="2026-02-02T00:00:00Z", article_id="layers"
    )
    used = ArticleUse(made_at="2026-03-01T00:00:00Z", days=30, cited=12, gaps=(gap,))
    monkeypatch.setattr(Client, "article_use", lambda *_: used)
    shown = html(browse(article="layers"))
    assert "Cited in 12 answers of the last 30 days" in shown
    assert "Can layers &lt;b&gt;move&lt;/b&gt;?" in shown and "3×" in shown
    assert "No other article contradicts it, every picture has a text, and no section is too long." in shown


def test_the_list_is_filtered(service: Client, browse: Browse) -> None:
    page = browse()
    assert "1 article" in html(page.text_input(key="article-filter").set_value("print").run())
    assert "No article has this title or id" in html(page.text_input(key="article-filter").set_value("zzz").run())


@pytest.mark.parametrize(
    ("problem", "said", "command"),
    [
        ("there are no articles in the index yet; add some with: kb ingest", "There are no articles in", True),
        ("the index theirs is empty; another program fills it", "The index theirs is empty", False),
        (None, "Another program made the articles of the index", False),
    ],
)
def test_an_empty_list_says_whose_the_index_is(
    service: Client, browse: Browse, monkeypatch: pytest.MonkeyPatch, problem: str | None, said: str, command: bool
) -> None:
    health = service.health()
    index = health.index.model_copy(update={"problem": problem})
    monkeypatch.setattr(Client, "articles", lambda *_, **__: ArticleList(articles=(), total=0))
    monkeypatch.setattr(Client, "health", lambda _: health.model_copy(update={"index": index}))
    shown = html(browse())
    assert said in shown
    assert (">kb ingest<" in shown) == command


def test_an_article_is_shown_as_its_readers_see_it_with_its_chunks_and_its_origin(
    service: Client, browse: Browse
) -> None:
    shown = html(browse(article="layers"))
    article = service.article("layers")
    assert '<img src="/api/images/layers/images/crop.png"' in shown
    assert shown.count('class="kb-card"') == len(article.chunks)
    assert article.content_hash in shown
    assert f'href="{article.run_url}"' in shown


def test_an_article_is_opened_at_a_section_also_by_who_has_not_got_the_answer(service: Client, browse: Browse) -> None:
    section = service.article("layers").chunks[-1]
    shown = html(browse(article="layers", section=section.chunk_id, source="caresp_1.1"))
    assert "Ctrl+Z" in shown.partition('<section class="kb-cited"')[2]
    assert "<mark>" not in shown


def test_an_article_that_is_not_there_is_told_kindly(service: Client, browse: Browse) -> None:
    assert "This article was not found" in html(browse(article="secret"))
    assert "This article was not found" in html(browse(article="../secret"))


def test_a_search_shows_all_scores_and_the_passages(service: Client, browse: Browse) -> None:
    page = browse().text_input(key="search").set_value("crop a layer").run()
    table = page.dataframe[0].value
    assert list(table.columns) == ["#", "Article", "Section", "Hybrid", "Keyword", "Vector"]
    assert table["Article"][0] == "Layers"
    assert table["Hybrid"].is_monotonic_decreasing
    assert "Crop to Content" in html(page)


def test_who_gets_no_scores_sees_the_passages_alone(
    service: Client, browse: Browse, monkeypatch: pytest.MonkeyPatch
) -> None:
    search, no_scores = Client.search, {"score": None, "keyword_score": None, "vector_score": None}

    def without_scores(*given: Any, **more: Any) -> SearchResults:
        found = search(*given, **more)
        return found.model_copy(update={"results": tuple(hit.model_copy(update=no_scores) for hit in found.results)})

    monkeypatch.setattr(Client, "search", without_scores)
    page = browse().text_input(key="search").set_value("crop a layer").run()
    assert not page.exception and not page.dataframe
    assert "Crop to Content" in html(page) and "has a score" not in html(page)


def test_a_service_that_is_down_is_told_by_the_frame(browse: Browse, monkeypatch: pytest.MonkeyPatch) -> None:
    ask_at("http://127.0.0.1:9", monkeypatch)
    assert "the service does not answer" in browse().exception[0].message


# --- for authors ---------------------------------------------------------------------------------


def test_a_failing_article_says_above_its_last_good_version_why_and_what_to_do(
    service: Client, browse: Browse, monkeypatch: pytest.MonkeyPatch
) -> None:
    article = service.article("layers")
    failure = ArticleFailure(
        reason="1 image cannot be shown: <gone>", remedy="fix it in staging", failed_at="2026-02-02T00:00:00+00:00"
    )
    monkeypatch.setattr(Client, "article", lambda *_, **__: article.model_copy(update={"failure": failure}))
    shown = html(browse(article="layers"))
    above, _, below = shown.partition("It stands below.")
    assert "1 image cannot be shown: &lt;gone&gt;" in above
    assert "What to do: fix it in staging." in above
    assert "Crop to Content" in below


def test_of_an_article_that_was_never_published_its_reason_and_remedy_are_shown(
    service: Client, browse: Browse, monkeypatch: pytest.MonkeyPatch
) -> None:
    why = ArticleFailure(
        reason="an image is missing", remedy="fix it in staging", failed_at="2026-01-02T00:00:00+00:00"
    )
    without = {"markdown": "", "chunks": (), "images": (), "published_at": None, "failure": why}
    never = service.article("layers").model_copy(update=without)
    monkeypatch.setattr(Client, "article", lambda *_, **__: never)
    page = browse(article="layers")
    shown = html(page)
    assert "never published" in shown and "An image is missing." in shown and "fix it in staging" in shown
    assert "Readers see nothing of it until then." in shown
    assert {tab.label for tab in page.tabs} == set()


def test_what_a_picture_was_read_as_stands_beside_it_with_how_to_correct_it(service: Client, browse: Browse) -> None:
    _, _, beside = html(browse(article="layers")).partition("What the pictures were read as")
    assert "<header>crop.png</header>" in beside
    assert 'src="/api/images/layers/images/crop.png"' in beside
    assert "the crop menu." in beside
    assert "{&#34;images&#34;: {&#34;crop.png&#34;: " in beside


def test_the_list_is_filtered_by_status(service: Client, browse: Browse) -> None:
    page = browse()
    assert ">Layers</a>" in html(page.selectbox(key="article-status").set_value("published").run())
    assert "No article fails" in html(page.selectbox(key="article-status").set_value("failing").run())
    assert "No article is withheld" in html(page.selectbox(key="article-status").set_value("withheld").run())
    assert ">Layers</a>" in html(page.selectbox(key="article-status").set_value(None).run())


def test_a_status_that_cannot_be_told_can_be_undone(
    service: Client, browse: Browse, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed, problem = Client.articles, Problem(code="storage", message="cannot list the staging folder")

    def articles(client: Client, *given: Any, **limits: Any) -> ArticleList:
        if limits.get("status") == "waiting":
            raise ClientError(problem, 503)
        return listed(client, *given, **limits)

    monkeypatch.setattr(Client, "articles", articles)
    page = browse().selectbox(key="article-status").set_value("waiting").run()
    assert "Cannot list the staging folder." in html(page)
    assert ">Layers</a>" in html(page.selectbox(key="article-status").set_value(None).run())


def test_an_article_in_the_list_leads_to_its_text_or_to_why_there_is_none_and_says_what_to_do() -> None:
    def of(**facts: object) -> str:
        summary = ArticleSummary.model_validate({"article_id": "layers", "title": "Layers", **facts})
        return knowledge_base.articles_html(ArticleList(articles=(summary,), total=1))

    at = "2026-01-01T00:00:00+00:00"
    behind = of(state="behind", published_at=at, error="A link is broken", remedy="fix it in staging")
    assert ">Layers</a>" in behind and "What to do: fix it in staging." in behind
    assert ">Layers</a>" in of(state="waiting", published_at=at)
    assert ">Layers</a>" in of(state="failed"), "it says why"
    for hidden in ({"state": "waiting"}, {"state": "withheld", "published_at": at}):
        assert ">Layers</span>" in of(**hidden)


# --- facts of documents --------------------------------------------------------------------------


def test_facts_are_listed_and_limit_the_list(service: Client, browse: Browse, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[dict[str, object]] = []
    manual = ArticleSummary(
        article_id="press.pdf",
        title="Press",
        state="published",
        filename="press.pdf",
        document_type="Manual",
        department="<b>Works</b>",
        upload_date="2024-05-31",
        page_count=12,
    )

    def articles(_: Client, __: str = "", **limits: object) -> ArticleList:
        asked.append(limits)
        found = (manual,) if limits["document_type"] in ("", "Manual") else ()
        return ArticleList(articles=found, total=len(found), document_types=("Manual", "Report"))

    monkeypatch.setattr(Client, "articles", articles)
    page = browse()
    shown = html(page)
    for words in (">press.pdf<", ">Manual<", ">12 pages<", ">31 May 2024<", "&lt;b&gt;Works&lt;/b&gt;"):
        assert words in shown
    page = page.selectbox(key="article-type").set_value("Report").run()
    assert "No article meets these filters" in html(page)
    page = page.selectbox(key="article-type").set_value("").run()
    page = page.selectbox(key="article-order").set_value("Most pages").run()
    page.date_input(key="article-since").set_value(date(2024, 1, 1)).run()
    assert (asked[-1]["sort"], asked[-1]["descending"], asked[-1]["since"]) == ("pages", True, date(2024, 1, 1))


def test_a_list_without_facts_offers_only_days_and_orders(service: Client, browse: Browse) -> None:
    page = browse()
    assert [box.label for box in page.selectbox] == ["Status", "Sort by"]
    titles = html(page.selectbox(key="article-order").set_value("Newest").run())
    assert titles.index(">Layers</a>") < titles.index(">Toner</a>")
