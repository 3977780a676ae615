"""What the styles of a Word document say, also through those on which they are based, and its elements by name.

Elements are found by their local names, because there are two namespaces: transitional and strict.
"""

from collections.abc import Iterable
from functools import cache
from typing import Any

Element = Any
"""An element of lxml."""

OFF = {"0", "false", "off", "none"}
_MOST_BASES = 50
"""Word itself follows fewer; a damaged file may name a thousand."""


def child(element: Element | None, *names: str) -> Element | None:
    """The child of this name, or the one at the end of a path of names."""
    for name in names:
        element = None if element is None else element.find(f"{{*}}{name}")
    return element


def value(element: Element | None, name: str = "val") -> str:
    """An attribute by its local name; "" if it is not there."""
    attributes: Iterable[tuple[Any, Any]] = () if element is None else element.attrib.items()
    return next((str(said) for key, said in attributes if str(key).rpartition("}")[2] == name), "")


def is_on(element: Element | None) -> bool:
    """Whether a property that is switched on and off is there and on."""
    return element is not None and value(element) not in OFF


def made_like(element: Element, name: str) -> Element:
    """A new element in the namespace of another one."""
    return element.makeelement(element.tag.rpartition("}")[0] + "}" + name, {})


class WordStyles:
    """The styles of ``word/styles.xml``."""

    def __init__(self, part: Element | None) -> None:
        self._by_id: dict[str, Element] = {}
        self.default = ""
        """The style of paragraphs that name none."""
        for style in () if part is None else part.iter("{*}style"):
            self._by_id.setdefault(value(style, "styleId"), style)
            if value(style, "type") == "paragraph" and value(style, "default") in ("1", "true", "on"):
                self.default = self.default or value(style, "styleId")
        self.run_defaults = None if part is None else child(next(part.iter("{*}rPrDefault"), None), "rPr")
        self.chain = cache(self._chain)

    def _chain(self, style: str) -> tuple[Element, ...]:
        """A style, and those on which it is based, the nearest first."""
        styles: list[Element] = []
        while (one := self._by_id.get(style)) is not None and one not in styles and len(styles) < _MOST_BASES:
            styles.append(one)
            style = value(child(one, "basedOn"))
        return tuple(styles)

    def of_paragraph(self, paragraph: Element) -> str:
        """The id of the style of a paragraph."""
        return value(child(paragraph, "pPr", "pStyle")) or self.default

    def name(self, style: str) -> str:
        """What the style is called, in lower case; "" if there is none. Word writes other names behind a comma."""
        return name_in(self._by_id.get(style))

    def first(self, style: str, *path: str) -> Element | None:
        """The first that a style, or one on which it is based, says at this path."""
        return next((said for one in self.chain(style) if (said := child(one, *path)) is not None), None)


def name_in(style: Element | None) -> str:
    """What a style is called, in lower case."""
    return " ".join(value(child(style, "name")).partition(",")[0].casefold().split())
