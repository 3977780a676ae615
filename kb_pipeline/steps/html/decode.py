"""The bytes of ``index.html`` become text: which encoding, and which characters have no place in it.

Not here: anything about tags.
"""

import codecs
import re

from charset_normalizer import from_bytes

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
_BOMS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
_DECLARED = re.compile(rb"""(?:charset|encoding)\s*=\s*["']?\s*([\w.:-]+)""", re.I)
_HEAD = 4096
_SAMPLE = 100_000
# What pages declare and what browsers then read (https://encoding.spec.whatwg.org/#names-and-labels).
_AS_BROWSERS_READ = {"iso-8859-1": "cp1252", "latin-1": "cp1252", "latin1": "cp1252", "us-ascii": "cp1252"}
_SEVEN_BIT = frozenset({"iso-2022-jp", "iso-2022-kr", "hz-gb-2312"})

# Control, zero-width and bidirectional-override characters, non-characters, and the private-use
# characters, which this package needs for itself.
_UNWANTED = "\x00-\x08\x0b\x0e-\x1f\x7f-\x9f\xad\u200b\u202a-\u202e\u2060\u2066-\u2069"
_UNWANTED += "\ue000-\uf8ff\ufeff\ufff0-\ufffb\ufffe\uffff"
_UNWANTED_CHARACTER = re.compile(f"[{_UNWANTED}\U000f0000-\U0010ffff]")
_REFERENCE = re.compile(r"&(?:#(?:[xX]([0-9a-fA-F]{1,8})|([0-9]{1,9}))|nbsp|shy|ZeroWidthSpace);?")


def decode(article_id: str, raw: bytes) -> str:
    """Decode a page, without the characters no article needs; no-break spaces become spaces.

    Raises:
        EmptyArticleError: there is nothing but white space.
        UnreadableArticleError: it is a file of another kind, or binary.
    """
    if not raw.strip(b" \t\r\n\f\x00"):
        raise EmptyArticleError(f"{article_id}: index.html is empty; stage the article again")
    for magic, kind in _MAGIC.items():
        if raw.startswith(magic):
            raise UnreadableArticleError(f"{article_id}: index.html is {kind}, not HTML; stage the HTML page instead")
    text = _to_text(raw)
    if text[:10_000].count("\x00") + text[:10_000].count("\ufffd") > 100:
        raise UnreadableArticleError(f"{article_id}: index.html is binary, not HTML; stage the HTML page instead")
    return clean(text)


def clean(text: str) -> str:
    """Drop unwanted characters, written directly or as character references; unify line ends."""
    text = _UNWANTED_CHARACTER.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
    text = text.replace("\xa0", " ").replace("\x0c", " ").replace("\u2028", "\n").replace("\u2029", "\n")
    return _REFERENCE.sub(_clean_reference, text) if "&" in text else text


def _clean_reference(match: re.Match[str]) -> str:
    hexadecimal, decimal = match.groups()
    if hexadecimal is None and decimal is None:
        return " " if match[0].startswith("&nbsp") else ""
    code = int(hexadecimal, 16) if hexadecimal else int(decimal)
    if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF or (code > 0x9F and _UNWANTED_CHARACTER.match(chr(code))):
        return ""
    if code == 0xA0:
        return " "
    # 128-159 mean Windows-1252 to every browser; the parser knows.
    return "" if code < 0x20 and code not in (9, 10, 13) else match[0]


def _to_text(raw: bytes) -> str:
    for bom, encoding in _BOMS.items():
        if raw.startswith(bom):
            return raw.decode(encoding, "replace")
    head = raw[:_HEAD]
    if head.count(b"\x00") * 3 > len(head):
        return raw.decode("utf-16-be" if head[:1] == b"\x00" else "utf-16-le", "replace")
    declared = _declared_encoding(head)
    for encoding in [declared, "utf-8"] if declared in _SEVEN_BIT else ["utf-8", declared]:
        try:
            return raw.decode(encoding)
        except (UnicodeDecodeError, LookupError):
            continue
    return _guess(raw)


def _declared_encoding(head: bytes) -> str:
    match = _DECLARED.search(head)
    name = match[1].decode("ascii").lower() if match else "utf-8"
    # A page that could be read to its declaration as ASCII is not in UTF-16.
    return "utf-8" if name.startswith("utf-16") else _AS_BROWSERS_READ.get(name, name)


def _guess(raw: bytes) -> str:
    """Neither UTF-8 nor what the page declares: damaged UTF-8, Western European, or anything."""
    sample = raw[:_SAMPLE]
    foreign = sum(byte > 0x7F for byte in sample)
    damaged = raw.decode("utf-8", "replace")
    if damaged[:_SAMPLE].count("\ufffd") * 10 < foreign:
        return damaged
    if _looks_western(sample.decode("cp1252", "replace")):
        return raw.decode("cp1252", "replace")
    best = from_bytes(sample).best()
    return raw.decode(best.encoding if best else "cp1252", "replace")


def _looks_western(text: str) -> bool:
    """Whether the text, read as Windows-1252, has foreign letters where Western European has them.

    They stand alone among ASCII letters; runs of them are another script, signs inside of words
    another code page.
    """
    foreign = len(re.findall(r"[^\x00-\x7f]", text))
    in_runs = sum(map(len, re.findall(r"[^\x00-\x7f]{2,}", text)))
    inside_words = len(re.findall(r"(?<=[A-Za-z])[\x80-\xbf](?=[A-Za-z])", text))
    return in_runs * 2 <= foreign and inside_words * 5 <= foreign
