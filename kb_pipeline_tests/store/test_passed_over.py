"""Nothing that lies in staging is passed over in silence, but for what every folder collects."""

from pathlib import Path

import pytest
from upath import UPath

from kb_pipeline.store.passed_over import pages_beside
from kb_pipeline.store.staging import Staging

OTHERS = [
    ("server.log", "rename it to .txt"),
    ("prices.sqlite", "put what readers ask for into a document"),
    ("inbox.mbox", "export those that readers ask for as .eml"),
    ("export.json", "put what readers ask for into a document"),
    ("export.zip", "unpack it"),
    ("saved.mht", "save it with its pictures"),
    ("drawing.svg", "put it into the folder of the article"),
    ("site.css", "put it into the folder of that page"),
    ("talk.mp4", "stage what is said in it"),
    ("guide.tex", "build the page"),
    ("unknown.xyz", "save it as .md"),
    ("Makefile", "save it as .md"),
    ("gone.docx.metadata.json", "describes no article"),
    ("metadata.json", "describes no article"),
]
JUNK = [
    *(".DS_Store", "Thumbs.db", "desktop.ini", "~$guide.docx", "guide.docx~", "guide.docx.bak", "#guide.md#"),
    *(".~lock.guide.docx#", ".guide.md.swp", "~WRL0001.tmp", "guide.pdf.crdownload"),
    *("README.md", "readme.txt", "LICENSE", "LICENSE.txt", "COPYING.txt", ".gitignore"),
]
JUNK_FOLDERS = [".git", ".idea", "__MACOSX", "$RECYCLE.BIN", "System Volume Information", "lost+found"]


@pytest.mark.parametrize(("name", "what_to_do"), OTHERS)
def test_a_file_that_is_no_article_is_named_with_what_to_do(any_root: UPath, name: str, what_to_do: str) -> None:
    (any_root / name).write_bytes(b"x")
    listing, scan = Staging(any_root).list_articles(), Staging(any_root).scan()
    assert listing.article_ids == ("good",)
    assert listing.refused == scan.refused
    assert listing.refused[name].startswith(f"{name} ")
    assert what_to_do in listing.refused[name]
    assert scan.newest.keys() == {"good", name}


def test_what_every_folder_collects_is_not_named(root: Path) -> None:
    for name in JUNK:
        (root / name).write_bytes(b"x")
    for name in JUNK_FOLDERS:
        (root / name).mkdir()
        (root / name / "file").write_bytes(b"x")
    staging = Staging(UPath(root))
    assert staging.list_articles(look_inside=True).refused == staging.scan().refused == {}


def test_the_metadata_of_a_loose_article_is_its_own(root: Path) -> None:
    (root / "guide.docx").write_bytes(b"x")
    (root / "guide.docx.metadata.json").write_text("{}")
    assert Staging(UPath(root)).list_articles().refused == {}


def test_many_files_of_a_kind_are_said_once(root: Path) -> None:
    for number in range(30):
        (root / f"server {number:02}.log").write_bytes(b"x")
    refused = Staging(UPath(root)).list_articles().refused
    assert [reason.partition(" is ")[2] for reason in refused.values()] == [
        "a log; if people ask for what it says, rename it to .txt (so are 29 others beside it)"
    ]


@pytest.mark.parametrize("name", ["notes.txt", "screen.PNG", "License server.txt", "license key.png"])
def test_a_text_or_a_picture_is_an_article_but_beside_pages_a_part_of_one(root: Path, name: str) -> None:
    (root / name).write_bytes(b"x")
    staging = Staging(UPath(root))
    assert staging.list_articles().article_ids == tuple(sorted(("good", name)))
    assert staging.inventory(name).main == name
    (root / "page.html").write_bytes(b"x")
    listing = staging.list_articles()
    assert listing.article_ids == ("good", "page.html")
    assert ["the folder of" in reason for reason in listing.refused.values()] == [True] * name.endswith(".txt")


def test_pages_beside_the_page_of_an_article_are_named(any_root: UPath) -> None:
    folder = any_root / "good"
    for name in ("Restart-the-ledger_123.html", "Stop_124.htm"):
        (folder / name).write_text("<p>words")
    staging = Staging(any_root)
    scan = staging.scan()
    assert scan.signatures.keys() == {"good"}, "the article itself is one"
    assert staging.list_articles(look_inside=True).refused == scan.refused
    reason = next(iter(scan.refused.values()))
    assert reason.startswith(
        "good: index.html is the article, and 2 pages beside it are not read ('Restart-the-ledger_"
    )
    assert scan.refused.keys() | {"good"} == scan.newest.keys()


@pytest.mark.parametrize(
    ("names", "main"),
    [
        ({"index.html", "shot.png", "site.css", "manual.pdf", "notes.txt"}, "index.html"),
        ({"index.html", "index_files/frame.html"}, "index.html"),
        ({"guide.docx"}, "guide.docx"),
    ],
)
def test_what_an_article_refers_to_is_not_passed_over(names: set[str], main: str) -> None:
    assert pages_beside(names, main) == ""
