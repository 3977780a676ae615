"""Keys of the keyboard that only a style sheet tells apart: ``Ctrl`` ``H`` becomes ``Ctrl+H``."""

from kb_pipeline.steps.html.dom import Element, classes

_KEY_CLASSES = frozenset({"keycap", "key", "kbd", "keysym"})


def join_keys(main: Element) -> None:
    """Put a plus sign between keys that follow each other without any text between."""
    for key in main.iter("kbd", "span"):
        following = key.getnext()
        if not key.tail and following is not None and _is_key(key) and _is_key(following):
            key.tail = "+"


def _is_key(element: Element) -> bool:
    return element.tag == "kbd" or not _KEY_CLASSES.isdisjoint(classes(element))
