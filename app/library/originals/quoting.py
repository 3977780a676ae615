"""The sentences of a passage that are marked on a page: named in a URL, found in the passage. Pure."""

from collections.abc import Collection, Iterator

from app.grounding.citations import breaks_with_image_urls, with_image_urls
from app.grounding.page_pictures import quote_id
from app.language.sentences import units_of
from app.library.originals.marking import Quote
from kb_pipeline.records import Chunk

_CONTEXT = 200
"""Characters before and behind a sentence that tell it from an equal one on the same page."""


def quotes_on(chunk: Chunk, page: int, wanted: Collection[str]) -> tuple[Quote, ...]:
    """The parts of the wanted sentences that stand on a page, in the order of the passage.

    ``wanted`` are their ids, as :func:`app.grounding.page_pictures.quote_id` makes them. A sentence that goes on over a
    page has a part on both.
    """
    passage = with_image_urls(chunk.content, chunk.article_id)
    spans = list(_spans_of(chunk, page, len(passage)))
    quotes: dict[str, Quote] = {}
    for unit in units_of(passage) if wanted else ():
        name = quote_id(unit.text)
        if name in wanted and name not in quotes:
            for first, last in spans:
                start, end = max(unit.start, first), min(unit.end, last)
                if passage[start:end].strip():
                    quotes[name] = Quote(
                        passage[start:end], passage[max(0, start - _CONTEXT) : start], passage[end : end + _CONTEXT]
                    )
    return tuple(quotes.values())


def _spans_of(chunk: Chunk, page: int, length: int) -> Iterator[tuple[int, int]]:
    """Yield where the passage stands on this page."""
    breaks = breaks_with_image_urls(chunk)
    ends = [*(page_break.offset for page_break in breaks[1:]), length]
    for page_break, end in zip(breaks, ends, strict=False):
        if page_break.page == page:
            yield page_break.offset, end
