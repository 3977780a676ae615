"""The file of a picture: pages name several, and show a blank one until readers come near, or a small one to click on.

First what the tools for loading pictures late name, then ``src``, and the same in other widths, unless it is a spacer,
then whatever else the page names in this place. A link from a picture to a larger one of the folder shows that one.
Here, too: pictures that stand in ``noscript``, behind an empty box, or in elements other than ``img``.
"""

import re
from collections.abc import Mapping

from kb_pipeline.records import ImageInfo, ImageProblem
from kb_pipeline.steps.html.dom import Element, has_text, text_of
from kb_pipeline.steps.html.image_files import ImageFiles

LATE_SOURCES = re.compile(r"data-(?:[a-z]+-)*(?:[a-z]*src|srcset|original|lazy|echo|img|image|bg|background)")
"""Attributes in which tools that load pictures late name them."""
_WIDTHS = re.compile(r"\s[0-9]+w\s*(?:,|$)")
"""Of pictures that are told by their widths, a screen that is wide shows the widest."""
_BUTTON = 64
"""Pixels of the shorter side up to which a picture may be the sign on a button."""
_SPACER = 32
"""Pixels up to which a picture may stand in the place of another one."""
_BACKGROUND = re.compile(r"background(?:-image)?\s*:[^;:]*?url\(\s*['\"]?([^'\")]+)", re.I)
_BACKED = ("div", "span", "a", "figure", "section", "i", "td")
_REMOTE = re.compile(r"\s*(?:[a-z][a-z0-9+.-]*:|//)", re.I)


_NOSCRIPT = "data-noscript"
"""The attribute in which the picture for readers without scripts is kept."""
_OTHERS = ("srcset", _NOSCRIPT, "data-sources")


def show_pictures(page: Element, files: ImageFiles) -> None:
    """Turn what readers see as a picture into ``img`` with all addresses that the page names for it, in place."""
    for hidden in list(page.iter("noscript")):
        _take_from_noscript(hidden)
    for picture in page.iter("picture"):
        image = next(picture.iter("img"), None)
        if image is not None:
            sources = (source.get(name) for source in picture.iter("source") for name in ("srcset", "data-srcset"))
            image.set("data-sources", ", ".join(filter(None, sources)))
    for element in page.iter("amp-img", "embed", "video"):
        address = element.get("poster") if element.tag == "video" else element.get("src")
        is_picture = element.tag != "embed" or (element.get("type") or "").lower().startswith("image/")
        if address and is_picture:
            _become_image(element, address)
    for drawing in list(page.iter("svg")):
        inner = next(drawing.iter("image"), None)
        address = (inner.get("href") or inner.get("xlink:href") or "") if inner is not None else ""
        if address and isinstance(files.find(address), ImageInfo):
            _become_image(drawing, address)
    of_rules = _backgrounds_of_rules(page)
    for box in list(page.iter(*_BACKED)):
        addresses = _backgrounds(box, of_rules) if not len(box) and not has_text(box) else []
        if address := next((each for each in addresses if isinstance(files.find(each), ImageInfo)), ""):
            image = box.makeelement("img", src=address, alt=box.get("aria-label") or box.get("title") or "")
            box.append(image)
    for button in list(page.iter("button")):
        images = [find_file(image, files) for image in button.iter("img")]
        if any(isinstance(info, ImageInfo) and min(info.width, info.height) > _BUTTON for info in images):
            button.tag = "div"  # a click enlarges the picture


def _backgrounds_of_rules(page: Element) -> dict[str, str]:
    """Return the pictures that rules of the page put behind all elements with a class or an id."""
    rules = (rule.rpartition("{") for sheet in page.iter("style") for rule in (sheet.text or "").split("}"))
    backgrounds = ((before, match[1]) for before, _, style in rules if (match := _BACKGROUND.search(style)))
    return {selector.strip(): address for before, address in backgrounds for selector in before.split(",")}


def _backgrounds(box: Element, of_rules: Mapping[str, str]) -> list[str]:
    """Return what an element shows behind nothing: by a script, its own style, or a rule if it says what it shows."""
    late = [
        address for name in box.attrib if LATE_SOURCES.fullmatch(str(name)) for address in _addresses(box, str(name))
    ]
    if match := _BACKGROUND.search(box.get("style") or ""):
        return [*late, match[1]]
    selectors = (f"#{box.get('id')}", *(f".{name}" for name in (box.get("class") or "").split()))
    is_content = of_rules and (box.get("role") == "img" or bool(box.get("aria-label")))
    return [*late, *(of_rules[each] for each in selectors if is_content and each in of_rules)]


def loads_late(image: Element) -> bool:
    """Return whether a script gives the image its file."""
    return any(name == _NOSCRIPT or LATE_SOURCES.fullmatch(str(name)) for name in image.attrib)


def fades_in(image: Element) -> bool:
    """Return whether a script or the browser shows the image as soon as its file is there."""
    return image.get("loading") == "lazy" or image.get("onload") is not None


def find_file(image: Element, files: ImageFiles) -> ImageInfo | ImageProblem:
    """Return the file that readers see in the place of an image, or why it cannot be shown."""
    problems: list[ImageProblem] = []
    spacer: ImageInfo | None = None
    late = [str(name) for name in image.attrib if LATE_SOURCES.fullmatch(str(name))]
    own = ["src", "srcset"] if _WIDTHS.search(image.get("srcset") or "") else ["src"]
    for group in (late, own, _OTHERS):
        images = [files.find(address) for name in group for address in _addresses(image, name)]
        problems += [each for each in images if isinstance(each, ImageProblem)]
        largest = max((each for each in images if isinstance(each, ImageInfo)), key=_area, default=None)
        if largest is not None and not _may_be_spacer(largest):
            return _opened_by(image, largest, files)
        spacer = spacer or largest
    if spacer is not None:
        return spacer
    return next((each for each in problems if each.file), problems[0]) if problems else files.find("")


def _addresses(image: Element, name: str) -> list[str]:
    value = (image.get(name) or "").strip()
    if name.endswith(("set", "sources")):
        return [part.split()[0] for part in value.split(",") if part.strip()]
    return [value] if value else []


def _area(info: ImageInfo) -> int:
    return info.width * info.height


def _may_be_spacer(info: ImageInfo) -> bool:
    return 0 < max(info.width, info.height) <= _SPACER


def _opened_by(image: Element, shown: ImageInfo, files: ImageFiles) -> ImageInfo:
    """Return the larger picture that a click on this one opens, or this one."""
    link = next(image.iterancestors("a"), None)
    if link is None or has_text(link):
        return shown
    named = (value for name, value in link.attrib.items() if name == "href" or str(name).startswith("data-"))
    found = (files.find(str(value)) for value in named)
    opened = max((each for each in found if isinstance(each, ImageInfo)), key=_area, default=shown)
    return opened if 0 < _area(shown) < _area(opened) else shown


def _take_from_noscript(hidden: Element) -> None:
    """Give the picture for readers without scripts to the image that a script fills, or put it where it stands."""
    images = list(hidden.iter("img"))
    if len(images) != 1 or has_text(hidden):
        return
    address, alt = images[0].get("src") or "", images[0].get("alt") or ""
    for beside in (hidden.getprevious(), hidden.getnext()):
        twin = next(beside.iter("img"), None) if beside is not None and not has_text(beside) else None
        if twin is not None:
            twin.set(_NOSCRIPT, address)
            twin.set("alt", twin.get("alt") or alt)
            return
    if address and not _REMOTE.match(address):  # what counts readers is elsewhere
        hidden.tag = "span"


def _become_image(element: Element, address: str) -> None:
    title = next((text_of(child) for child in element.iter("title")), "")
    alt = element.get("alt") or element.get("aria-label") or element.get("title") or title
    for child in list(element):
        element.remove(child)
    element.tag, element.text = "img", None
    element.set("src", address)
    element.set("alt", alt)
