"""Is all there that the HTML holds? Headings, links, tables and code blocks, counted anew in the markdown.

The rule is exact, because the HTML's counts are of what must survive as what it is: headings and links that have
words and stand outside code, tables that hold data and stand in no other table, code blocks that hold code and stand in
no table. More than the HTML has is fine: a link around an image goes on as a link around the image's words. Of words,
only a large part can be missed for certain.
Not here: images (``image_markers``).
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from kb_pipeline.records import CheckResult, ConvertedArticle, Link
from kb_pipeline.steps.checks.contents import contents_of, markers_of, same_target
from kb_pipeline.steps.checks.results import number, outcome, some
from kb_pipeline.steps.chunk.plain import plain_text

_MOST_WORDS = 0.75
_FEW_WORDS = 10
_WORD = re.compile(r"\w+")
_ADVICE = (
    "Compare the converted markdown with index.html; write that part of the HTML more plainly or choose another "
    "analyzer, then materialise converted_markdown again."
)


def article_is_not_empty(article: ConvertedArticle) -> CheckResult:
    """The article holds words or an image."""
    markers = markers_of(article.markdown)
    ends = [0, *(marker.end for marker in markers)]
    starts = [*(marker.start for marker in markers), None]
    words = sum(len(_WORD.findall(article.markdown[a:b])) for a, b in zip(ends, starts, strict=True))
    problem = f"the markdown holds no word and no image; the HTML holds {number(article.counts.words, 'word')}"
    return outcome(
        "article_is_not_empty",
        [] if words or markers else [problem],
        _ADVICE,
        {"words": words, "images": len(markers)},
    )


def structure_is_preserved(article: ConvertedArticle) -> CheckResult:
    """The markdown holds no fewer headings, links, tables and code blocks than the HTML, and every link's target.

    A quarter of the words may differ: alternative texts and labels of the page count as words here or there.
    """
    contents, counts = contents_of(article.markdown), article.counts
    problems = [
        *_lost_words(article),
        *_fewer("heading", counts.headings, contents.headings, "the article has"),
        *_lost_links(article, contents.link_targets),
        *_fewer("table", counts.tables, contents.tables, "those left stand in"),
        *_fewer("code block", counts.code_blocks, contents.code_blocks, "those left stand in"),
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


def _lost_words(article: ConvertedArticle) -> Iterable[str]:
    """A lost part of the text. How words are counted differs a little, so that only many can be certain."""
    words = len(plain_text(article.markdown).split())
    if words + _FEW_WORDS < article.counts.words * _MOST_WORDS:
        yield f"about {article.counts.words - words:,} of {number(article.counts.words, 'word')} lost"


def _fewer(noun: str, wanted: int, found: Sequence[str], left: str) -> Iterable[str]:
    """What is lost can't be named, only what is left."""
    if len(found) < wanted:
        titles = list(dict.fromkeys(title or "(before the first heading)" for title in found))
        where = f" ({left} {some(titles)})" if titles else ""
        yield f"{wanted - len(found):,} of {number(wanted, noun)} lost{where}"


def _lost_links(article: ConvertedArticle, found: Sequence[str]) -> Iterable[str]:
    left = Counter(found)
    lost = [link for link in article.links if not _take(left, link)]
    named = f": {some([f'{link.label} -> {link.target}' for link in lost])}" if lost else ""
    if len(found) < article.counts.links:
        yield f"{article.counts.links - len(found):,} of {number(article.counts.links, 'link')} lost{named}"
    elif lost:
        yield f"{number(len(lost), 'link')} lead elsewhere than in the HTML{named}"


def _take(left: Counter[str], link: Link) -> bool:
    target = same_target(link.target)
    left[target] -= 1
    return left[target] >= 0
