"""What the author of an article may want to mend, as far as it shows in the published text. Pure."""

import re
from collections.abc import Iterator
from itertools import groupby

from app.schema.articles import Article

_IMAGE = re.compile(r"^[ \t]*> \*\*\[Image: ([^\]]+)\]\([^)]*\)\*\*[ \t]*$\n?((?:^[ \t]*>.*$\n?)*)", re.MULTILINE)
_WORD = re.compile(r"[^\W\d_]{2,}")
_MOST_WORDS = 1_500
"""Words of a section that few readers read to the end; of real sections 99 in 100 have fewer."""


def warnings_of(article: Article) -> tuple[str, ...]:
    """What to mend, each with why: what another article contradicts, pictures that no search finds, sections that are
    too long.

    A document with pages is printed that way, so its sections are left as they are.
    """
    sections = () if article.page_count else _long_sections(article)
    return (*_contradicted(article), *_pictures_without_text(article), *sections)


def _contradicted(article: Article) -> Iterator[str]:
    for each in article.contradictions:
        yield (
            f"This article says “{each.text}” {each.other_title} ({each.other_article_id}) says “{each.other_text}” "
            "Mend the one that is wrong."
        )


def _pictures_without_text(article: Article) -> Iterator[str]:
    for name, text in _IMAGE.findall(article.markdown):
        if not _WORD.search(text):
            yield f"The picture {name} has no text, so no question finds it. Give it an alt text."


def _long_sections(article: Article) -> Iterator[str]:
    for path, chunks in groupby(article.chunks, key=lambda chunk: chunk.heading_path):
        parts = list(chunks)
        words = sum(len(chunk.content.split()) for chunk in parts)
        name = path[-1] if path else article.title
        if len(parts) > 1:
            yield f"The section {name} is cut into {len(parts)} parts. Divide it where its subject changes."
        elif words > _MOST_WORDS:
            yield f"The section {name} has {words:,} words. Divide it by headings, so that readers find their place."
