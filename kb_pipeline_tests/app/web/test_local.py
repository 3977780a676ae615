"""The stand-in for the web: saved pages, without any network."""

import asyncio
import os
from pathlib import Path

import pytest

from app.settings import AppSettings
from app.web.local import LocalPages
from kb_pipeline.errors import SettingsError, WebError

SAMPLES = Path(__file__).parents[3] / "samples/web"


def saved(folder: Path, name: str, body: str, head: str = "") -> Path:
    path = folder / f"{name}.html"
    url = head or f'<link rel="canonical" href="https://docs.example.com/{name}">'
    path.write_text(f"<html><head><title>{name}</title>{url}</head><body><main>{body}</main></body></html>")
    return path


def local(folder: Path) -> LocalPages:
    return LocalPages(AppSettings(web_search="local", web_folder=str(folder)))


def test_the_sample_pages_answer() -> None:
    pages = local(SAMPLES)
    found = asyncio.run(pages.search("How do I connect it to Splunk?"))
    page = asyncio.run(pages.fetch(found[0].url))
    assert found[0].title == page.title == "Send events to Splunk with the HTTP Event Collector"
    assert "services/collector/event" in page.text
    assert "Careers" not in page.text
    assert asyncio.run(pages.check()) == "4 saved pages"


def test_the_page_with_the_words_comes_first_and_a_title_counts_more(tmp_path: Path) -> None:
    saved(tmp_path, "toner", "<h1>Toner</h1><p>Paper and ink.</p>")
    saved(tmp_path, "paper", "<h1>Paper</h1><p>Ink.</p>")
    saved(tmp_path, "other", "<h1>Nothing</h1><p>Of that.</p>")
    found = asyncio.run(local(tmp_path).search("paper"))
    assert [result.url.rpartition("/")[2] for result in found] == ["paper", "toner"]
    assert asyncio.run(local(tmp_path).search("bananas")) == []
    assert len(asyncio.run(local(tmp_path).search("paper ink", 1))) == 1


def test_a_changed_folder_is_read_again(tmp_path: Path) -> None:
    pages = local(tmp_path)
    assert asyncio.run(pages.search("paper")) == []
    path = saved(tmp_path, "paper", "<h1>Paper</h1><p>Ink.</p>")
    assert len(asyncio.run(pages.search("paper"))) == 1
    path.unlink()
    assert asyncio.run(pages.search("paper")) == []


def test_addresses_as_browsers_save_them_are_known(tmp_path: Path) -> None:
    saved(tmp_path, "one", "<p>paper</p>", "<!-- saved from url=(0025)https://a.example/one#top -->")
    saved(tmp_path, "two", "<p>paper</p>", '<meta property="og:url" content="https://a.example/two">')
    found = asyncio.run(local(tmp_path).search("paper"))
    assert {result.url for result in found} == {"https://a.example/one", "https://a.example/two"}


def test_a_file_without_an_address_or_text_is_left_out_and_counted(tmp_path: Path) -> None:
    saved(tmp_path, "one", "<p>paper</p>", "<!-- -->")
    (tmp_path / "empty.html").write_text("")
    (tmp_path / "picture.html").write_bytes(b"\x89PNG paper")
    (tmp_path / "notes.txt").write_text("paper")
    assert asyncio.run(local(tmp_path).search("paper")) == []
    assert asyncio.run(local(tmp_path).check()) == "0 saved pages, 3 files without an address"


def test_the_time_of_a_page_is_when_it_was_saved(tmp_path: Path) -> None:
    os.utime(saved(tmp_path, "paper", "<p>paper</p>"), (1_700_000_000, 1_700_000_000))
    page = asyncio.run(local(tmp_path).fetch("https://docs.example.com/paper#part"))
    assert page.fetched_at == "2023-11-14T22:13:20+00:00"
    assert page.url == "https://docs.example.com/paper"


def test_only_saved_pages_can_be_fetched(tmp_path: Path) -> None:
    for url in ("https://learn.microsoft.com/", "file:///etc/passwd", "../secret"):
        with pytest.raises(WebError, match="not among the saved ones"):
            asyncio.run(local(tmp_path).fetch(url))


def test_the_folder_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="KB_WEB_FOLDER"):
        local(tmp_path / "nothing")
