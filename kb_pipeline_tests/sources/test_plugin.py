"""Formats that somebody else's source reads."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from upath import UPath

from kb_pipeline.errors import SettingsError
from kb_pipeline.sources import source_of, use_sources
from kb_pipeline.steps.formats import media_type_of, part_of
from kb_pipeline.steps.main_file import format_of, main_file, why_not_read
from kb_pipeline.store.staging import Staging

BOOKS = """
from kb_pipeline.sources import Source, SourceDocument
class Books(Source):
    version, endings = "books-1", (".mobi",)
    media_types, part = {".mobi": "application/x-mobi"}, "chapter"
    def read(self, article_id, name, data):
        return SourceDocument(f"<p>{data.decode()}</p>")
class Mute(Books):
    endings = ()
class Pages(Books):
    endings = (".html",)
class Loud(Books):
    endings = (".MOBI",)
"""


@pytest.fixture(autouse=True)
def books(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    (tmp_path / "my_books.py").write_text(BOOKS)
    monkeypatch.syspath_prepend(tmp_path)
    yield
    use_sources(())
    source_of.cache_clear()
    sys.modules.pop("my_books", None)


def test_files_with_its_endings_are_documents(tmp_path: Path) -> None:
    assert why_not_read("a.mobi")
    use_sources(["my_books:Books"])
    assert format_of("A.MOBI") == "my_books:Books"
    assert main_file(["a.mobi", "cover.png"]) == "a.mobi"
    assert source_of(format_of("a.mobi")).read("a", "a.mobi", b"text").html == "<p>text</p>"
    (tmp_path / "staging").mkdir()
    (tmp_path / "staging" / "a.mobi").write_bytes(b"text")
    assert Staging(UPath(tmp_path / "staging")).list_articles().article_ids == ("a.mobi",)


def test_it_says_how_browsers_and_readers_take_them() -> None:
    use_sources(["my_books:Books"])
    assert (media_type_of("a.mobi"), part_of("a.mobi")) == ("application/x-mobi", "chapter")


def test_the_formats_of_other_settings_are_forgotten() -> None:
    use_sources(["my_books:Books"])
    use_sources(())
    assert format_of("a.mobi") == "html"


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("pdf", "write package.module:Class of your own"),
        ("no.such.module:Class", "cannot be imported"),
        ("my_books:Mute", "has no endings"),
        ("my_books:Pages", "whose ending '.html' is none"),
        ("my_books:Loud", "whose ending '.MOBI' is none"),
        ("kb_pipeline.errors:SettingsError", "is not a subclass of kb_pipeline.sources.base:Source"),
    ],
)
def test_what_is_no_source_is_refused_with_the_setting(name: str, problem: str) -> None:
    with pytest.raises(SettingsError, match=r"^KB_SOURCES ") as refused:
        use_sources([name])
    assert problem in str(refused.value)
