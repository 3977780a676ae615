"""What stands around the article's words and says so: navigation, tables of contents, page tools.

Judged by tag, role, and the class names of the documentation tools; never by one site's own. What
shows itself only by its words is in ``page_tools``.
"""

from lxml import etree

from kb_pipeline.steps.html.dom import BLOCKS, HEADINGS, Element, classes, names, text_of

_TAGS = names("nav footer")
_ROLES = names("navigation banner contentinfo search")
_CLASSES = names(
    # DocBook, Publican, DITA-OT
    "navheader navfooter docnav reportbug parentlink nextlink previouslink "
    # Sphinx and its themes
    "sphinxsidebar related wy-nav-side wy-nav-top rst-versions rst-footer-buttons wy-breadcrumbs "
    "theme-toggle prev-next-area prev-next-bottom related-pages bottom-of-page "
    # Doxygen
    "navpath tabs tabs2 tabs3 sm-dox "
    # MkDocs, mdBook, Docusaurus, MediaWiki
    "md-header md-footer md-sidebar md-tabs md-content__button md-source-file nav-chapters nav-wrapper menu-bar "
    "theme-doc-breadcrumbs theme-doc-footer theme-doc-toc-mobile theme-edit-this-page pagination-nav prev-next "
    "printfooter mw-editsection catlinks noprint "
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
_MAYBE = names("sidebar sidenav side-bar leftnav rightnav menu nav header summary top path quickview")
"""Names of boxes that hold navigation on some pages and content on others: their links tell."""
_CONTENT_TAGS = HEADINGS | names("a body article main thead tbody tfoot tr td th caption")
"""What such a name on these means is not the box."""


def remove_furniture(main: Element) -> None:
    """Take away all that names itself as navigation or page tool, in place."""
    has_title = next(main.iter("h1"), None) is not None
    for element in main.iter():
        if element is not main and (_is_named(element) or _is_site_header(element, has_title)):
            element.tag = "template"
    etree.strip_elements(main, "template", with_tail=False)


def _is_named(element: Element) -> bool:
    if element.tag in _TAGS or element.get("role") in _ROLES:
        return True
    found, identifier = set(classes(element)), (element.get("id") or "").lower()
    if not (found or identifier) or element.tag in _CONTENT_TAGS:
        return False
    if identifier in _IDS or not found.isdisjoint(_CLASSES) or _is_local_contents(found):
        return True
    if identifier == "title" and element.tag == "p":  # Publican's product logos
        return True
    maybe = element.tag in BLOCKS and not _MAYBE.isdisjoint({*found, identifier})
    return maybe and next(element.iter("h1"), None) is None and _is_mostly_links(element)


def _is_local_contents(found: set[str]) -> bool:
    """The contents directive of docutils; Doxygen calls its main content ``contents``."""
    return {"contents", "topic"} <= found


def _is_site_header(header: Element, has_title: bool) -> bool:
    if header.tag != "header" or next(header.iterancestors("main", "article", "section"), None) is not None:
        return False
    return next(header.iter("h1"), None) is None and (has_title or _is_mostly_links(header))


def _is_mostly_links(element: Element) -> bool:
    characters = len(text_of(element))
    linked = sum(len(text_of(link)) for link in element.iter("a") if link.get("href"))
    return linked * 10 >= characters * 6 and characters > 0
