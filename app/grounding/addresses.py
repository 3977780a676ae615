"""Tags and bare addresses in the text of an answer: images of the passages, addresses they name, or only words."""

import re

from app.grounding import patterns
from app.grounding.found import WAIT, Found, Reading
from app.grounding.image_urls import image_markdown, looks_like_image
from app.grounding.links import trimmed
from app.grounding.sources import Sources

_ENDS_SENTENCE = re.compile(r"[?!.,:;)]*(?=\s|\Z)")
_LESS_THAN = "&lt;"
_NO_TAG = frozenset("0123456789=-")


class Addresses:
    """Reads what begins with ``<``, and what readers of markdown make links of without being asked."""

    def __init__(self, sources: Sources, *, in_link: bool) -> None:
        """``in_link``: there can be no other link."""
        self._sources = sources
        self._in_link = in_link

    def tag(self, text: str, at: int, *, final: bool, at_start: bool) -> Reading:
        """``<...>``: an image is an image, an address an address, a line break stays; all else shows as written."""
        name = patterns.TAG_NAME.match(text, at)
        if name is None:
            return self._no_tag(text, at, final=final)
        following = text[name.end() : name.end() + 1]
        if not following and not final and name.end() < at + patterns.LONGEST_LABEL:
            return WAIT
        if following in (":", "@") or name[1].lower() in patterns.READ_TAGS:
            tag = patterns.TAG.match(text, at)
            if tag is None and not final and patterns.OPEN_TAG.match(text, at):
                return WAIT
            become = self._tag(tag[0], at_start=at_start) if tag else None
            if tag and become is not None:
                return Found(tag.end(), become)
        return Found(at + 1, _LESS_THAN)

    def _no_tag(self, text: str, at: int, *, final: bool) -> Reading:
        following = text[at + 1 : at + 2]
        if following == "/" and len(text) == at + 2 and not final:
            return WAIT
        if not following:
            return Found(at + 1, _LESS_THAN) if final else WAIT
        return None if following.isspace() or following in _NO_TAG else Found(at + 1, _LESS_THAN)

    def _tag(self, tag: str, *, at_start: bool) -> str | None:
        """What becomes of a tag. One that begins a line would begin a block of HTML."""
        if tag[:4].lower() == "<img":
            attributes = {name.lower(): "".join(values) for name, *values in patterns.ATTRIBUTE.findall(tag)}
            url = self._sources.images.resolve(attributes.get("src", ""))
            return image_markdown(attributes.get("alt", ""), url) if url else ""
        if patterns.KEPT_TAG.fullmatch(tag):
            return "" if at_start else tag
        if patterns.MAIL.fullmatch(tag):
            return self._address(tag[1:-1], f"mailto:{tag[1:-1]}", tag)
        if patterns.AUTOLINK.fullmatch(tag):
            return self._address(tag[1:-1], tag[1:-1], tag)
        return None

    def address(self, text: str, at: int, *, final: bool) -> Reading:
        """An address without brackets, which many readers of markdown make a link of."""
        begins = patterns.BEGINS_ADDRESS.match(text, at)
        if begins is None:
            return None if final or not patterns.SPECIAL.match(text, at) else WAIT
        whole = patterns.ADDRESS.match(text, at, at + patterns.LONGEST_TARGET)
        assert whole is not None
        if whole.end() == len(text) < at + patterns.LONGEST_TARGET and not final:
            return WAIT
        address = trimmed(whole[0])
        is_web = begins[0][0] in "hHwW"
        if len(address) <= len(begins[0]) or not (is_web or looks_like_image(address)):
            return None
        end = at + len(address)
        plain = _ENDS_SENTENCE.match(text, end) is not None
        return Found(end, self._address(address, address, address if plain else f"<{_with_scheme(address)}>"))

    def _address(self, shown: str, target: str, link: str) -> str:
        """A link if it may be one, else its text as code, which nobody makes a link of."""
        if self._in_link:
            return shown
        if url := self._sources.images.resolve(target, is_image=False):
            return image_markdown("", url)  # of no use to the reader but to see it
        if self._sources.links.allows(target):
            return link
        return "" if looks_like_image(target) and "//" not in target else f"`{shown.replace('`', '')}`"


def _with_scheme(address: str) -> str:
    return address if "://" in address else f"https://{address}"
