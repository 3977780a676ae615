"""Tags and bare addresses in the text of an answer.

An image of the passages stays an image, and an address that the passages contain stays a link. Everything else becomes
plain text or code that no reader of markdown turns into a link.
"""

import re
from html import unescape
from string import punctuation

from app.grounding import patterns
from app.grounding.output import Output
from app.grounding.patterns import Reading, Replacement
from app.grounding.sources import Sources, image_markdown, looks_like_image, trimmed

_LONGEST_NAME = 128
"""Characters that are read of a host: more than real ones have, and few enough to keep hostile text cheap."""
_CONTINUES_ADDRESS = ("/", ":", "?", "#", "\\")
"""Characters that lead from a domain to a place on it."""
_BEFORE_ADDRESS = frozenset(punctuation) - frozenset("+-.~")
_LESS_THAN = "&lt;"
_NO_TAG = frozenset("0123456789=-")
_EMPHASIS = re.compile(r"[*~]+")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*\Z")
_MAILBOX = re.compile(r"[^\s()<>\[\]`|*]+\Z")
_HEAD = re.compile(r"[^\s()<>\[\]`/:]+\Z")
_NAME = re.compile(r"[\w.%+@-]*+")
_HOST = re.compile(r"[\w-]++(?:\.[\w-]++)*+\.?+[*~]*+")
_LABEL = re.compile(r"[^\W\d_][\w-]*+")
_ENTITY = re.compile(r"&(?:#[0-9]{1,8}|#[xX][0-9A-Fa-f]{1,7}|[A-Za-z][A-Za-z0-9]{1,31});")
_NUMBER = re.compile(r"[\s>*+-]*[0-9]{1,9}\Z")
# The domains that linkify-it links (markdown-it uses it), and some of the newer ones.
_DOMAINS = re.compile(
    r"""
    biz|com|edu|gov|net|org|pro|web|xxx|aero|asia|coop|info|museum|name|shop|рф|mil|int|arpa|jobs|mobi|travel|app|dev
    |cloud|online|site|top|xyz|xn--.*
    |a[cdefgilmnoqrstuwxz]|b[abdefghijmnorstvwyz]|c[acdfghiklmnoruvwxyz]|d[ejkmoz]|e[cegrstu]|f[ijkmor]
    |g[abdefghilmnpqrstuwy]|h[kmnrtu]|i[delmnoqrst]|j[emop]|k[eghimnprwyz]|l[abcikrstuvy]|m[acdeghklmnopqrstuvwxyz]
    |n[acefgilopruz]|om|p[aefghklmnrstwy]|qa|r[eosuw]|s[abcdeghijklmnortuvxyz]|t[cdfghjklmnortvwz]|u[agksyz]
    |v[aceginu]|w[fs]|y[et]|z[amw]
    """,
    re.VERBOSE | re.IGNORECASE,
)


class BareAddresses:
    """Handles the signs ``:``, ``/``, ``@``, ``.``, ``&`` and ``\\``, which may be part of an address."""

    def __init__(self, sources: Sources, out: Output) -> None:
        """Use ``out`` to see what precedes a sign, and to write to."""
        self._sources = sources
        self._out = out

    @property
    def _before(self) -> str:
        """The end of the output without emphasis: a reader of markdown sees no break there."""
        return _EMPHASIS.sub("", self._out.tail)

    def colon(self, text: str, at: int) -> Reading:
        """``://`` after a scheme: the address becomes code, unless a passage contains it."""
        address = _read_address(text, at + 3, at + patterns.LONGEST_TARGET)
        end = at + 3 + len(address)
        scheme = _SCHEME.search(self._before.replace("\\", ""))
        is_named = scheme and address and self._sources.links.names(f"{scheme[0]}://{address}")
        if is_named and patterns.ENDS_SENTENCE.match(text, end):
            return self._write(end, f"://{address}")
        return Replacement(end, self._set_apart(defused(address)) if address else "`://`")

    def slash(self, text: str, at: int) -> Reading:
        """A second slash, which would begin an address without a scheme."""
        if text[at - 1 : at] not in ("/", "\\"):
            return None
        if self._before.endswith(":/"):
            return self._write(at + 1, " /")
        return self._write(at + 1, r"\/") if self._before.endswith("/") else None

    def at_sign(self, text: str, at: int) -> Reading:
        """``@`` of a mail address: it and the host become code, unless a passage contains the address."""
        host = _HOST.match(text, at + 1, at + _LONGEST_NAME)
        mailbox = _MAILBOX.search(self._before)
        if not mailbox or not host:
            return None
        name = host[0].rstrip(".*~")
        if "." not in name and "mailto:" not in mailbox[0].lower():
            return None
        end = at + 1 + len(name)
        user = re.sub(r"\A.*[:,;\"']|\\", "", mailbox[0])
        emphasis = _EMPHASIS.match(text, end)
        following = text[emphasis.end() if emphasis else end :][:1]
        continues = following.isalnum() or following == "\\"
        if not continues and self._sources.links.allows(f"mailto:{user}@{name}"):
            return self._write(end, f"@{name}")
        return Replacement(end, self._set_apart(f"`@{name}`"))

    def dot(self, text: str, at: int) -> Reading:
        """A dot of a domain: escaped, so that the domain is shown but not linked."""
        limit = at + _LONGEST_NAME
        label = _LABEL.match(text, at + 1, limit)
        end = label.end() if label else at + 1
        head = _HEAD.search(self._out.tail)
        if label is None or head is None:
            return None
        if patterns.ENDS_WWW.search(self._before):
            address = _read_address(text, at + 1, at + 1 + _LONGEST_NAME)
            return Replacement(at + 1 + len(address), self._set_apart(defused(address)))
        in_address = "@" in head[0] or patterns.ENDS_ADDRESS.search(self._before)
        is_domain = _DOMAINS.fullmatch(label[0].partition("_")[0]) or text.startswith("://", end)
        if not in_address and not is_domain:
            return None
        rest = _NAME.match(text, at + 1, limit)
        assert rest is not None  # the pattern also matches nothing
        name = f"{_EMPHASIS.sub('', head[0])}.{rest[0]}".replace("\\", "").rpartition("|")[2].rstrip(".-")
        if self._sources.links.names(name) and text[rest.end() : rest.end() + 1] not in _CONTINUES_ADDRESS:
            return None
        return self._write(at + 1, " ." if in_address else r"\.")

    def entity(self, text: str, at: int) -> Reading:
        """A character reference: shown as written if it stands for a character of an address."""
        entity = _ENTITY.match(text, at)
        if entity is None:
            return None
        character = unescape(entity[0])
        in_addresses = character.isascii() and (character.isalnum() or character in ":/.@-_+%?=#")
        return self._write(at + 1, "&amp;") if in_addresses else None

    def escape(self, text: str, at: int) -> Reading:
        """An escaped sign that needs no escape: drop the backslash, so that the sign itself is read next."""
        if text[at + 1] == "." and patterns.ENDS_WWW.search(self._before):
            return self._write(at + 2, "`.`")
        if text[at + 1] == "." and patterns.ENDS_ADDRESS.search(self._before):
            return self._write(at + 2, " .")
        needless = text[at + 1] in ":/@" or (text[at + 1] == "." and not _NUMBER.match(self._out.line))
        return Replacement(at + 1, None) if needless else None

    def _write(self, end: int, text: str) -> Replacement:
        self._out.write(text)
        return Replacement(end, None)

    def _set_apart(self, code: str) -> str:
        return f" {code}" if self._before[-1:].strip() else code


class Addresses:
    """Handles what begins with ``<``, and the addresses that readers of markdown link without being asked."""

    def __init__(self, sources: Sources, out: Output, *, in_link: bool) -> None:
        """Use ``out`` to see what precedes an address. ``in_link``: the text is a link's label, so it has no links."""
        self._sources = sources
        self._out = out
        self._in_link = in_link

    def tag(self, text: str, at: int) -> Reading:
        """``<...>``: images, addresses and line breaks keep their meaning; anything else is shown as written."""
        name = patterns.TAG_NAME.match(text, at)
        if name is None:
            following = text[at + 1 : at + 2]
            is_sign = following and (following.isspace() or following in _NO_TAG)
            return None if is_sign else Replacement(at + 1, _LESS_THAN)
        following = text[name.end() : name.end() + 1]
        if following in (":", "@") or name[1].lower() in patterns.READ_TAGS:
            tag = patterns.TAG.match(text, at)
            replacement = self._replace_tag(tag[0]) if tag else None
            if tag and replacement is not None:
                return Replacement(tag.end(), replacement)
        return Replacement(at + 1, _LESS_THAN)

    def _replace_tag(self, tag: str) -> str | None:
        if tag[:4].lower() == "<img":
            attributes = {name.lower(): "".join(values) for name, *values in patterns.ATTRIBUTE.findall(tag)}
            url = self._sources.image(attributes.get("src", ""))
            return image_markdown(attributes.get("alt", ""), url) if url else ""
        if patterns.KEPT_TAG.fullmatch(tag):
            return "" if self._out.at_start else tag  # a tag at the start of a line would begin a block of HTML
        if patterns.MAIL.fullmatch(tag):
            return self._replace_address(tag[1:-1], f"mailto:{tag[1:-1]}", tag)
        if patterns.AUTOLINK.fullmatch(tag):
            return self._replace_address(tag[1:-1], tag[1:-1], tag)
        return None

    def address(self, text: str, at: int) -> Reading:
        """An address without brackets, which many readers of markdown link."""
        begins = patterns.BEGINS_ADDRESS.match(text, at)
        if begins is None:
            return None
        address = _read_address(text, at, at + patterns.LONGEST_TARGET)
        is_web = begins[0][0] in "hHwWfFmM"
        if is_web and len(address) <= len(begins[0]):  # the text that follows must not complete the address
            return Replacement(begins.end(), f"`{begins[0]}`")
        if not (is_web or looks_like_image(address)):
            return None
        end = at + len(address)
        before = self._out.tail[-1:]
        if before.strip() and before not in _BEFORE_ADDRESS:
            return Replacement(end, f" {defused(address)}")
        link = address
        if not patterns.ENDS_SENTENCE.match(text, end):
            has_scheme = "://" in address or address[:7].lower() == "mailto:"
            link = f"<{address}>" if has_scheme else f"<https://{address}>"
        return Replacement(end, self._replace_address(address, address, link))

    def _replace_address(self, shown: str, target: str, link: str) -> str:
        """Return the link if the target is allowed, else the address as code, which nothing turns into a link."""
        if self._in_link:
            return shown if self._sources.links.allows(target) else defused(shown)
        if url := self._sources.image(target, is_image=False):
            return image_markdown("", url)  # a reader wants to see an image, not its address
        if self._sources.links.allows(target):
            return link
        return "" if looks_like_image(target) and "//" not in target else defused(shown)


def defused(address: str) -> str:
    """An address as code that neither a reader of markdown nor a terminal links: no scheme, a space before ``@``."""
    shown = address.replace("`", "")
    while (shorter := patterns.SCHEME_OR_WWW.sub("", shown)) and shorter != shown:
        shown = shorter
    return f"`{shown.replace('@', ' @').strip()}`"


def _read_address(text: str, start: int, limit: int) -> str:
    """Return the address that begins at ``start`` and ends before ``limit``."""
    whole = patterns.ADDRESS.match(text, start, limit)
    assert whole is not None  # the pattern also matches nothing
    return trimmed(whole[0])
