"""Which part of a page is the article: everything around it belongs to the site."""

from lxml import etree

from kb_pipeline.steps.html.dom import Element, has_text, names, text_of

_INVISIBLE = names(
    "script style noscript template svg iframe object embed video audio canvas select button textarea input "
    "datalist map head title meta link base colgroup col applet frameset dialog progress meter"
)


def visible_body(page: Element) -> Element:
    """The page's body, without what a browser does not show as text."""
    body = next(page.iter("body"), page)
    _drop_invisible(body)
    return body


def find_main_content(body: Element) -> Element:
    """Return the element that holds the article; the body should be free of furniture.

    Takes ``main`` (or its role) where a page says so, or the only ``article`` if most of the text
    is in it, else the body. A first heading that stands outside is moved in: those of AsciiDoctor
    and many themes do.
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


def _drop_invisible(body: Element) -> None:
    for element in list(body.iter("input", "object", "picture")):
        _show_as_image(element)
    etree.strip_elements(body, *_INVISIBLE, with_tail=False)
    hidden = [element for element in body.iter() if element is not body and _is_hidden(element)]
    for element in hidden:
        element.tag = "template"
    etree.strip_elements(body, "template", with_tail=False)


def _show_as_image(element: Element) -> None:
    """Image buttons, embedded images, and pictures without an ``img`` become ``img``."""
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


def _is_hidden(element: Element) -> bool:
    if element.get("hidden") is not None:
        return True
    style = element.get("style")
    return style is not None and "display:none" in style.lower().replace(" ", "")


def _declared_main(body: Element) -> Element | None:
    mains = [element for element in body.iter() if element.tag == "main" or element.get("role") == "main"]
    main = _only_one([element for element in mains if _is_filled(element)])
    if main is not None:
        return main
    article = _only_one([element for element in body.iter("article") if _is_filled(element)])
    return article if article is not None and len(text_of(article)) * 2 > len(text_of(body)) else None


def _only_one(elements: list[Element]) -> Element | None:
    """The one element, or the one around all others."""
    if elements and all(elements[0] in element.iterancestors() for element in elements[1:]):
        return elements[0]
    return None


def _is_filled(element: Element) -> bool:
    return has_text(element) or next(element.iter("img"), None) is not None
