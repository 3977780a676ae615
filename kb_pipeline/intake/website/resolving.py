"""Decides which addresses of a site are items, and which lead to them: a page is one article, whatever its addresses.

Several are one page by redirects, by one content, by the address that the page gives itself, and where addresses that
are nearly the same show the same.
"""

import posixpath
import re
from collections.abc import Mapping
from typing import NamedTuple

from kb_pipeline.intake.prose import SIGN_IN
from kb_pipeline.intake.website.addresses import SiteScope, document_name
from kb_pipeline.intake.website.answers import NEEDS_SIGN_IN, PDF
from kb_pipeline.intake.website.copy import MOST_STEPS, SiteCopy, Thing
from kb_pipeline.intake.website.options import WebsiteOptions
from kb_pipeline.steps.html.decode import decode, in_utf_8
from kb_pipeline.steps.html.dom import parse
from kb_pipeline.steps.html.images import safe_stem
from kb_pipeline.steps.html.page import find_main_content, remove_furniture, visible_body
from kb_pipeline.steps.main_file import INDEX_FILE, is_document
from kb_pipeline.store.files import read_bytes

_SAME = 0.8
"""Share of a page's words that the page has which it names as its canonical address. Sites that name one page as the
address of all are common; what such pages share is navigation, which is not counted."""
_INDEX = re.compile(r"/(?:index|default)\.\w+$")
_WORD = re.compile(r"\w+")


class Resolved(NamedTuple):
    """The addresses of a site.

    Attributes:
        items: those of items, each with the main file of its article; "" if it is left out.
        leads_to: the items that other addresses lead to.
        problems: why the newest versions of items are not taken; their articles, if they have any, stay as they are.
    """

    items: Mapping[str, str]
    leads_to: Mapping[str, str]
    problems: Mapping[str, str]


def resolve(copy: SiteCopy, options: WebsiteOptions, scope: SiteScope) -> Resolved:
    """Resolve all addresses that the last crawl came to."""
    resolving = _Resolving(copy, options, scope)
    for thing in copy.pages():
        resolving.add(thing)
    return resolving.end()


class _Resolving:
    def __init__(self, copy: SiteCopy, options: WebsiteOptions, scope: SiteScope) -> None:
        self._copy, self._options, self._scope = copy, options, scope
        self._items: dict[str, str] = {}
        self._steps: dict[str, str] = {}
        self._problems: dict[str, str] = {}
        self._alike: dict[tuple[str, str], list[tuple[bool, int, str]]] = {}
        """Items whose addresses are nearly the same and that show the same, the best address least."""
        self._were_items: list[str] = []
        self._sign_ins: set[str] = set()
        self._last = Thing("", 0, 0)

    def add(self, thing: Thing) -> None:
        """Add an address; those of one content come one after another, the best first."""
        if thing.leads_to:
            self._steps[thing.address] = thing.leads_to
            self._were_items += [thing.address] if thing.is_item else []
        if not self._may_be_item(thing):
            return
        # of what was never read, only what is for everybody is named
        if thing.problem and (thing.digest or NEEDS_SIGN_IN not in thing.problem):
            self._problems[thing.address] = thing.problem
        if thing.leads_to or not thing.digest:
            return
        if thing.digest == self._last.digest:
            self._steps[thing.address] = self._last.address
            return
        self._last = thing
        if thing.canonical not in ("", thing.address) and self._is_same(thing):
            self._steps[thing.address] = thing.canonical
        else:
            self._add_item(thing)

    def _add_item(self, thing: Thing) -> None:
        facts = thing.read()
        self._items[thing.address] = "" if facts.why_none else main_file(thing)
        self._sign_ins |= {thing.address} if facts.why_none == SIGN_IN else set()
        if thing.kind == "page":
            rank = (not thing.is_item, len(thing.address), thing.address)
            self._alike.setdefault((_place(thing.address), facts.shows), []).append(rank)

    def end(self) -> Resolved:
        """What follows from all that was added."""
        for (*_, first), *others in map(sorted, self._alike.values()):
            for *_, other in others:
                self._steps[other] = first
                del self._items[other]
        ends = {address: self._end_of(address) for address in self._steps}
        for address in self._were_items:
            if ends[address] in self._sign_ins or ends[address] in self._steps:  # to sign in, or in a circle
                self._problems[address] = f"{address} leads to {ends[address]}, and not to a page for everybody"
                self._items[address] = INDEX_FILE
        leads_to = {address: end for address, end in ends.items() if self._items.get(end)}
        is_named = {*self._items, *(self._problems.keys() - self._steps.keys())}
        return Resolved(self._items, leads_to, {each: why for each, why in self._problems.items() if each in is_named})

    def _end_of(self, address: str) -> str:
        for _ in range(MOST_STEPS):
            address = self._steps.get(address, address)
        return address

    def _may_be_item(self, thing: Thing) -> bool:
        is_wanted = self._options.includes(self._scope.name(thing.address)) and thing.kind != "picture"
        return is_wanted and not thing.read().no_index

    def _is_same(self, thing: Thing) -> bool:
        """Whether a page is the one that it names as its canonical address, and not only says so."""
        other = self._copy.get(thing.canonical)
        if other is None or other.kind != "page" or other.canonical not in ("", other.address) or other.problem:
            return False
        if not self._may_be_item(other):
            return False
        if not thing.verdict.startswith(other.digest):
            words, others = _words(html_of(self._copy, thing)), _words(html_of(self._copy, other))
            is_same = bool(words) and len(words & others) / len(words) >= _SAME
            thing = thing._replace(verdict=f"{other.digest} {'same' if is_same else 'other'}")
            self._copy.store(thing)
        return thing.verdict.endswith("same")


def html_of(copy: SiteCopy, thing: Thing) -> str:
    """The page of the copy."""
    return decode(thing.address, in_utf_8(read_bytes(copy.path(thing.digest)), thing.charset))


def main_file(thing: Thing) -> str:
    """The name of the main file of an article."""
    if thing.kind != "document":
        return INDEX_FILE
    name = document_name(thing.address)
    return safe_stem(name) + (posixpath.splitext(name)[1] if is_document(name) else PDF)


def _place(address: str) -> str:
    """An address without what often makes no difference: then the pages decide whether it does."""
    return _INDEX.sub("", address.partition("?")[0].casefold()).rstrip("/")


def _words(html: str) -> set[str]:
    page = parse(html)
    if page is None:
        return set()
    body = visible_body(page)
    remove_furniture(body)
    return set(_WORD.findall(" ".join(map(str, find_main_content(body).itertext()))))
