"""Find the article on a page, and remove what belongs to the site.

That is navigation, page tools, footers and elements without text for readers.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile
from typing import Literal, TypeAlias

from lxml import etree

from kb_pipeline.records import LeftOutText
from kb_pipeline.steps.html.contents import PageContents
from kb_pipeline.steps.html.dom import BLOCKS, HEADINGS, Element, classes, has_text, is_inside, names, text_of
from kb_pipeline.steps.html.tables import cells_of, own_rows

_Why: TypeAlias = Literal["", "name", "links", "words", "place"]

_INVISIBLE = names(
    "script style noscript template svg iframe object embed video audio canvas select button textarea input "
    "datalist map head title meta link base colgroup col applet frameset noframes noembed dialog progress meter"
)
_CONTROLS = ("input", "button", "select", "textarea")
_HOLDS_CONTROLS = "data-kb-holds-controls"


def visible_body(page: Element) -> Element:
    """Return the page's body without elements that browsers do not display as text, whatever their style."""
    body = next(page.iter("body"), page)
    for element in list(body.iter("input", "object", "picture")):
        _show_as_image(element)
    _mark_holders_of_controls(body)
    etree.strip_elements(body, *_INVISIBLE, with_tail=False)
    return body


def _mark_holders_of_controls(body: Element) -> None:
    """Note on all elements around fields and buttons that they hold some; buttons that copy code do not count."""
    parents = dict.fromkeys(control.getparent() for control in body.iter(*_CONTROLS))
    for parent in parents:
        if parent is None or next(parent.iter("pre"), None) is not None:
            continue
        for around in (parent, *parent.iterancestors()):
            if around.get(_HOLDS_CONTROLS):
                break
            around.set(_HOLDS_CONTROLS, "true")


def find_main_content(body: Element) -> Element:
    """Return the element with the article; the body should be free of navigation.

    This is ``main`` (or its role) if the page declares one, or the only ``article`` if it contains most of the text,
    else the body. A first heading outside of it, as AsciiDoctor and many themes write it, is moved in.
    """
    title = next(body.iter("h1"), None)
    main = _declared_main(body)
    if main is None:
        return body
    if title is not None and next(main.iter("h1"), None) is None and has_text(title):
        title.tail = None
        main.text, title.tail = None, main.text
        main.insert(0, title)
    return main


def _show_as_image(element: Element) -> None:
    """Turn image buttons, embedded images, and pictures without an ``img`` into ``img``."""
    source = ""
    if element.tag == "input" and (element.get("type") or "").lower() == "image":
        source = element.get("src") or ""
    elif element.tag == "object" and (element.get("type") or "").lower().startswith("image/"):
        source = element.get("data") or ""
    elif element.tag == "picture" and next(element.iter("img"), None) is None:
        source = next((s.get("srcset") or "" for s in element.iter("source")), "").split(" ")[0]
    if source:
        alt, tail = element.get("alt") or text_of(element), element.tail
        element.clear()
        element.tag, element.tail = "img", tail
        element.set("src", source)
        element.set("alt", alt)


def _declared_main(body: Element) -> Element | None:
    mains = [element for element in body.iter() if element.tag == "main" or element.get("role") == "main"]
    main = _only_one([element for element in mains if is_filled(element)])
    if main is not None:
        return main
    article = _only_one([element for element in body.iter("article") if is_filled(element)])
    return article if article is not None and len(text_of(article)) * 2 > len(text_of(body)) else None


def _only_one(elements: list[Element]) -> Element | None:
    """Return the only element, or the one that contains all others."""
    if elements and all(elements[0] in element.iterancestors() for element in elements[1:]):
        return elements[0]
    return None


def is_filled(element: Element) -> bool:
    """Return whether the element holds text or an image."""
    return has_text(element) or next(element.iter("img", "image"), None) is not None


_TAGS = names("nav footer")
_ROLES = names("navigation banner contentinfo search")
_CLASSES = names(
    # DocBook, Publican, DITA-OT
    "navheader navfooter docnav reportbug parentlink nextlink previouslink "
    # Sphinx and its themes
    "sphinxsidebar related wy-nav-side wy-nav-top rst-versions rst-footer-buttons wy-breadcrumbs "
    "theme-toggle prev-next-area prev-next-bottom related-pages bottom-of-page "
    # Doxygen
    "navpath sm-dox "
    # MkDocs, mdBook, Docusaurus, MediaWiki
    "md-header md-footer md-sidebar md-tabs md-content__button md-source-file nav-chapters nav-wrapper menu-bar "
    "theme-doc-breadcrumbs theme-doc-footer theme-doc-toc-mobile theme-edit-this-page pagination-nav prev-next "
    "printfooter mw-editsection editsection catlinks noprint "
    # Confluence's export: who changed the page last
    "page-metadata "
    # any site
    "toc table-of-contents tableofcontents on-this-page page-toc local-toc breadcrumb breadcrumbs pagination pager "
    "navbar nav-bar topnav site-header site-footer site-nav page-footer global-nav footer skip-link skiplink skip-nav "
    "skip-to-content edit-page edit-link edit-this-page editlink edit-on-github feedback page-feedback helpful "
    "was-this-helpful cookie-banner cookie-consent cookie-notice share social-share sharing share-buttons "
    "advertisement newsletter back-to-top backtotop hamburger searchbox search-box search-form copybtn copy-button"
)
_IDS = names(
    "footer toc banner titlearea main-nav nav-path side-nav msearchselectwindow msearchresultswindow preamble-nav "
    "page-header breadcrumbs breadcrumb navigation navbar skip-link table-of-contents site-header site-footer langbox "
    "site-navigation disqus_thread cookie-banner searchbox mw-navigation"
)
_SUBJECTS = names(
    "toc table-of-contents breadcrumb breadcrumbs pagination pager navbar footer feedback helpful share sharing banner "
    "navigation advertisement newsletter hamburger related noprint"
)
"""Of these names, those that a section of the main content may have: it is about such a thing, or not for paper."""
_STATEMENT = re.compile(r"\w\W*[.!。！]\W*(?:\s|$)")
_SHORTEST_STATEMENT = 30
"""Characters beside its links of an element that states something; labels and buttons are shorter."""
_COOKIES = names("cookie-banner cookie-consent cookie-notice")
"""Those that a section of the main content may have, if it has a heading."""
_BESIDE = names("sidebar sidenav side-bar leftnav rightnav menu nav quickview")
_ABOVE = names("summary path tabs tabs2 tabs3")
"""Names of what stands above the text on some pages; with a heading of its own it is a section (of javadoc)."""
_MAYBE = names("header") | _BESIDE | _ABOVE
"""Names of boxes with navigation on some pages and content on others: the share of links decides."""
_MAYBE_IDS = _MAYBE | names("top")
"""As a class, ``top`` is a box of Haddock: each holds a function."""
_CONTENT_TAGS = HEADINGS | names("a body article main thead tbody tfoot tr td th caption")
"""On these elements, such a name does not mean a box with navigation."""


def remove_furniture(main: Element) -> list[LeftOutText]:
    """Remove everything whose tag, role, class or id means navigation or a page tool, in place, and return it.

    What an element is called makes it suspect only: a section of the main content may be about such a thing. It is one
    if it states something, or has a heading and neither links nor anything to press or to type into.
    """
    title = next(main.iter("h1"), None)
    inside = (element for element in main.iter() if element is not main)
    contents = PageContents(main)
    after = set(_after_the_footer(main, contents))
    before = set(_beside_before(title, main, contents)) if title is not None else set()

    def why(element: Element) -> _Why:
        if element in before:
            return "place"
        if element in after:
            return "links"
        why_furniture = _why_furniture(element, contents)
        if why_furniture == "name" and _is_section(element, contents):
            return ""
        return why_furniture or _why_site_header(element, title is not None, contents)

    return _leave_out(main, ((each, why(each)) for each in inside))


def _beside_before(title: Element, main: Element, contents: PageContents) -> Iterator[Element]:
    """Yield the boxes beside the page that come before its title, whatever they say: on search or keys."""
    boxes = BLOCKS - _CONTENT_TAGS
    for element in takewhile(lambda each: each is not title, main.iter()):
        if element.tag in boxes and not _BESIDE.isdisjoint({*classes(element), (element.get("id") or "").lower()}):
            yield from [] if contents.has_title(element) else [element]


def _after_the_footer(main: Element, contents: PageContents) -> Sequence[Element]:
    """Return what follows the last footer, if all of that is links: navigation that is shown beside the page."""
    footers = [each for each in main.iter() if each.tag == "footer" or (each.get("id") or "").lower() == "footer"]
    if not footers or footers[-1] is main:
        return []
    ends = takewhile(lambda each: each is not main, footers[-1].iterancestors())
    after = [each for end in (footers[-1], *ends) for each in end.itersiblings() if contents.characters(each)]
    return after if all(_is_mostly_links(each, contents) for each in after) else []


def _leave_out(main: Element, candidates: Iterable[tuple[Element, _Why]]) -> list[LeftOutText]:
    """Remove the elements that there is a reason for."""
    left_out: list[LeftOutText] = []
    for element, why in candidates:
        if why:
            if not is_inside(element, "template"):  # else it is said already
                left_out.append(LeftOutText(text=text_of(element, _MOST_SAID), why=why))
            element.tag = "template"
    etree.strip_elements(main, "template", with_tail=False)
    return left_out


def _why_furniture(element: Element, contents: PageContents) -> _Why:
    if element.tag in _TAGS or element.get("role") in _ROLES:
        return "" if element.tag == "footer" and is_inside(element, "blockquote", "figure") else "name"
    own_classes, identifier = set(classes(element)), (element.get("id") or "").lower()
    if not (own_classes or identifier) or element.tag in _CONTENT_TAGS:
        return ""
    furniture = (own_classes & _CLASSES) | ({identifier} & _IDS)
    if element.tag == "sup":  # in a sentence: "citation needed"
        furniture -= _SUBJECTS
    if furniture:
        may_be_content = furniture <= _SUBJECTS or (furniture <= _COOKIES and contents.has_heading(element))
        if may_be_content and (_states_something(element, contents) or _has_named_columns(element)):
            return ""
        if _FOOTER_TEXT.search(contents.text(element, _LONGEST)):
            return "words"
        return "links" if _is_mostly_links(element, contents) else "name"
    # The contents directive of docutils has both classes; ``contents`` alone is Doxygen's main content.
    if {"contents", "topic"} <= own_classes:
        return "name"
    if identifier == "title" and element.tag == "p":  # Publican's product logos
        return "name"
    maybe = (own_classes & _MAYBE) | ({identifier} & _MAYBE_IDS) if element.tag in BLOCKS else set()
    if not maybe or contents.has_title(element) or (maybe <= _ABOVE and contents.has_heading(element)):
        return ""
    return "links" if _is_mostly_links(element, contents) else ""


def _has_named_columns(element: Element) -> bool:
    """Return whether the element is a table whose first row names its columns: Apache's related directives."""
    rows = own_rows(element) if element.tag == "table" else []
    names_of_columns = [cell for cell in cells_of(rows[0]) if cell.tag == "th" and has_text(cell)] if rows else []
    return len(rows) > 1 and len(names_of_columns) == len(rows[0]) > 1


def _is_section(element: Element, contents: PageContents) -> bool:
    """Return whether the element is a section of the main content with nothing that leads elsewhere.

    Where the page declares no main content, a section has a heading and stands between two others.
    """
    leads_elsewhere = bool(contents.links(element)) or element.get(_HOLDS_CONTROLS) is not None
    if leads_elsewhere or element.tag == "footer":
        return False
    text = contents.text(element, _LONGEST)
    is_headed = contents.has_heading(element) and contents.characters(element) > contents.heading_characters(element)
    if not _is_in_main(element) and not (is_headed and contents.is_between_headings(element)):
        return False
    is_tool = bool(_FOOTER_TEXT.search(text) or _QUESTION.search(text))
    return not is_tool and (is_headed or _states_something(element, contents))


def _is_in_main(element: Element) -> bool:
    """Return whether the element stands in what the page declares its main content."""
    return any(each.tag in ("main", "article") or each.get("role") == "main" for each in element.iterancestors())


def _states_something(element: Element, contents: PageContents) -> bool:
    """Return whether the element makes statements in the main content."""
    if not _is_in_main(element) or _is_mostly_links(element, contents):
        return False
    text = contents.text(element, _LONGEST)
    is_long = contents.characters(element) - contents.linked_characters(element) >= _SHORTEST_STATEMENT
    return is_long and bool(_STATEMENT.search(text)) and not (_FOOTER_TEXT.search(text) or _QUESTION.match(text))


def _why_site_header(header: Element, has_title: bool, contents: PageContents) -> _Why:
    if header.tag != "header" or is_inside(header, "main", "article", "section"):
        return ""
    is_header = not contents.has_title(header) and (has_title or _is_mostly_links(header, contents))
    return "name" if is_header else ""


def _is_mostly_links(element: Element, contents: PageContents) -> bool:
    characters = contents.characters(element)
    return contents.linked_characters(element) * 10 >= characters * 6 and characters > 0


_NAVIGATION_WORDS = names(
    "prev previous next up home top index contents table of back to page section chapter start forward main menu the "
    "this first last parent"
)
_RELATIONS = names("prev previous next up")
"""What a link says in ``rel`` of the page that it leads to."""
_EDIT_LINK = re.compile(
    r"\W*(?:edit|improve|view|show|report|suggest)\b.{0,30}\b(?:page|source|github|gitlab|issue|bug|edits|error)\W*$",
    re.I,
)
_QUESTION = re.compile(
    r"\W*(?:was|is|did) this (?:page|article|information|topic|content|document|answer|helpful)\b", re.I
)
_FOOTER_TEXT = re.compile(
    r"©|\(c\)\s*\d|\bcopyright\b|all rights reserved|last (?:updated|modified|changed)|generated (?:by|on)", re.I
)
_ARROW = re.compile(r"\s*[»›→▸▶❯⟩>]\s*|\s+/\s+")
_WORD = re.compile(r"[^\W_]+")
_LONGEST = 300
"""Characters that are looked at: footers say what they are at once."""
_MOST_SAID = 5_000
"""Characters of what is left out that are said of it; more is hardly a tool."""


def remove_page_tools(main: Element) -> list[LeftOutText]:
    """Remove blocks recognised as page tools by their text, in place, and return them."""
    candidates = list(main.iter("p", "div", "center", "td", "table", "ul", "li", "a", "form"))
    contents = PageContents(main)
    tools = _leave_out(main, ((each, "words") for each in candidates if _is_page_tool(each, contents)))
    left = PageContents(main) if tools else contents
    crumbs = [block for block in _before_the_title(main) if _is_breadcrumb(block, left)]
    return [*tools, *_leave_out(main, ((block, "words") for block in crumbs)), *_remove_page_end(main)]


def _before_the_title(main: Element) -> Iterator[Element]:
    """Yield the paragraphs and boxes before the first heading."""
    title = next(main.iter(*HEADINGS), None)
    around = set(title.iterancestors()) if title is not None else set()
    for block in main.iter("p", "div", "center", "td", *HEADINGS):
        if title is None or block is title:
            return
        if block not in around:
            yield block


def _is_breadcrumb(block: Element, contents: PageContents) -> bool:
    """Return whether the block is the way to the page: links with arrows between them, at last the page's own name."""
    text = contents.text(block, _LONGEST)
    if len(text) >= _LONGEST or not _ARROW.search(text) or contents.has_image(block):
        return False
    links = [text_of(link) for link in contents.links(block)]
    steps = [step.strip() for step in _ARROW.split(text)]
    return bool(links) and steps[: len(links)] == links and len(steps) - len(links) in (0, 1)


def _is_page_tool(element: Element, contents: PageContents) -> bool:
    text = contents.text(element, _LONGEST)
    if not text or _leads_around(element, contents):
        return bool(text)
    if len(text) >= _LONGEST:
        return False
    if element.tag == "a":
        return bool(_EDIT_LINK.match(text)) and _stands_alone(element, contents)
    return bool(_QUESTION.match(text)) or _is_plain_navigation(element, text, contents)


def _stands_alone(link: Element, contents: PageContents) -> bool:
    parent = link.getparent()
    if parent is None or parent.tag in ("li", "td", "dd"):
        return False
    return len(contents.text(parent, _LONGEST)) < 2 * len(text_of(link)) + 30


def _leads_around(element: Element, contents: PageContents) -> bool:
    """Return whether the element contains only links, one of them to the next page or the like, or all to languages."""
    links = contents.links(element)
    is_around = any(_RELATIONS.intersection((link.get("rel") or "").split()) for link in links)
    is_translated = len(links) > 1 and all(link.get("hreflang") for link in links)
    if element.tag == "a" or not (is_around or is_translated):
        return False
    words = Counter(_WORD.findall(contents.text(element, _MOST_SAID).lower()))
    words.subtract(word for link in links for word in _WORD.findall(text_of(link).lower()))
    return _NAVIGATION_WORDS.issuperset(+words)


def _is_plain_navigation(element: Element, text: str, contents: PageContents) -> bool:
    """Return whether the element contains only links like Prev, Up, Next; a single one may be content."""
    found = contents.links(element)
    if not 2 <= len(found) <= 8:
        return False
    links = [_WORD.findall(text_of(link).lower()) for link in found]
    if not all(label and set(label) <= _NAVIGATION_WORDS for label in links):
        return False
    return len(_WORD.findall(text)) == sum(map(len, links))


def _remove_page_end(main: Element) -> list[LeftOutText]:
    """Remove everything after the last rule of a page if it is a line of links or a copyright notice."""
    rules = list(main.iter("hr"))
    if not rules or not _ends_the_page(rules[-1], main):
        return []
    following = list(rules[-1].itersiblings())
    text = " ".join([rules[-1].tail or "", *(text_of(element) for element in following)])
    linked = [text_of(link) for element in following for link in element.iter("a") if link.get("href")]
    unlinked = len(_WORD.findall(text)) - len(_WORD.findall(" ".join(linked)))
    is_short = len(text) < _LONGEST
    if is_short and _FOOTER_TEXT.search(text) and not _is_notice(text):
        return _leave_out(main, ((each, "words") for each in following if _is_notice(text_of(each))))
    if (len(linked) > 1 and unlinked <= len(linked)) or (is_short and _FOOTER_TEXT.search(text)):
        for element in following:
            element.tag = "template"
        rules[-1].tail = None
        etree.strip_elements(main, "template", with_tail=True)
        return [LeftOutText(text=text, why="words")]
    return []


def _is_notice(text: str) -> bool:
    """Return whether it says whose the page is or of when, and states nothing before that."""
    notice = _FOOTER_TEXT.search(text)
    return notice is not None and not _STATEMENT.search(text[: notice.start()])


def _ends_the_page(rule: Element, main: Element) -> bool:
    """Return whether the rule ends the page, and not a section or the list of footnotes."""
    if any(element.tag in HEADINGS for element in rule.itersiblings()):
        return False
    for ancestor in rule.iterancestors():
        if ancestor is main:
            return True
        if any("footnote" in name for name in classes(ancestor)) or (ancestor.tail or "").strip():
            return False
        if any(has_text(element) for element in ancestor.itersiblings()):
            return False
    return False
