"""Mails: one is one document, however its text is written."""

import pytest

from kb_pipeline.errors import EmptyArticleError, UnreadableArticleError
from kb_pipeline.sources import SourceDocument, SourceTools
from kb_pipeline.sources.mail.source import MailSource
from kb_pipeline_tests.pictures import screenshot
from kb_pipeline_tests.sources.letters import File, mail
from kb_pipeline_tests.sources.reading import markdown_of

PEOPLE = {"From": "Ann Lee <ann@example.com>", "To": '"bob@example.com" <bob@example.com>, Eve <eve@example.com>'}
DATE = {"Date": "Thu, 26 Nov 2026 10:00:00 +0100"}
PNG = screenshot("A")


def read(data: bytes, *, masked: bool = False) -> SourceDocument:
    return MailSource(SourceTools(mask_addresses=masked)).read("guide", "guide.eml", data)


def test_a_mail_has_its_subject_date_people_and_text() -> None:
    found = read(mail("Press Restart.\n\n> Old words", subject="Größe", headers=PEOPLE | DATE))
    assert found.title == "Größe"
    assert found.facts is not None
    assert (found.facts.author, found.facts.created) == ("Ann Lee", "2026-11-26T10:00:00+01:00")
    assert markdown_of(found).split("\n\n") == [
        "# Größe",
        "Press Restart.",
        "> Old words",
    ]


def test_its_greeting_and_signature_are_no_text_of_it() -> None:
    text = "Dear Bob,\n\nPress Restart.\n\nKind regards\nAnn Lee\n\n-- \nExample Ltd"
    assert markdown_of(read(mail(text, subject="S", headers=PEOPLE))) == "# S\n\nPress Restart."


def test_the_page_is_read_before_the_plain_text_and_shows_its_pictures() -> None:
    page = '<html><head><style>p {}</style></head><body><p>Press <b>Restart</b>:</p><img src="cid:a%40b"></body></html>'
    files = [File("shot.png", PNG, "image/png", "a@b"), File("log.pdf", b"x", "application/pdf")]
    found = read(mail("plain", page, subject="S", files=files))
    assert found.images == {"guide.eml/image1.png": PNG}
    assert markdown_of(found).split("\n\n") == [
        *("# S", "Press **Restart**:", "[[IMG:guide.eml/image1.png]]", "## Attachments", "- log.pdf"),
    ]


@pytest.mark.parametrize(
    "page",
    [
        "Press <b>Restart</b> now",
        "<html><body><span style='color:black'>Press <b>Restart</b> now</span></body></html>",
        "<body style='background:#111'><p style='color:#fff'>Press <b>Restart</b> now</p></body>",
        "<body bgcolor=black text=white><p>Press <b>Restart</b> now</p></body>",
        "<body bgcolor=black><p><font color=white>Press <b>Restart</b> now</font></p></body>",
        "<head><style>.dark{background:#036}td>.pre{display:none}</style></head><table><tr><td class=dark>"
        "<span class=pre>UNSEEN</span><font color=white>Press <b>Restart</b> now</font></td></tr></table>",
    ],
)
def test_the_page_of_a_mail_is_read_as_it_looks(page: str) -> None:
    assert markdown_of(read(mail("plain", page, subject="S"))) == "# S\n\nPress **Restart** now"


def test_attached_pictures_are_shown_below() -> None:
    found = markdown_of(read(mail("words", subject="S", files=[File("shot.png", PNG, "image/png")])))
    assert found.endswith("## Attachments\n\n- shot.png\n\n[[IMG:guide.eml/image1.png]]")


def test_a_mail_in_a_mail_is_read_below_its_subject() -> None:
    inner = b"Content-Type: message/rfc822\n\n" + mail("inner words", subject="Inner")
    data = (
        b"Subject: Outer\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=x\n\n"
        b"--x\nContent-Type: text/plain\n\nouter words\n--x\n" + inner + b"\n--x--\n"
    )
    assert markdown_of(read(data)).split("\n\n") == ["# Outer", "outer words", "### Inner", "inner words"]


def test_people_are_left_out_and_addresses_masked_if_told() -> None:
    data = mail("Write to ann.lee+x@mail.example.com.", subject="To ann@example.com", headers=PEOPLE | DATE)
    found = read(data, masked=True)
    assert found.title == "To ***@example.com"
    assert markdown_of(found).split("\n\n") == [
        *("# To \\*\\*\\*@example.com", "Write to \\*\\*\\*@mail.example.com."),
    ]
    assert found.facts is not None
    assert found.facts.author == ""
    assert not any(name in found.html for name in ("Ann", "ann", "Eve", "bob"))


HIDDEN = '<p style="display:none">secret</p><p>seen</p>'
REMOTE = '<p>seen</p><img src="http://127.0.0.1:9/count.gif"><img src="file:///etc/passwd"><img src="cid:nothing">'


@pytest.mark.parametrize("page", [HIDDEN, REMOTE, '<script>document.write("secret")</script><p>seen</p>'])
def test_what_readers_do_not_see_is_no_text_and_nothing_is_fetched(page: str) -> None:
    found = read(mail("x", page, subject="S"))
    assert markdown_of(found) == "# S\n\nseen"
    assert found.images == {}


@pytest.mark.parametrize("encoding", ["utf-8", "cp1252", "koi8-r", "nonsense", ""])
def test_text_is_read_in_the_encoding_that_it_says_or_has(encoding: str) -> None:
    word = "Привет" if encoding == "koi8-r" else "Größe"
    said = f'; charset="{encoding}"' if encoding else ""
    raw = word.encode("utf-8" if encoding in ("", "nonsense") else encoding)
    assert word in read(f"Subject: S\nContent-Type: text/plain{said}\n\n".encode() + raw).html


REFUSED = [
    (b"", EmptyArticleError, "is empty"),
    (b"just words\nand more", UnreadableArticleError, "is no mail"),
    (b"<html>", UnreadableArticleError, "is a page of HTML"),
    (b"%PDF-1.4", UnreadableArticleError, "is a PDF file under another name"),
    (b"Subject: only\n\n", EmptyArticleError, "holds no text and no file"),
]


@pytest.mark.parametrize(("data", "error", "why"), REFUSED)
def test_what_is_no_mail_is_refused(data: bytes, error: type[Exception], why: str) -> None:
    with pytest.raises(error, match=rf"^guide: guide\.eml {why}"):
        read(data)


DEEP = b"".join(b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (n, n) for n in range(3_000))
MANY = b"Content-Type: multipart/mixed; boundary=x\n\n" + b"--x\nContent-Type: text/plain\n\na\n" * 3_000 + b"--x--\n"


@pytest.mark.parametrize("data", [DEEP, MANY, b"Content-Type: multipart/mixed\n\nwords", b"Date: never\n\nwords"])
def test_odd_mails_are_read_or_refused_and_nothing_else(data: bytes) -> None:
    try:
        read(b"Subject: S\n" + data)
    except (UnreadableArticleError, EmptyArticleError) as exc:
        assert str(exc).startswith("guide: guide.eml ")
