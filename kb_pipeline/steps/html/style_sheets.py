"""Which properties the style sheets and attributes of a page give to its elements, as browsers resolve them.

Only what stands on the page itself is read, not the files it links. Not here: which elements a selector holds for
(``selectors``), and what the values mean.
"""

import base64
import binascii
import contextlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from math import inf
from typing import NamedTuple, TypeAlias
from urllib.parse import unquote_to_bytes

from kb_pipeline.errors import UnreadableArticleError
from kb_pipeline.steps.html.css_values import HEIGHT, ROOT_SIZE, WIDTH, length, unescaped
from kb_pipeline.steps.html.dom import Element, names
from kb_pipeline.steps.html.selectors import Selectors, selectors_in, specificity

Expand = Callable[["Declaration"], Iterable["Declaration"]]
"""What a declaration gives values to; nothing where browsers ignore it, and keep an earlier one."""

_MOST_WORK = 8_000_000
"""Looks at elements for all selectors together: 8 s of work."""
_LONGEST_SELECTOR = 5_000
"""Characters of a selector in others."""
_DATA = re.compile(r"data:text/css[^,]*?(?P<base64>;base64)?,", re.I)
_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)|<!--|-->", re.S)
_PART = re.compile(
    r"\"(?:\\.|[^\"\\\n])*+\"?|'(?:\\.|[^'\\\n])*+'?|url\(\s*+[^\"'\s)][^)]*+\)?|\\.|(?P<sign>[{};])",
    re.S | re.I,
)
_IMPORTANT = re.compile(r"!\s*+important\s*+\Z", re.I)
_URL = re.compile(r"url\([^()]*\)")
_OWN_CASE = re.compile(
    r"(?:[.#]|=\s*+)(?:\\.|[\w-])++|\"(?:\\.|[^\"\\])*+\"?|'(?:\\.|[^'\\])*+'?|(?P<any>[^.#='\"]++|.)", re.S
)
"""Parts of a selector: names and values of the page, and everything else, whose case means nothing."""
_OLD = re.compile(r"-//(?:IETF//|W3C//DTD HTML (?:3|4\.0 (?:Frameset|Transitional)//))", re.I)
"""Document types of pages that browsers show as those of the nineties; lxml gives one to a page without any."""
_OPENED = re.compile(r":(?:checked|target|target-within)\b", re.I)
"""States of a page that a click of its reader brings about."""
_TRANSPARENT = names("media layer supports container scope")
_UNTOLD = names("supports container scope")
"""Blocks of which it is not told here whether they hold: what is in them may hide something, or show it."""
_PAINTED = re.compile(r"::?(?:before|after|first-line|first-letter)\b")
"""Parts of elements that browsers draw in colours of their own."""


class Declaration(NamedTuple):
    """A property with its value in lower case."""

    name: str
    value: str
    is_important: bool


class _Rule(NamedTuple):
    selector: str
    declarations: tuple[Declaration, ...]
    layer: tuple[float, ...]
    is_told: bool


class _Layers:
    """The order of cascade layers: that in which they are first named, and what is in none of them comes last."""

    def __init__(self) -> None:
        self._order: dict[tuple[str, ...], int] = {}

    def within(self, outer: tuple[str, ...], name: str) -> tuple[str, ...]:
        layer = (*outer, *(name.strip() or f" {len(self._order)}").split("."))
        for depth in range(1, len(layer) + 1):
            self._order.setdefault(layer[:depth], len(self._order))
        return layer

    def rank(self, layer: tuple[str, ...]) -> tuple[float, ...]:
        return (*(float(self._order[layer[:depth]]) for depth in range(1, len(layer) + 1)), inf)


_Weight: TypeAlias = tuple[bool, int, tuple[float, ...], tuple[int, ...]]


_Declared: TypeAlias = tuple[_Weight, Declaration, bool]
_NO_RULES: list[_Declared] = []
_NOTHING: Mapping[str, str] = {}


class DeclaredStyles:
    """What is declared for each element of a page, by its sheets and its ``style`` attributes.

    ``is_incomplete``: the page links sheets that are not known. ``has_untold``: rules are in blocks of which it is not
    told whether they hold. ``parts`` are the declarations for parts of elements, as ``::before``.
    """

    def __init__(self, page: Element, expand: Expand) -> None:
        """Read the sheets of the page.

        Raises:
            UnreadableArticleError: they have more rules than can be tried on the page's elements.
        """
        self._expand = expand
        self._by_rules: dict[Element, list[_Declared]] = {}
        self._by_attribute: dict[str, list[_Declared]] = {}
        self._layers = _Layers()
        self._cased: Callable[[str], str] = str.lower if _is_old(page) else str
        self.opened: set[Element] = set()
        """Elements for which a rule holds once something is clicked."""
        sheets = list(_sheets_of(page))
        self.is_incomplete = None in sheets or any("@import" in (sheet or "").lower() for sheet in sheets)
        rules = [rule for sheet in sheets if sheet for rule in self._rules_of(sheet)]
        self.has_untold = not all(rule.is_told for rule in rules)
        self.parts = [each for rule in rules if _PAINTED.search(rule.selector) for each in rule.declarations]
        if rules:
            self._apply(page, rules)

    def of(self, element: Element, with_untold: bool = True) -> Mapping[str, str]:
        """Return the value of each property that is declared for the element."""
        rules, own = self._by_rules.get(element, _NO_RULES), element.get("style")
        if not rules and not own:
            return _NOTHING
        rules = [each for each in rules if each[2] or with_untold]
        if own:
            if own not in self._by_attribute:
                declared = self._accepted(declarations_of(own))
                self._by_attribute[own] = [((each.is_important, 1, (), ()), each, True) for each in declared]
            rules = rules + self._by_attribute[own]
        return {declared.name: declared.value for _, declared, _ in sorted(rules, key=lambda each: each[0])}

    def _accepted(self, declarations: Iterable[Declaration]) -> list[Declaration]:
        return [each for declared in declarations for each in self._expand(declared)]

    def _rules_of(self, sheet: str) -> Iterator[_Rule]:
        for rule in list(_rules_in(sheet, self._layers)):
            if declarations := self._accepted(rule.declarations):
                yield rule._replace(selector=self._cased(rule.selector), declarations=tuple(declarations))

    def _apply(self, page: Element, rules: list[_Rule]) -> None:
        selectors = Selectors(page, self._cased)
        tried = [
            (number, rule, selector)
            for number, rule in enumerate(rules)
            for selector in selectors_in(rule.selector)
            if selectors.work < _MOST_WORK and selectors.may_match(selector)
        ]
        if selectors.work > _MOST_WORK:
            raise _too_many(len(rules))
        for number, rule, selector in tried:
            weight = (*specificity(selector), number)
            backwards = tuple(-each for each in rule.layer)
            for element in selectors.matching(selector):
                declared = self._by_rules.setdefault(element, [])
                declared += [
                    ((each.is_important, 0, backwards if each.is_important else rule.layer, weight), each, rule.is_told)
                    for each in rule.declarations
                ]
            if _OPENED.search(selector):
                self.opened.update(selectors.matching(_OPENED.sub("", selector)))


def _is_old(page: Element) -> bool:
    """Return whether browsers compare names of the page without regard to case, as in pages of the nineties."""
    return _OLD.match(page.getroottree().docinfo.public_id or "") is not None


def declarations_of(text: str) -> list[Declaration]:
    """Return the declarations of a ``style`` attribute."""
    text = _COMMENT.sub("", text)
    ends = [match.start() for match in _PART.finditer(text) if match["sign"] == ";"]
    starts = [0, *(end + 1 for end in ends)]
    return [
        each
        for start, end in zip(starts, [*ends, len(text)], strict=True)
        if (each := _declaration(text[start:end])) is not None
    ]


def _declaration(text: str) -> Declaration | None:
    name, colon, value = text.partition(":")
    value, important = _IMPORTANT.subn("", value)
    name = unescaped(name).strip()
    if not colon or not name:
        return None
    value = _URL.sub("url()", " ".join(unescaped(value).lower().split()))
    return Declaration(name.lower(), value, bool(important))


def _sheets_of(page: Element) -> Iterator[str | None]:
    """Yield the style sheets that apply on a screen: those in ``style``, or in the address of a link, else ``None``."""
    for element in page.iter("style", "link"):
        if next(element.iterancestors("noscript", "template"), None) is not None or element.get("disabled") is not None:
            continue
        address = (element.get("href") or "").strip()
        if (element.get("type") or "text/css").strip().lower() != "text/css" or not _applies(
            element.get("media") or ""
        ):
            continue
        if element.tag == "style":
            yield element.text or ""
        elif "stylesheet" in (kinds := (element.get("rel") or "").lower().split()) and "alternate" not in kinds:
            if not (data := _DATA.match(address)):
                yield None
                continue
            sheet = unquote_to_bytes(address[data.end() :])
            with contextlib.suppress(binascii.Error):
                yield (base64.b64decode(sheet) if data["base64"] else sheet).decode("utf-8", "replace")


class _Block:
    """An open block of a sheet; ``selector`` is ``None`` where nothing in it applies."""

    def __init__(self, selector: str | None, layer: tuple[str, ...] = (), is_told: bool = True) -> None:
        self.selector, self.layer, self.is_told = selector, layer, is_told
        self.declarations: list[Declaration] = []

    def inner(self, prelude: str, layers: _Layers) -> "_Block":
        name, _, rest = prelude.lower().replace("(", " (", 1).partition(" ")
        layer = layers.within(self.layer, rest) if name == "@layer" else self.layer
        is_told = name[1:] not in _UNTOLD and not (name == "@media" and _is_odd(rest))
        return _Block(_selector_in(self.selector, prelude), layer, self.is_told and is_told)


def _rules_in(sheet: str, layers: _Layers) -> Iterator[_Rule]:
    """Yield the rules of a sheet that apply on a screen, those nested in others with the whole selector."""
    sheet = _COMMENT.sub("", sheet)
    blocks = [_Block("")]
    start = 0
    for match in _PART.finditer(sheet):
        if not match["sign"]:
            continue
        text, start = sheet[start : match.start()], match.end()
        if match["sign"] == "{":
            blocks.append(blocks[-1].inner(text.strip(), layers))
            continue
        if text.strip().lower().startswith("@layer"):
            for name in text.strip()[len("@layer") :].lower().split(","):
                layers.within(blocks[-1].layer, name)
            continue
        _declare(blocks[-1], text)
        if match["sign"] == "}" and len(blocks) > 1:
            yield from _closed(blocks.pop(), layers)
    _declare(blocks[-1], sheet[start:])
    for block in reversed(blocks):
        yield from _closed(block, layers)


def _declare(block: _Block, text: str) -> None:
    if block.selector and (declared := _declaration(text)) is not None:
        block.declarations.append(declared)


def _closed(block: _Block, layers: _Layers) -> Iterator[_Rule]:
    if block.selector and block.declarations:
        yield _Rule(block.selector, tuple(block.declarations), layers.rank(block.layer), block.is_told)


def _selector_in(outer: str | None, prelude: str) -> str | None:
    """Return the whole selector of a block with this prelude; for a condition that holds, that of the block around."""
    if outer is None:
        return None
    if prelude.startswith("@"):
        name, _, condition = prelude[1:].lower().partition(" ")
        name, bracket, rest = name.partition("(")
        query = f"{bracket}{rest} {condition}"
        holds = name != "media" or _is_odd(query) or _applies(query)
        return outer if name in _TRANSPARENT and holds else None
    prelude = _OWN_CASE.sub(lambda match: match[0].lower() if match["any"] else match[0], prelude)
    if not outer:
        return prelude
    inner = prelude.replace("&", f":is({outer})") if "&" in prelude else f":is({outer}) {prelude}"
    if len(inner) > _LONGEST_SELECTOR:
        raise _too_many(inner.count(":is("))
    return inner


def _too_many(rules: int) -> UnreadableArticleError:
    return UnreadableArticleError(
        f"the page has too many style rules ({rules:,}) to tell what of it readers see; remove them"
    )


_FEATURE = re.compile(r"\(\s*(?:(min|max)-)?([\w-]+)\s*(?:(:|[<>]=?)\s*([^()]*?))?\s*\)")
_SCREEN = {"width": WIDTH, "device-width": WIDTH, "height": HEIGHT, "device-height": HEIGHT}
_OTHERWISE = names("portrait dark reduce more none coarse print standalone fullscreen slow custom active inverted 0")
"""Values of features that readers at an ordinary screen do not have."""


def _is_odd(query: str) -> bool:
    """Return whether a media query asks for other amounts than of pixels, or in a way that is not read here."""
    features = (match for match in _FEATURE.finditer(query) if match[2] in _SCREEN or not re.search(r"\d", match[0]))
    for match in list(features):
        query = query.replace(match[0], "")
    return "(" in query


def _applies(query: str) -> bool:
    """Return whether a media query list applies at an ordinary screen; where it asks for anything unusual, it does."""
    return any(_holds(each) for each in query.lower().split(",")) if query.strip() else True


def _holds(query: str) -> bool:
    features = all(_has(*match.groups()) for match in _FEATURE.finditer(query))
    words = _FEATURE.sub(" ", query).split()
    kinds = [word for word in words if word not in ("and", "only", "not", "or")]
    is_screen = not kinds or kinds[0] in ("all", "screen")
    return (is_screen and features) != ("not" in words)


def _has(bound: str | None, name: str, sign: str | None, value: str | None) -> bool:
    """Return whether an ordinary screen has the feature."""
    given = (value or "").strip()
    pixels = length(given, ROOT_SIZE, 0) if name in _SCREEN else None
    if pixels is None:
        return given not in _OTHERWISE
    if bound == "min" or (sign or "")[:1] == ">":
        return _SCREEN[name] >= pixels
    return _SCREEN[name] <= pixels if bound == "max" or (sign or "")[:1] == "<" else _SCREEN[name] == pixels
