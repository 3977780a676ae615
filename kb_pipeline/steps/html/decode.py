"""Decode the bytes of a page: detect the encoding, and remove unwanted characters."""

import contextlib
import logging
import re
from collections.abc import Iterator

from kb_pipeline.errors import EmptyArticleError, UnreadableArticleError

_MAGIC = {
    b"%PDF-": "a PDF",
    b"\x89PNG": "a PNG image",
    b"GIF8": "a GIF image",
    b"\xff\xd8\xff": "a JPEG image",
    b"PK\x03\x04": "a ZIP archive (or an Office document)",
    b"\x1f\x8b": "a gzip archive",
    b"\xd0\xcf\x11\xe0": "an old Office document",
    b"{\\rtf": "an RTF document",
}
_HEAD = 4096
"""Bytes by whose zeros UTF-16 without a mark is told."""
_SAMPLE = 100_000
"""Bytes by which an encoding is guessed; the guess looks at each of them many times."""
# Declared encodings that browsers read as another one (https://encoding.spec.whatwg.org/#names-and-labels).
_AS_BROWSERS_READ = {"iso-8859-1": "cp1252", "latin-1": "cp1252", "latin1": "cp1252", "us-ascii": "cp1252"}
_SEVEN_BIT = frozenset({"iso-2022-jp", "iso-2022-kr", "hz-gb-2312"})
_SEVEN_BIT_SIGNS = (b"\x1b", b"~{")
"""How these encodings switch to another script. The bytes are ASCII, too, so the declaration decides."""
_UTF_16_MARKS = (b"\xff\xfe", b"\xfe\xff")

# Control, zero-width, blank and bidirectional-override characters, tags and other characters in which text can hide,
# non-characters, and the private-use characters, which placeholders are made of.
_UNWANTED = "\x00-\x08\x0b\x0e-\x1f\x7f-\x9f\xad\u200b\u202a-\u202e\u2060\u2066-\u2069"
_UNWANTED += "\u115f\u1160\u180e\u2061-\u2064\u206a-\u206f\u3164\ufe00-\ufe0d\uffa0"
_UNWANTED += "\ue000-\uf8ff\ufeff\ufff0-\ufffb\ufffe\uffff\U000e0000-\U000e0fff\U000f0000-\U0010ffff"
_UNWANTED_CHARACTER = re.compile(f"[{_UNWANTED}]")
_PRIVATE = re.compile("[\ue000-\uf8ff\U000f0000-\U0010fffd]")
_CODE_TAG = re.compile(r"<(/?)(?:pre|code|samp|kbd|tt|listing|xmp)\b", re.I)
_UNKNOWN = "\ufffd"
"""Stands in code for a character that only one font shows. In other text such characters are icons."""
_REFERENCE = re.compile(r"&(?:#(?:[xX]([0-9a-fA-F]{1,8})|([0-9]{1,9}))|nbsp|shy|ZeroWidthSpace);?")

_MOST_ATTRIBUTES = 10_000
"""Attributes of an element: libxml2 compares each with all others, which takes minutes for 200,000."""
_LONG_TAG = re.compile(rf"<[a-zA-Z][^<>]{{{2 * _MOST_ATTRIBUTES},}}")
_QUOTED = re.compile(r"\"[^\"]*\"|'[^']*'")


def decode(article_id: str, raw: bytes) -> str:
    """Decode a page without unwanted characters; no-break spaces become spaces.

    Raises:
        EmptyArticleError: there is only white space.
        UnreadableArticleError: the file is binary or of another type, or an element has too many attributes.
    """
    if not raw.strip(b" \t\r\n\f\x00"):
        raise EmptyArticleError(f"{article_id}: the page is empty; stage the article again")
    for magic, kind in _MAGIC.items():
        if raw.startswith(magic):
            raise UnreadableArticleError(f"{article_id}: the page is {kind}, not HTML; stage the HTML page instead")
    text = to_text(raw)
    if text[:10_000].count("\x00") + text[:10_000].count("\ufffd") > 100:
        raise UnreadableArticleError(f"{article_id}: the page is binary, not HTML; stage the HTML page instead")
    page = clean(text)
    if any(len(_QUOTED.sub("", tag[0]).split()) > _MOST_ATTRIBUTES for tag in _LONG_TAG.finditer(page)):
        raise UnreadableArticleError(
            f"{article_id}: the page has an element with more than {_MOST_ATTRIBUTES:,} attributes; remove them"
        )
    return page


def in_utf_8(raw: bytes, charset: str | None) -> bytes:
    """The page in UTF-8 with its mark, where a server names another charset: that wins over what the page declares.

    It is unchanged if the charset is unknown.
    """
    if not charset or charset in ("utf-8", "utf8"):
        return raw
    try:
        return b"\xef\xbb\xbf" + raw.decode(_AS_BROWSERS_READ.get(charset, charset), "replace").encode()
    except LookupError:
        return raw


def clean(text: str) -> str:
    """Remove unwanted characters, written directly or as character references, and unify line ends."""
    text = "".join(_with_unknown_signs(text)) if _PRIVATE.search(text) or "&#" in text else text
    text = _UNWANTED_CHARACTER.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
    text = text.replace("\xa0", " ").replace("\x0c", " ").replace("\u2028", "\n").replace("\u2029", "\n")
    return _REFERENCE.sub(_clean_reference, text) if "&" in text else text


def _with_unknown_signs(text: str) -> Iterator[str]:
    """Yield the parts of a page, those in code with a sign for each character of private use."""
    depth, start = 0, 0
    for tag in _CODE_TAG.finditer(text):
        part = text[start : tag.start()]
        yield _REFERENCE.sub(_unknown_reference, _PRIVATE.sub(_UNKNOWN, part)) if depth else part
        depth, start = max(0, depth + (-1 if tag[1] else 1)), tag.start()
    yield text[start:]


def _unknown_reference(match: re.Match[str]) -> str:
    code = int(match[1], 16) if match[1] else int(match[2]) if match[2] else 0
    return _UNKNOWN if code < 0x110000 and _PRIVATE.match(chr(code)) else match[0]


def _clean_reference(match: re.Match[str]) -> str:
    hexadecimal, decimal = match.groups()
    if hexadecimal is None and decimal is None:
        return " " if match[0].startswith("&nbsp") else ""
    code = int(hexadecimal, 16) if hexadecimal else int(decimal)
    if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF or (code > 0x9F and _UNWANTED_CHARACTER.match(chr(code))):
        return ""
    if code == 0xA0:
        return " "
    # 128-159 mean Windows-1252 to every browser; the parser handles them.
    return "" if code < 0x20 and code not in (9, 10, 13) else match[0]


def to_text(raw: bytes) -> str:
    """Decode a page or a text of whatever encoding: as UTF-8 where possible, else as it declares, else by a guess.

    Beautiful Soup decodes what is not UTF-8, and is imported only for that.
    """
    head = raw[:_HEAD]
    if head.count(b"\x00") * 3 > len(head) and not raw.startswith(_UTF_16_MARKS):
        return raw.decode("utf-16-be" if head[:1] == b"\x00" else "utf-16-le", "replace")
    if not raw.startswith(_UTF_16_MARKS) and not any(sign in raw for sign in _SEVEN_BIT_SIGNS):
        with contextlib.suppress(UnicodeDecodeError):
            return raw.decode("utf-8-sig")
    return _decode_by_declaration(raw) or _guess(raw)


def _decode_by_declaration(raw: bytes) -> str | None:
    """Decode by the byte order mark or the declared encoding; None if neither fits."""
    from bs4.dammit import EncodingDetector

    data, marked = EncodingDetector.strip_byte_order_mark(raw)
    if marked:
        return data.decode(marked, "replace")
    name = EncodingDetector.find_declared_encoding(raw, is_html=True) or "utf-8"
    # a page whose declaration can be read as ASCII is not in UTF-16
    declared = "utf-8" if name.startswith("utf-16") else _AS_BROWSERS_READ.get(name, name)
    for encoding in [declared, "utf-8"] if declared in _SEVEN_BIT else ["utf-8", declared]:
        with contextlib.suppress(LookupError, ValueError):
            return raw.decode(encoding)
    return None


def _guess(raw: bytes) -> str:
    """Decode a page that is not in UTF-8 or its declared encoding: damaged UTF-8, Western European, or anything."""
    from bs4.dammit import UnicodeDammit

    logging.getLogger("bs4.dammit").setLevel(logging.ERROR)  # it warns of each guess, without naming the article
    sample = raw[:_SAMPLE]
    non_ascii = sum(byte > 0x7F for byte in sample)
    as_utf8 = raw.decode("utf-8", "replace")
    if as_utf8[:_SAMPLE].count("\ufffd") * 10 < non_ascii:
        return as_utf8
    if _looks_western(sample.decode("cp1252", "replace")):
        return raw.decode("cp1252", "replace")
    return raw.decode(UnicodeDammit(sample, is_html=True).original_encoding or "cp1252", "replace")


def _looks_western(text: str) -> bool:
    """Return whether the text, decoded as Windows-1252, has non-ASCII letters where Western European languages do.

    There they stand alone between ASCII letters. Runs of them mean another script, and symbols inside words another
    code page.
    """
    non_ascii = len(re.findall(r"[^\x00-\x7f]", text))
    in_runs = sum(map(len, re.findall(r"[^\x00-\x7f]{2,}", text)))
    inside_words = len(re.findall(r"(?<=[A-Za-z])[\x80-\xbf](?=[A-Za-z])", text))
    return in_runs * 2 <= non_ascii and inside_words * 5 <= non_ascii
