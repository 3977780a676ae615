"""Check that the markdown contains everything in the HTML: headings, links, tables and code blocks, counted in both.

The rule is exact, because the HTML's counts cover only what must survive: headings and links with words outside of
code, data tables that are not nested, code blocks with code outside of tables. More than in the HTML is fine: a link
around an image becomes a link around the image's words. Text is compared by its letters and digits: words are glued or
split where markup stands between them (``<b>name</b>=<i>value</i>``). Not here: images (``served_images``).
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from kb_pipeline.records import CheckResult, ConvertedArticle, Link
from kb_pipeline.steps.checks.contents import contents_of, letters_in, markers_of, same_target
from kb_pipeline.steps.checks.specs import number, outcome, some

_MAX_LOSS = 0.05
"""Share of letters that may be lost: what the two count differently, but no section."""
_FEW_LETTERS = 20
"""Letters that may be lost of any article: a button, a symbol."""
_WORD = re.compile(r"\w+")
_ADVICE = (
    "Compare the converted markdown with the source; write that part of the HTML more plainly or choose another "
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

    Up to one letter in twenty, or 20 letters, may be missing, because a service that reads the page misses some words.
    """
    contents, counts = contents_of(article.markdown), article.counts
    problems = [
        *_lost_letters(article, contents.letters),
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


def _lost_letters(article: ConvertedArticle, letters_and_markers: int) -> Iterable[str]:
    markers = sum(letters_in(article.markdown[marker.start : marker.end]) for marker in markers_of(article.markdown))
    expected = article.counts.letters
    lost = expected - (letters_and_markers - markers)
    if lost > max(_FEW_LETTERS, _MAX_LOSS * expected):
        yield f"{lost:,} of {number(expected, 'letter')} lost"


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
