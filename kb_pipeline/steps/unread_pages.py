"""Say in an article which pages of its document could not be read completely, so that the rest can be published.

What was read of such a page stays. Not here: finding these pages (``steps.checks.pages``).
"""

import re
from collections.abc import Collection, Mapping
from itertools import zip_longest

from kb_pipeline.records import ConvertedArticle, PageInfo
from kb_pipeline.steps.markdown_parsers import block_parser
from kb_pipeline.steps.pages import find_marks


def with_unread_pages(article: ConvertedArticle, numbers: Collection[int]) -> ConvertedArticle:
    """Return the article with a sentence where each of these pages begins, and the pages marked as unread."""
    if not numbers:
        return article
    unread = {page.number: page for page in article.pages if page.number in numbers}
    pages = tuple(
        page.model_copy(update={"read_by": "unread"}) if page.number in unread else page for page in article.pages
    )
    warnings = (*article.warnings, *(f"{_sentence(page)}, so that words of it are missing" for page in unread.values()))
    markdown = _with_sentences(article.markdown, unread)
    return article.model_copy(update={"markdown": markdown, "pages": pages, "warnings": warnings})


def _sentence(page: PageInfo) -> str:
    printed = f" (printed: {page.label})" if page.label else ""
    return f"page {page.number}{printed} could not be read completely"


def _with_sentences(markdown: str, unread: Mapping[int, PageInfo]) -> str:
    """Put each sentence behind the mark of its page, or behind the block in which the page begins."""
    blocks = block_parser().parse(markdown)
    ends = sorted({token.map[1] for token in blocks if token.map and not token.level})
    starts = [0, *(line.end() for line in re.finditer("\n", markdown)), len(markdown)]
    marks = find_marks(markdown)
    parts, start = [], 0
    for mark, following in zip_longest(marks, marks[1:]):
        page = unread.get(mark.page)
        if page is None:
            continue
        if following and not markdown[mark.end : following.start].strip():  # nothing was read of it
            end, after = mark.end, following.start
        else:
            line = markdown.count("\n", 0, mark.start)
            behind = [starts[end] for end in ends if end > line]
            in_code = 1 if mark.line else 0  # the mark stands before the block
            end = after = behind[in_code] if len(behind) > in_code else len(markdown)
        sentence = _sentence(page)
        parts += [
            markdown[start:end].strip("\n"),
            f"*{sentence[0].upper()}{sentence[1:]}. The original file shows it.*",
        ]
        start = after
    parts.append(markdown[start:].strip("\n"))
    return "\n\n".join(filter(None, parts)) + "\n"
