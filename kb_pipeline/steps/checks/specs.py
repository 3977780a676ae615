"""Every check by its name: which layer it judges, what it promises, and whether it stops publication.

A check stops publication where it is certain and readers would miss something; a guess only warns.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CheckSpec:
    """A check as people see it in Dagster: ``description`` says what holds when it passed."""

    name: str
    layer: str
    description: str
    blocking: bool = True


_SPECS = (
    CheckSpec("article_is_not_empty", "converted_markdown", "The article holds words or an image."),
    CheckSpec(
        "structure_is_preserved",
        "converted_markdown",
        "No heading, link, table, code block or large part of the text of the HTML is missing in the markdown.",
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
        "images_are_accounted_for",
        "serving_article",
        "Every content image is in article.md with its description and in the manifest, or a warning says why not.",
    ),
    CheckSpec(
        "chunk_sizes_are_in_bounds", "chunks", "No chunk is empty or longer than what the embedding model sees of it."
    ),
    CheckSpec(
        "chunks_cover_the_article",
        "chunks",
        "Every word and image of article.md is in a chunk, in order, under unique ids and consecutive numbers.",
    ),
    CheckSpec(
        "vectors_are_usable",
        "chunk_embeddings",
        "There is one finite vector of norm 1 and the right width for each chunk.",
    ),
    CheckSpec(
        "index_holds_the_chunks",
        "search_index",
        "The index holds exactly the article's chunks: none missing, stale or orphaned.",
    ),
)

CHECKS: dict[str, CheckSpec] = {spec.name: spec for spec in _SPECS}
"""All checks by name, in the order of the flow."""

BLOCKING: frozenset[str] = frozenset(spec.name for spec in _SPECS if spec.blocking)
"""The checks that stop publication unless the settings say otherwise."""
