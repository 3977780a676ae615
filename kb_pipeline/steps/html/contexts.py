"""The text right before each image: the step it shows."""

from lxml import etree

from kb_pipeline.steps.html.dom import Element, is_block
from kb_pipeline.steps.html.placeholders import PLACEHOLDER, without_placeholders

_LONGEST = 300


def contexts_of(main: Element, places: dict[str, str]) -> dict[str, str]:
    """For each image file, the words before its first marker: of its own block, else of the one before.

    ``places`` maps the placeholder of each marker to its file.
    """
    contexts: dict[str, str] = {}
    before, block = "", ""
    for event, element in etree.iterwalk(main, events=("start", "end")) if places else ():
        if is_block(element) and block:
            before, block = _words(block) or before, ""
        text = str((element.text if event == "start" else element.tail) or "")
        for match in PLACEHOLDER.finditer(text):
            file = places.get(match[0])
            if file is not None:
                contexts.setdefault(file, _words(block + text[: match.start()]) or before)
        # Only the end of a long block can become a context.
        block = (block + text)[-4 * _LONGEST :]
    return contexts


def _words(text: str) -> str:
    words = " ".join(without_placeholders(text).split())
    return words if len(words) <= _LONGEST else "..." + words[3 - _LONGEST :]
