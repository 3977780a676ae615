"""The caption of an image: where DocBook, DITA-OT, Sphinx, AsciiDoctor and HTML itself put it."""

from kb_pipeline.steps.html.dom import Element, classes, names, text_of
from kb_pipeline.steps.html.placeholders import without_placeholders

_FIGURES = names("figure informalfigure imageblock fig mediaobject screenshot image wp-caption thumb thumbinner")
_CAPTIONS = names("title caption figcap figtitle caption-text wp-caption-text thumbcaption figure-title")
_CLIMB = 5
_LONGEST = 500


def caption_of(image: Element) -> str:
    """The nearest caption around the image, or nothing."""
    for climbed, ancestor in enumerate(image.iterancestors()):
        if climbed == _CLIMB or ancestor.tag in ("body", "table", "li"):
            break
        if ancestor.tag == "figure" or not _FIGURES.isdisjoint(classes(ancestor)):
            caption = _caption_in(ancestor)
            if caption:
                return caption
    return ""


def _caption_in(figure: Element) -> str:
    for element in figure.iterdescendants():
        if element.tag == "figcaption" or not _CAPTIONS.isdisjoint(classes(element)):
            caption = without_placeholders(text_of(element)).strip()
            if caption:
                return caption[:_LONGEST]
    return ""
