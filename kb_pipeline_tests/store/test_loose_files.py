"""Documents and pages that lie in the staging folder itself are articles, wherever the folder is."""

from pathlib import Path

import pytest
from upath import UPath

from kb_pipeline.errors import StorageError, UnreadableArticleError
from kb_pipeline.steps.fingerprint import sha256
from kb_pipeline.store.staging import Staging

ID = "Report 2026.docx"
SIDECAR = f"{ID}.metadata.json"


@pytest.mark.slow("builds a whole knowledge base")
def test_a_loose_document_is_an_article_with_its_whole_name_as_its_id(any_root: UPath) -> None:
    (any_root / ID).write_bytes(b"text")
    (any_root / SIDECAR).write_text('{"access_control_list": ["hr"]}')
    staging = Staging(any_root)
    assert staging.list_articles().article_ids == (ID, "good")
    found = staging.inventory(ID)
    assert found.main == ID
    assert [(file.name, file.size) for file in found.files] == [(ID, 4), ("metadata.json", 31)]
    for file in found.files:
        assert sha256(staging.read(ID, file.name, file.sha256)) == file.sha256
    assert staging.metadata(ID) == b'{"access_control_list": ["hr"]}'
    assert staging.path(ID, "metadata.json") == any_root / SIDECAR
    with pytest.raises(StorageError, match=r"Report 2026\.docx was changed while"):
        staging.read(ID, ID, sha256(b"something else"))


def test_its_signature_covers_its_metadata_and_nothing_beside_it(any_root: UPath) -> None:
    staging = Staging(any_root)
    (any_root / ID).write_bytes(b"text")
    first = staging.scan().signatures[ID]
    assert staging.signature(ID) == first
    (any_root / "Report 2026.docx.bak").write_bytes(b"x")
    assert staging.signature(ID) == staging.scan().signatures[ID] == first
    (any_root / SIDECAR).write_text("{}")
    assert staging.signature(ID) == staging.scan().signatures[ID] != first


def test_one_that_is_gone_says_so(any_root: UPath) -> None:
    staging = Staging(any_root)
    assert staging.signature(ID) == ""
    assert staging.metadata(ID) is None
    with pytest.raises(UnreadableArticleError, match=r"there is no file .*Report 2026\.docx; was the article deleted"):
        staging.inventory(ID)


@pytest.mark.parametrize(
    "name", ["Report 2026.metadata.json", "Report 2026.docx.Metadata.json", "Report 2026_metdata.json", "metadata.json"]
)
def test_metadata_under_another_name_hides_it(any_root: UPath, name: str) -> None:
    (any_root / ID).write_bytes(b"text")
    before = Staging(any_root).signature(ID)
    (any_root / name).write_text('{"access_control_list": ["hr"]}')
    staging = Staging(any_root)
    assert staging.signature(ID) == staging.scan().signatures[ID] != before
    for look in (staging.inventory, staging.metadata):
        with pytest.raises(UnreadableArticleError, match=f"is not spelt {SIDECAR}; it may restrict"):
            look(ID)
    assert staging.metadata("good") == b"{}"


def test_a_neighbour_with_a_similar_name_is_another_article(any_root: UPath) -> None:
    for name in ("report.docx", "report.md", "report.md.metadata.json", "report-2.md", "report-2.md.metadata.json"):
        (any_root / name).write_bytes(b"{}")
    staging = Staging(any_root)
    assert staging.list_articles().article_ids == ("good", "report-2.md", "report.docx", "report.md")
    assert [file.name for file in staging.inventory("report.docx").files] == ["report.docx"]
    assert [file.name for file in staging.inventory("report.md").files] == ["metadata.json", "report.md"]


def test_a_format_that_is_not_read_is_refused(any_root: UPath) -> None:
    for name in ("prices.numbers", "old.doc", "README.md", "~$guide.docx", ".hidden.docx", "a.docx~"):
        (any_root / name).write_bytes(b"x")
    listing, scan = Staging(any_root).list_articles(), Staging(any_root).scan()
    assert listing.article_ids == ("good",)
    assert (
        listing.refused
        == scan.refused
        == {
            "prices.numbers": ("prices.numbers is a Numbers spreadsheet; export it as .xlsx"),
            "old.doc": "old.doc is an old Word document; save it as .docx",
        }
    )
    assert scan.newest.keys() == {"good", "prices.numbers", "old.doc"}


def test_an_impossible_name_is_refused(any_root: UPath) -> None:
    (any_root / "a...b.docx").write_bytes(b"x")
    assert Staging(any_root).list_articles().refused["a...b.docx"].endswith("to Dagster; rename the file")


def test_a_folder_with_the_name_of_a_document_is_a_folder(any_root: UPath) -> None:
    (any_root / "guide.docx").mkdir()
    (any_root / "guide.docx" / "index.html").write_text("<p>text</p>")
    staging = Staging(any_root)
    assert staging.list_articles().article_ids == ("good", "guide.docx")
    assert staging.inventory("guide.docx").main == "index.html"
    assert staging.signature("guide.docx") == staging.scan().signatures["guide.docx"]


def test_links_out_of_staging_are_neither_listed_nor_read(root: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.docx").write_bytes(b"secret")
    (root / ID).symlink_to(tmp_path / "secret.docx")
    (root / "loop.docx").symlink_to(root / "loop.docx")
    staging = Staging(UPath(root))
    assert staging.list_articles().article_ids == ("good",)
    with pytest.raises(UnreadableArticleError):
        staging.inventory(ID)


PAGE = b"""<h1>Tour</h1><img src="shots/a%20b.png"><img srcset="&Uuml;ber.PNG 2x"><p style="background: url(back.svg)">
<img src="../../secret.png"><img src="tour_files/frame.png"><a href="good/index.html">Good</a>"""
USED = ("back.svg", "shots/a b.png", "tour_files/frame.png", "u\u0308ber.png")  # written otherwise on the page


def put(root: UPath, name: str, data: bytes = b"x") -> None:
    if isinstance(root, Path):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / name).write_bytes(data)


@pytest.mark.slow("lists object stores many times")
def test_a_loose_page_comes_with_what_it_names_beside_it(any_root: UPath) -> None:
    put(any_root, "tour.html", PAGE)
    put(any_root, "tour.html.metadata.json", b"{}")
    for name in (*USED, "other.png", "shots/c.png", "site.css", "tour_files/index.html", "good/frame.png"):
        put(any_root, name)
    staging = Staging(any_root)
    listing, scan = staging.list_articles(look_inside=True), staging.scan()
    assert (listing.article_ids, listing.refused) == (("good", "tour.html"), {})
    assert (scan.signatures.keys(), scan.refused) == ({"good", "tour.html"}, {})
    found = staging.inventory("tour.html")
    assert found.main == "tour.html"
    assert [file.name for file in found.files] == sorted((*USED, "metadata.json", "tour.html"))
    assert staging.path("tour.html", "shots/a b.png") == any_root / "shots" / "a b.png"
    first = staging.signature("tour.html")
    assert first == scan.signatures["tour.html"]
    put(any_root, "shots/d.png")
    assert staging.signature("tour.html") == staging.scan().signatures["tour.html"] != first
    assert staging.signature("good") == scan.signatures["good"]


def test_a_page_and_a_folder_of_its_name_are_two_articles(root: Path) -> None:
    for name in ("tour.html", "tour/index.html", "tour.htm", "index.html"):
        put(UPath(root), name, b"<p>text</p>")
    staging = Staging(UPath(root))
    assert staging.list_articles().article_ids == ("good", "index.html", "tour", "tour.htm", "tour.html")
    assert staging.inventory("index.html").main == "index.html"
    assert staging.inventory("tour").main == "index.html"


def test_a_folder_that_may_hold_text_is_no_part_of_pages_beside_it(root: Path) -> None:
    put(UPath(root), "tour.html", b'<img src="more/a.png">')
    for name in ("more/a.png", "more/deep/chapter.html", "old/manual.doc", "_shots/b.png", ".git/c.png"):
        put(UPath(root), name)
    (root / "tour_files").symlink_to(root.parent)
    staging = Staging(UPath(root))
    assert staging.scan().refused.keys() == {"more", "old", "tour_files"}
    assert [part.name for part in staging.scan().parts] == ["_shots/b.png"]
    assert [file.name for file in staging.inventory("tour.html").files] == ["tour.html"]


def test_without_pages_a_folder_of_pictures_is_named(root: Path) -> None:
    put(UPath(root), "shots/a.png")
    assert "there is no index.html" in Staging(UPath(root)).scan().refused["shots"]


def test_a_page_that_leads_out_of_staging_is_not_read(root: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.html").write_text("secret")
    (root / "tour.html").symlink_to(tmp_path / "secret.html")
    staging = Staging(UPath(root))
    assert staging.list_articles().article_ids == ("good",)
    with pytest.raises(UnreadableArticleError):
        staging.inventory("tour.html")
