"""Keyword search finds sections in the forms of their language; tables of version 1.0 are stemmed."""

from functools import partial
from pathlib import Path

import pyarrow as pa
import pytest
from lancedb.index import FTS

from kb_pipeline.records import DocumentEntry
from kb_pipeline.search.base import IndexEntry
from kb_pipeline.search.lance.catalog import LanceDBCatalog
from kb_pipeline.search.lance.index import LanceDBIndex
from kb_pipeline.search.lance.query import KEYWORD_WEIGHT, STEMS_WEIGHT, VECTOR_WEIGHT
from kb_pipeline.search.lance.table import STEMS, table_schema, to_rows
from kb_pipeline.steps.late_interaction import PACKING
from kb_pipeline_tests.contracts.search_contract import Opener
from kb_pipeline_tests.contracts.search_samples import article, embed, generation, with_words, words_of

GERMAN = (
    "Sie duplizieren eine Ebene, indem Sie im Menü den Eintrag wählen. Die neue Ebene liegt dann über der alten, hat "
    "denselben Inhalt, denselben Modus und dieselbe Deckkraft. Danach wird sie wie jede andere Ebene bearbeitet."
)
ENGLISH = (
    "You duplicate a layer when you choose the entry of the menu. The new layer then lies above the old one, has the "
    "same content, the same mode and the same opacity. After that it is edited like any other layer of the image."
)
ARTICLES = article("german", GERMAN) | article("english", ENGLISH)


@pytest.fixture
def opened(tmp_path: Path) -> Opener:
    catalog = LanceDBCatalog(str(tmp_path / "index"))
    return partial(lambda **fields: catalog.open(generation(**fields)))


def found(index: LanceDBIndex, question: str) -> list[str]:
    return [hit.chunk.article_id for hit in index.search(question, mode="keyword")]


QUESTIONS = pytest.mark.parametrize(
    ("question", "articles"),
    [
        ("duplizierte Ebenen", ["german"]),
        ("duplicated layers", ["english"]),
        ("wie und mit der", []),
        ("Menü", ["german", "english"]),
    ],
)


@QUESTIONS
def test_sections_are_found_in_the_forms_of_their_language(opened: Opener, question: str, articles: list[str]) -> None:
    index = opened()
    index.publish(ARTICLES)
    assert sorted(found(index, question)) == sorted(articles)
    index.optimise()
    assert sorted(found(index, question)) == sorted(articles)


@QUESTIONS
def test_a_table_of_version_1_0_is_stemmed_when_it_is_written_next(
    opened: Opener, question: str, articles: list[str]
) -> None:
    index = opened()
    as_before(index, ARTICLES)
    assert found(index, "duplizierte Ebenen") == []
    index.publish(article("new", "brand new"))
    assert sorted(found(index, question)) == sorted(articles)
    assert index.mismatched([entry for entries in ARTICLES.values() for entry in entries]) == set()


def as_before(index: LanceDBIndex, articles: dict[str, list[IndexEntry]]) -> None:
    """Publish to a table of version 1.0, which knew no stems."""
    whole = table_schema(generation())
    schema = pa.schema([field for field in whole if field.name != STEMS], metadata=whole.metadata)
    rows = to_rows([entry for entries in articles.values() for entry in entries], schema, index.embedding_model)
    table = index._database.connection.create_table(index._store.name, rows, schema=schema)
    for column in ("search_text", "search_text_beside"):
        table.create_index(column, config=FTS(stem=True, remove_stop_words=True, ascii_folding=True))


@pytest.mark.parametrize(("declared", "articles"), [("de-AT", ["short"]), ("en", []), ("", [])])
def test_of_a_short_article_its_author_tells_the_language_and_else_it_is_english(
    opened: Opener, declared: str, articles: list[str]
) -> None:
    index = opened()
    document = DocumentEntry(filename="kurz.html", language=declared)
    (section,) = article("short", "Ebenen duplizieren")["short"]
    (row,) = article("short", "about it", block_type="document", document=document)["short"]
    row = IndexEntry(row.chunk.model_copy(update={"id": f"{row.chunk.id}-row"}), row.passages)
    index.publish({"short": [section, row]})
    assert found(index, "Ebenen") == ["short"]
    assert found(index, "Ebene") == articles


def test_a_probe_searches_the_stems(opened: Opener) -> None:
    index = opened()
    index.publish(ARTICLES)
    index.probe()
    index.optimise()
    index.inspect()


@pytest.mark.parametrize(
    ("question", "weight"),
    [("Wie dupliziere ich die Ebenen?", STEMS_WEIGHT), ("What does the Menü do to a layer?", KEYWORD_WEIGHT)],
)
def test_words_count_for_more_if_the_question_is_not_in_english_either(
    opened: Opener, question: str, weight: float
) -> None:
    index = opened(word_vectors=PACKING)
    index.publish(with_words(article("german", GERMAN)))
    (hit,) = index.search(question, embed(question), word_vectors=words_of(question))
    assert hit.word_score is not None
    assert hit.vector_score is not None
    assert hit.score - hit.word_score - VECTOR_WEIGHT * hit.vector_score == pytest.approx(weight)
