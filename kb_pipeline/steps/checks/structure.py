"""Check that the markdown contains everything in the HTML: headings, links, tables and code blocks, counted in both.

The rule is exact, because the HTML's counts cover only what must survive: headings and links with words outside of
code, data tables that are not nested, code blocks with code outside of tables. More than in the HTML is fine: a link
around an image becomes a link around the image's words. Of words, only a large loss is certain. Not here: images
(``served_images``).
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from kb_pipeline.records import CheckResult, ConvertedArticle, Link
from kb_pipeline.steps.checks.contents import contents_of, markers_of, same_target
from kb_pipeline.steps.checks.specs import number, outcome, some
from kb_pipeline.steps.chunk.plain import plain_text

_MOST_WORDS = 0.75
_FEW_WORDS = 10
_WORD = re.compile(r"\w+")
_ADVICE = (
    "Compare the converted markdown with index.html; write that part of the HTML more plainly or choose another "
    "analyzer, then materialize converted_markdown again."
)


def article_is_not_empty(article: ConvertedArticle) -> CheckResult:
    """Check that the article contains words or an image."""
    markers = markers_of(article.markdown)
    ends = [0, *(marker.end for marker in markers)]
    starts = [*(marker.start for marker in markers), None]
    words = sum(len(_WORD.findall(article.markdown[a:b])) for a, b in zip(ends, starts, strict=True))
    problem = f"the markdown contains no word and no image; the HTML contains {number(article.counts.words, 'word')}"
    return outcome(
        "article_is_not_empty",
        [] if words or markers else [problem],
        _ADVICE,
        {"words": words, "images": len(markers)},
    )


def structure_is_preserved(article: ConvertedArticle) -> CheckResult:
    """Check that the markdown has as many headings, links, tables and code blocks as the HTML, and every link's target.

    A quarter of the words may be missing, because alternative texts and labels of the page count as words in only one
    of the two.
    """
    contents, counts = contents_of(article.markdown), article.counts
    words = len(plain_text(article.markdown).split())
    too_few = words + _FEW_WORDS < counts.words * _MOST_WORDS
    problems = [
        *([f"about {counts.words - words:,} of {number(counts.words, 'word')} lost"] if too_few else ()),
        *_fewer("heading", counts.headings, contents.headings, "the article has"),
        *_lost_links(article, contents.link_targets),
        *_fewer("table", counts.tables, contents.tables, "the remaining ones are in"),
        *_fewer("code block", counts.code_blocks, contents.code_blocks, "the remaining ones are in"),
    ]
    return outcome(
        "structure_is_preserved",
        problems,
        _ADVICE,
        {
            "headings": len(contents.headings),
            "links": len(contents.link_targets),
            "tables": len(contents.tables),
            "code_blocks": len(contents.code_blocks),
        },
    )


def _fewer(noun: str, expected: int, sections: Sequence[str], location: str) -> Iterable[str]:
    """Report how many are lost and, as those cannot be named, where the remaining ones are."""
    if len(sections) < expected:
        titles = list(dict.fromkeys(title or "(before the first heading)" for title in sections))
        where = f" ({location} {some(titles)})" if titles else ""
        yield f"{expected - len(sections):,} of {number(expected, noun)} lost{where}"


def _lost_links(article: ConvertedArticle, targets: Sequence[str]) -> Iterable[str]:
    remaining = Counter(targets)
    lost: list[Link] = []
    for link in article.links:
        target = same_target(link.target)
        remaining[target] -= 1
        if remaining[target] < 0:
            lost.append(link)
    labels = f": {some([f'{link.label} -> {link.target}' for link in lost])}" if lost else ""
    if len(targets) < article.counts.links:
        yield f"{article.counts.links - len(targets):,} of {number(article.counts.links, 'link')} lost{labels}"
    elif lost:
        yield f"{number(len(lost), 'link')} lead elsewhere than in the HTML{labels}"
