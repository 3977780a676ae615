import pytest

from kb_pipeline.errors import EmptyArticleError, UnreadableArticleError
from kb_pipeline.steps.html.decode import decode

GERMAN = "Größe und Übersicht: schöne Straße, café"
RUSSIAN = "Привет мир, это длинный русский текст для проверки кодировки страницы. " * 5


@pytest.mark.parametrize(
    "raw",
    [
        GERMAN.encode(),
        GERMAN.encode("utf-8-sig"),
        GERMAN.encode("utf-16"),
        f"<html>{GERMAN}".encode("utf-16-le"),
        f"<html>{GERMAN}".encode("utf-16-be"),
        f'<meta charset="iso-8859-1">{GERMAN}'.encode("latin-1"),
        f'<meta charset="iso-8859-1">{GERMAN}'.encode(),
        f'<?xml version="1.0" encoding="utf-8"?>{GERMAN}'.encode("latin-1"),
        f'<meta charset="x-unknown">{GERMAN}'.encode(),
        GERMAN.encode("latin-1"),
    ],
)
def test_western_text_is_read_whatever_the_page_declares(raw: bytes) -> None:
    assert GERMAN in decode("a", raw)


@pytest.mark.parametrize(
    ("text", "encoding", "declared"),
    [
        (RUSSIAN, "cp1251", "windows-1251"),
        (RUSSIAN, "cp1251", ""),
        ("日本語のテキストです。", "shift_jis", "Shift_JIS"),
        ("日本語のテキストです。", "iso-2022-jp", "iso-2022-jp"),
    ],
)
def test_other_scripts_are_read(text: str, encoding: str, declared: str) -> None:
    head = f"<meta charset={declared}>".encode() if declared else b""
    assert text in decode("a", head + text.encode(encoding))


def test_a_damaged_byte_does_not_change_the_encoding() -> None:
    assert decode("a", GERMAN.encode() * 5 + b"\xff!").startswith(GERMAN)


def test_windows_characters_in_latin_1_are_what_the_author_meant() -> None:
    assert "“quoted” – €" in decode("a", "<meta charset=latin-1>“quoted” – €".encode("cp1252"))


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("a\u200bb\u00adc\ufeffd\x00e\x0bf", "abcdef"),
        ("a&nbsp;b&#160;c&#xA0;d\u00a0e", "a b c d e"),
        ("a&#8203;b&shy;c&#xE000;d\ue001e\U000f0000f", "abcdef"),
        ("a&#1;b&#xD800;c&#x110000;d", "abcd"),
        ("&amp;nbsp; &#228; &#128; &copy;", "&amp;nbsp; &#228; &#128; &copy;"),
        ("a\r\nb\rc", "a\nb\nc"),
    ],
)
def test_characters_without_meaning_are_dropped(source: str, text: str) -> None:
    assert decode("a", source.encode()) == text


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("<pre>a\ue0b0b</pre>\uf015c", "<pre>a\ufffdb</pre>c"),
        ("<PRE class=x>a<code>\ue0b0</code>\ue0b1</PRE>", "<PRE class=x>a<code>\ufffd</code>\ufffd</PRE>"),
        ("<kbd>&#xE0B0;&#57520;&#x41;</kbd>&#xE0B0;", "<kbd>\ufffd\ufffd&#x41;</kbd>"),
        ("</pre>\ue0b0<code>x\ue0b0</code", "</pre><code>x\ufffd</code"),
    ],
)
def test_a_character_of_private_use_does_not_vanish_from_code(source: str, text: str) -> None:
    assert decode("a", source.encode()) == text


@pytest.mark.parametrize(
    ("raw", "kind"),
    [
        (b"%PDF-1.7 ...", "a PDF"),
        (b"\x89PNG\r\n\x1a\n...", "a PNG image"),
        (b"PK\x03\x04...", "a ZIP archive"),
        (b"\xd0\xcf\x11\xe0...", "an old Office document"),
        (bytes(range(256)) * 40, "binary"),
    ],
)
def test_a_file_of_another_kind_is_named(raw: bytes, kind: str) -> None:
    with pytest.raises(UnreadableArticleError, match=f"my-article: the page is {kind}"):
        decode("my-article", raw)


@pytest.mark.parametrize("raw", [b"", b" \r\n\t ", b"\x00\x00"])
def test_an_empty_file_is_an_empty_article(raw: bytes) -> None:
    with pytest.raises(EmptyArticleError, match=r"my-article: the page is empty"):
        decode("my-article", raw)


def test_an_element_with_ten_thousand_attributes_is_refused_and_one_with_long_values_is_read() -> None:
    attributes = " ".join(f"a{number}=1" for number in range(10_001))
    with pytest.raises(UnreadableArticleError, match="more than 10,000 attributes"):
        decode("a", f"<p {attributes}>x".encode())
    assert decode("a", f"<p title='{'word ' * 30_000}'>x".encode()).endswith(">x")
