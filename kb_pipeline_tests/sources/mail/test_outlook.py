"""Mails as Outlook saves them."""

import sys

import pytest

from kb_pipeline.errors import UnreadableArticleError
from kb_pipeline.sources import SourceDocument
from kb_pipeline.sources.mail.outlook import OutlookSource
from kb_pipeline_tests.pictures import screenshot
from kb_pipeline_tests.sources.letters import File, outlook_mail
from kb_pipeline_tests.sources.reading import markdown_of


def read(data: bytes) -> SourceDocument:
    return OutlookSource().read("guide", "guide.msg", data)


def test_a_mail_has_its_subject_and_text() -> None:
    found = read(outlook_mail("Größe", "Press Restart.\r\n\r\n- one"))
    assert found.title == "Größe"
    assert markdown_of(found) == "# Größe\n\nPress Restart.\n\n- one"


def test_the_page_is_read_before_the_plain_text_and_shows_its_pictures() -> None:
    png = screenshot("A")
    files = [File("shot.png", png, cid="one"), File("log.pdf", b"x" * 5_000)]
    found = read(outlook_mail("S", "plain", '<body><p>Größe</p><img src="cid:one"></body>', files))
    assert found.images == {"guide.msg/image1.png": png}
    assert markdown_of(found).split("\n\n") == [
        *("# S", "Größe", "[[IMG:guide.msg/image1.png]]", "## Attachments", "- log.pdf"),
    ]


def test_another_file_of_old_office_programs_is_refused() -> None:
    with pytest.raises(UnreadableArticleError, match=r"^guide: guide\.msg is damaged or no mail"):
        read(outlook_mail("S", "T").replace("__properties".encode("utf-16-le"), "__Properties".encode("utf-16-le")))


def test_without_the_package_the_error_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "oxmsg", None)
    with pytest.raises(
        UnreadableArticleError, match=r"guide.msg needs packages .*pip install 'kb-pipeline\[formats\]'"
    ):
        read(outlook_mail("S", "T"))
