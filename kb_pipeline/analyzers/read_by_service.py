"""What a service read of an article or document, and how much of it that was, which services do not report."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from kb_pipeline.errors import ServiceError
from kb_pipeline.records import ConvertedArticle, ImageInfo
from kb_pipeline.sources import SourceDocument
from kb_pipeline.steps.restore import own_reading, restore_document

_ENOUGH, _TOO_LITTLE = 0.9, 0.5
"""Shares of the text below which there is a warning (and a document is converted by rules), or an error."""

_NO_TEXT = re.compile(r"\[\[(?:IMG|PAGE):[^\]]*\]\]|(?<=\])\([^()\s]*\)")
"""Marks of images and pages, which a service does not see as such, and link targets, which are not printed."""


def check_read(service: str, markdown: str, texts: Sequence[str]) -> tuple[str, ...]:
    """Return a warning if part of an article was not read; ``markdown`` is our own reading of the same.

    Raises:
        ServiceError: less than half was read.
    """
    share = share_read(markdown, texts)
    if share >= _ENOUGH:
        return ()
    message = f"{service} read {share:.0%} of the article's text"
    if share < _TOO_LITTLE:
        raise ServiceError(f"{message}; convert the article with another KB_ANALYZER, or try again")
    return (message,)


def converted_document(
    service: str,
    converter: str,
    name: str,
    document: SourceDocument,
    images: Mapping[str, ImageInfo],
    texts: Sequence[str],
    article_id: str,
) -> ConvertedArticle:
    """Build an article from the ``texts`` that a service read of a document: one for each page, or one of the whole.

    If the service left out more than a tenth of what its source read, such as the data of charts, nothing is lost: the
    document is converted by rules.

    Raises:
        EmptyArticleError: nobody found text or an image in it.
    """
    own = own_reading(article_id, name, document.html, images, document.pages, document.left_out)
    if (share := share_read(own.article.markdown, texts)) >= _ENOUGH:
        return restore_document(own, texts, converter)
    warning = f"{service} read {share:.0%} of the text of {name}, so it was converted by rules"
    return own.article.model_copy(update={"warnings": (*own.article.warnings, warning)})


def share_read(markdown: str, texts: Sequence[str]) -> float:
    """Return the share (0 to 1) of an article's text that was read, by runs of three letters in any order.

    A misread letter costs three runs and a lost space none, and this works for languages without spaces.
    """
    expected, read = _trigrams(_NO_TEXT.sub("", markdown)), _trigrams("".join(texts))
    return (expected & read).total() / expected.total() if expected else 1.0


def _trigrams(text: str) -> Counter[str]:
    letters = "".join(filter(str.isalnum, text.casefold()))
    return Counter(letters[start : start + 3] for start in range(len(letters) - 2))
