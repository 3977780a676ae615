"""Documents on their way from staging to their readers."""

import json
from pathlib import Path

import pytest

from kb_pipeline.flow.layers.serving_article import load_manifest
from kb_pipeline.flow.stale import stale_articles
from kb_pipeline.flow.workspace import Workspace
from kb_pipeline.search.base import SearchFilter
from kb_pipeline.settings import Settings
from kb_pipeline.sources.docx.source import DocxSource
from kb_pipeline.upkeep.estimate import estimate
from kb_pipeline.upkeep.verify import verify
from kb_pipeline_tests.conftest import Article, Build
from kb_pipeline_tests.pictures import screenshot
from kb_pipeline_tests.sources.letters import mail
from kb_pipeline_tests.sources.pdfs import Sheet, Text, pdf
from kb_pipeline_tests.sources.word import document, paragraph, picture

GUIDE = document(
    paragraph("Refunds", "Heading 1"),
    paragraph("Open the order and press Refund."),
    picture("rId1", "The refund dialog"),
    media={"shot.png": screenshot("Refund this order?")},
)


@pytest.fixture
def staging(settings: Settings) -> Path:
    return Path(settings.staging)


def stage(folder: Path, files: dict[str, bytes]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        (folder / name).write_bytes(data)


def serving(settings: Settings, article_id: str) -> Path:
    return Path(str(Workspace(settings).layout.serving_root)) / article_id


def test_a_word_document_is_an_article(settings: Settings, staging: Path, build_here: Build) -> None:
    stage(staging / "guide", {"Refund guide.docx": GUIDE})
    assert build_here(analyzer="local")["guide"].error is None
    text = (serving(settings, "guide") / "article.md").read_text()
    assert text.startswith("# Refunds\n\nOpen the order and press Refund.\n\n> **[Image: image1](images/image1.png)**")
    assert "Refund this order" in text
    manifest = load_manifest(Workspace(settings).layout.serving_root / "guide")
    assert manifest.images[0].source_file == "Refund guide.docx/image1.png"
    assert manifest.provenance.source_file == "Refund guide.docx"
    assert manifest.provenance.converter.startswith(f"{DocxSource.version}, local-")
    assert (serving(settings, "guide") / "images" / "image1.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow("builds a whole knowledge base")
def test_a_markdown_file_is_an_article_with_the_images_of_its_folder(
    settings: Settings, staging: Path, build: Build
) -> None:
    text = b"---\ntitle: Questions\n---\n# Refunds\n\nPress Refund.\n\n![The dialog](shot.png)\n"
    stage(staging / "faq", {"faq.md": text, "shot.png": screenshot("Refund this order?")})
    assert build()["faq"].error is None
    assert load_manifest(Workspace(settings).layout.serving_root / "faq").title == "Questions"
    assert "images/shot.png" in (serving(settings, "faq") / "article.md").read_text()


@pytest.mark.slow("builds a whole knowledge base")
def test_a_loose_picture_is_an_article_of_what_it_shows(settings: Settings, staging: Path, build_here: Build) -> None:
    stage(staging, {"Refund menu.png": screenshot("Refund this order?")})
    assert build_here(analyzer="local")["Refund menu.png"].error is None
    text = (serving(settings, "Refund menu.png") / "article.md").read_text()
    assert "images/Refund-menu.png" in text or "images/Refund%20menu.png" in text
    assert "Refund this order" in text


@pytest.mark.slow("builds a whole knowledge base")
def test_a_page_as_a_browser_saves_it_is_an_article_with_its_pictures(
    settings: Settings, staging: Path, build_here: Build
) -> None:
    page = b"""<!-- saved from url=(0028)https://example.org/refunds -->
    <title>Refunds</title><link rel="stylesheet" href="./Refund%20guide_files/site.css">
    <main><h1>Refunds</h1><p>Press Refund.</p><img src="./Refund%20guide_files/shot.png" alt="The dialog">
    <p>See <a href="Returns.html">returns</a>.</main>"""
    stage(staging, {"Refund guide.html": page, "Returns.html": b"<h1>Returns</h1><p>Pack it."})
    stage(
        staging / "Refund guide_files", {"shot.png": screenshot("Refund this order?"), "saved_resource.html": b"<p>ad"}
    )
    ids = Workspace(settings).staging.list_articles().article_ids
    results = build_here(*ids, analyzer="local")
    assert {name: result.error for name, result in results.items()} == {"Refund guide.html": None, "Returns.html": None}
    served = serving(settings, "Refund guide.html")
    assert "# Refunds\n\nPress Refund.\n\n> **[Image: shot](images/shot.png)**" in (served / "article.md").read_text()
    assert load_manifest(Workspace(settings).layout.serving_root / "Refund guide.html").title == "Refunds"
    assert stale_articles(Workspace(settings)) == []
    stage(staging / "Refund guide_files", {"late.png": b"x"})
    again = build_here(*ids, analyzer="local")
    assert all(layer.reused for result in again.values() for layer in result.layers)


@pytest.mark.slow("builds a whole knowledge base")
def test_a_mail_with_masked_addresses_is_not_offered_itself(
    settings: Settings, staging: Path, build_here: Build
) -> None:
    letter = mail("Press Refund.", subject="Refunds", headers={"From": "Ann <ann@example.com>"})
    stage(staging / "letter", {"letter.eml": letter})
    build_here()
    served = serving(settings, "letter")
    assert (served / "document" / "letter.eml").read_bytes() == letter
    build_here(mask_addresses=True)
    assert load_manifest(Workspace(settings).layout.serving_root / "letter").document is None
    assert not any(b"ann@" in file.read_bytes() for file in served.rglob("*") if file.is_file())


def test_an_unchanged_document_is_not_made_again(settings: Settings, staging: Path, build: Build) -> None:
    stage(staging / "guide", {"guide.docx": GUIDE})
    build()
    assert stale_articles(Workspace(settings)) == []
    assert all(layer.reused for layer in build()["guide"].layers)


@pytest.mark.slow("builds a whole knowledge base")
def test_another_version_of_its_source_makes_a_document_again_but_no_page(
    settings: Settings, staging: Path, article: Article, build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage(staging / "guide", {"guide.docx": GUIDE})
    article("page", "<h1>Page</h1><p>Text.</p>")
    build()
    monkeypatch.setattr(DocxSource, "version", "docx-99")
    assert [(stale.article_id, stale.layer) for stale in stale_articles(Workspace(settings))] == [
        ("guide", "converted_markdown")
    ]


def test_a_damaged_image_inside_is_taken_out_again(settings: Settings, staging: Path, build: Build) -> None:
    stage(staging / "guide", {"guide.docx": GUIDE})
    build()
    taken_out = Path(str(Workspace(settings).layout.converted("guide"))) / "images" / "image1.png"
    taken_out.write_bytes(b"damaged")
    made = {layer.name: layer.reused for layer in build()["guide"].layers}
    assert not made["converted_markdown"]
    assert taken_out.read_bytes() == screenshot("Refund this order?")


def test_a_document_can_be_verified(settings: Settings, staging: Path, build: Build) -> None:
    stage(staging / "guide", {"guide.docx": GUIDE})
    build()
    verification = verify(Workspace(settings), "guide")
    assert (verification.problems, verification.skipped) == ((), "")


def test_images_inside_documents_are_estimated(settings: Settings, staging: Path) -> None:
    stage(staging / "guide", {"guide.docx": GUIDE})
    found = estimate(Workspace(settings), None)
    assert (found.articles, found.images, found.unreadable) == (1, 1, ())
    assert found.tokens > 0


def test_a_broken_document_fails_alone(settings: Settings, staging: Path, article: Article, build: Build) -> None:
    stage(staging / "broken", {"guide.docx": GUIDE[:-30]})
    article("page", "<h1>Page</h1><p>Text.</p>")
    results = build()
    assert results["page"].error is None
    assert "guide.docx is damaged or no Office document" in str(results["broken"].error)


PUMP = ("The pump", "It is switched on with the green key on its left side.")


@pytest.mark.slow("builds a whole knowledge base")
@pytest.mark.parametrize("other", ["copy.pdf", "pump.docx"])
def test_the_same_text_in_two_files_is_published_twice_and_found_once(
    settings: Settings, staging: Path, build: Build, other: str
) -> None:
    as_pdf = pdf(Sheet([Text(PUMP[0], y=700, size=20), Text(PUMP[1], y=670)]))
    as_docx = document(paragraph(PUMP[0], "Heading 1"), paragraph(PUMP[1]))
    stage(staging, {"pump.pdf": as_pdf, other: as_pdf if other.endswith(".pdf") else as_docx})
    assert {name: result.error for name, result in build().items()} == {"pump.pdf": None, other: None}
    assert serving(settings, "pump.pdf").exists()
    assert serving(settings, other).exists()
    reader = Workspace(settings).reader()
    assert len(reader.search("How is the pump switched on?")) == 1
    for article_id in ("pump.pdf", other):
        (hit,) = reader.search("How is the pump switched on?", filters=SearchFilter(article_ids=(article_id,)))
        assert hit.chunk.article_id == article_id


def test_of_several_documents_the_metadata_says_which_is_the_article(
    settings: Settings, staging: Path, build: Build
) -> None:
    stage(staging / "guide", {"a.md": b"# A\n\nText.", "b.md": b"# B\n\nText."})
    assert "2 documents could be the article" in str(build()["guide"].error)
    stage(staging / "guide", {"metadata.json": json.dumps({"main": "b.md"}).encode()})
    assert build()["guide"].error is None
    assert (serving(settings, "guide") / "article.md").read_text().startswith("# B")


def test_a_folder_with_an_old_format_is_refused_with_advice(settings: Settings, staging: Path) -> None:
    stage(staging / "old", {"manual.doc": b"x"})
    assert Workspace(settings).staging.scan().refused == {
        "old": f"old: manual.doc is an old Word document; save it as .docx ({staging / 'old'})"
    }
