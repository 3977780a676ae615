"""Passages as an answer finds them."""

from app.schema.passages import Citation, CitationOrigin

_ORIGIN = CitationOrigin(run_id="run", converter="c/1", content_hash="h", embedding_model="m")


def citation(
    passage: str, number: int = 1, title: str = "Guide", *headings: str, article_id: str = "guide"
) -> Citation:
    """A citation of this passage, which stands below these headings."""
    return Citation(
        number=number,
        chunk_id=f"{article_id}-{number}",
        article_id=article_id,
        title=title,
        section=headings[-1] if headings else title,
        heading_path=(title, *headings),
        passage=passage,
        score=1.0 if number == 1 else 0.89 - number / 1000,  # near to the first, but not as near
        origin=_ORIGIN,
    )


def image(stem: str, description: str = "A dialog.", article_id: str = "guide", indent: str = "") -> str:
    """The block of an image, its link as citations have it."""
    link = f"> **[Image: {stem}](/api/images/{article_id}/images/{stem}.png)**"
    return "\n".join(indent + line for line in (link, *(f"> {line}" for line in description.split("\n"))))
