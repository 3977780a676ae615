"""All checks by name: the layer they check, what they guarantee, and whether they stop publication.

A check stops publication if it is certain and readers would miss something; a guess only warns. Also here: building a
check's result and its message.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from kb_pipeline.records import CheckResult


@dataclass(frozen=True, slots=True)
class CheckSpec:
    """A check as displayed in Dagster; ``description`` says what holds if it passed."""

    name: str
    layer: str
    description: str
    blocking: bool = True


_SPECS = (
    CheckSpec("article_is_not_empty", "converted_markdown", "The article holds words or an image."),
    CheckSpec(
        "structure_is_preserved",
        "converted_markdown",
        "No heading, link, table, code block or noticeable part of the text of the HTML is missing in the markdown.",
    ),
    CheckSpec(
        "no_markup_leaked",
        "converted_markdown",
        "The text outside code is free of HTML tags, unresolved entities and placeholders of the conversion.",
    ),
    CheckSpec(
        "no_page_code_in_text",
        "converted_markdown",
        "The text outside code holds nothing that looks like a script, a style sheet or an unfilled template.",
        blocking=False,
    ),
    CheckSpec(
        "images_are_placed",
        "converted_markdown",
        "Every content image of the HTML has its marker wherever it is shown, and every marker its image.",
    ),
    CheckSpec(
        "positions_are_known",
        "converted_markdown",
        "Every image and link that the service lost was put back among the words that surround it in the HTML.",
    ),
    CheckSpec(
        "words_are_not_stuffed",
        "converted_markdown",
        "No part of the text repeats a few words over and over, as keywords do that are meant for searches.",
        blocking=False,
    ),
    CheckSpec(
        "seen_is_published",
        "converted_markdown",
        "What readers of the page see or open stands in the markdown: words, fields, list numbers and pictures.",
        blocking=False,
    ),
    CheckSpec("pages_ascend", "converted_markdown", "Each page of a document begins once in the markdown, in order."),
    CheckSpec(
        "pages_are_covered",
        "converted_markdown",
        "The markdown of each page of a document holds the words that another reading of the file found on it.",
    ),
    CheckSpec(
        "pages_are_read",
        "converted_markdown",
        "No page of the document is published without words that are on it.",
        blocking=False,
    ),
    CheckSpec(
        "headings_follow_the_outline",
        "converted_markdown",
        "Every entry of the contents that a document carries in itself is a heading of the markdown.",
        blocking=False,
    ),
    CheckSpec(
        "summary_is_quoted",
        "document_summary",
        "Every sentence of the summaries stands word for word in the article, and they are short.",
        blocking=False,
    ),
    CheckSpec(
        "images_are_accounted_for",
        "serving_article",
        "Every content image is in article.md with its description and in the manifest; none is missing or damaged.",
    ),
    CheckSpec("chunk_sizes_are_in_bounds", "chunks", "No chunk is empty or longer than a section may be in one piece."),
    CheckSpec(
        "chunks_cover_the_article",
        "chunks",
        "Every word and image of article.md is in a chunk, in order, under unique ids and consecutive numbers.",
    ),
    CheckSpec(
        "rows_are_complete",
        "chunks",
        "There is one row for the article as a whole, and one for each of its images, in one of its sections.",
    ),
    CheckSpec(
        "vectors_are_usable",
        "chunk_embeddings",
        "There is one finite vector of norm 1 and the right width for each passage of each chunk.",
    ),
    CheckSpec(
        "index_holds_the_chunks",
        "search_index",
        "The index holds exactly the article's chunks: none missing, stale or orphaned.",
    ),
    CheckSpec(
        "statements_agree",
        "search_index",
        "No other published article says the same with another number, date or name.",
        blocking=False,
    ),
)

CHECKS: dict[str, CheckSpec] = {spec.name: spec for spec in _SPECS}
"""All checks by name, in the order of the flow."""
if len(CHECKS) < len(_SPECS):
    raise ValueError("two checks have the same name")


_NAMED = 3
"""Examples in a message; of more, the others are counted."""
_LONGEST = 80
"""Characters of an example in a message."""


def outcome(
    name: str, problems: Sequence[str], advice: str, counts: Mapping[str, int | float] | None = None
) -> CheckResult:
    """Return the check's result, passed if there are no ``problems``; ``advice`` says how to fix them."""
    message = f"{'; '.join(problems)}. {advice}" if problems else ""
    return CheckResult(name=name, passed=not problems, message=message, counts=dict(counts or {}))


def number(count: int, noun: str) -> str:
    """Return count and noun: ``1 table``, ``2 tables``, ``3 entries``."""
    if count == 1:
        return f"1 {noun}"
    return f"{count:,} {noun[:-1]}ies" if noun.endswith("y") else f"{count:,} {noun}s"


def named(noun: str, problem: str, items: Sequence[object]) -> Iterator[str]:
    """Return the problem with the number and names of the items that have it, if there are any."""
    if items:
        yield f"{number(len(items), noun)} {problem}: {some(items)}"


def some(items: Sequence[object]) -> str:
    """Return the first few items, each shortened to one line, and the number of the others."""
    shown = ", ".join(repr(short(str(item))) for item in items[:_NAMED])
    more = len(items) - _NAMED
    return f"{shown} and {more:,} more" if more > 0 else shown


def short(text: str) -> str:
    """Return the text on one line, shortened if it is long."""
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}..."
