"""Check that a summary says what its document says, and that all rows of an article are there."""

import re
from collections.abc import Sequence

from kb_pipeline.records import CheckResult, Chunk, DocumentSummary, Manifest, sections
from kb_pipeline.steps.checks.specs import named, outcome
from kb_pipeline.steps.summary import LONGEST_BRIEF, LONGEST_STANDARD, readable_text

_WORDS = re.compile(r"\w+")


def summary_is_quoted(markdown: str, summary: DocumentSummary) -> CheckResult:
    """Check that every sentence of the summary stands word for word in the converted markdown, and that it is short."""
    text = _words_of(readable_text(markdown))
    quoted = [*summary.brief, *(sentence for paragraph in summary.standard for sentence in paragraph)]
    invented = [sentence.text for sentence in dict.fromkeys(quoted) if _words_of(sentence.text) not in text]
    lengths = (
        ("brief", len(summary.brief_text), LONGEST_BRIEF),
        ("standard", len(summary.standard_text), LONGEST_STANDARD),
    )
    long = [f"{name}: {length:,} characters, not {most:,}" for name, length, most in lengths if length > most]
    return outcome(
        "summary_is_quoted",
        [*named("sentence", "of the summary that the document does not say", invented), *long],
        "Readers may see it in the list of documents; the article itself is not concerned.",
        {"sentences": len(quoted), "invented": len(invented)},
    )


def _words_of(text: str) -> str:
    return f" {' '.join(_WORDS.findall(text.casefold()))} "


def rows_are_complete(rows: Sequence[Chunk], manifest: Manifest) -> CheckResult:
    """Check that there is one row for the article as a whole and one for each of its images, in one of its sections."""
    images = [row for row in rows if row.block_type == "image"]
    documents = [row for row in rows if row.block_type == "document"]
    expected = {f"{manifest.article_id}/{image.path}" for image in manifest.images}
    described = [url for row in images for url in row.image_urls]
    ids = {section.id for section in sections(rows)}
    problems = [
        *named("image", "without a row", sorted(expected - set(described))),
        *named("image row", "too many", sorted({url for url in described if described.count(url) > 1})),
        *named("image row", "of no image of the article", sorted(set(described) - expected)),
        *named("image row", "in no section", [row.id for row in images if row.part_of not in ids]),
    ]
    if len(documents) != 1:
        problems.append(f"{len(documents)} rows are about the article as a whole")
    return outcome(
        "rows_are_complete",
        problems,
        "Materialize chunks again.",
        {"images": len(images), "documents": len(documents)},
    )
