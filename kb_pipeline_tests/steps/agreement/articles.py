"""Sections that state something."""

from kb_pipeline.records import Chunk


def section(text: str, title: str = "Passwords", article_id: str = "alpha", heading: str = "") -> Chunk:
    return Chunk(
        id=f"{article_id}-0",
        article_id=article_id,
        chunk_index=0,
        title=title,
        section_header=heading,
        heading_path=(title, heading) if heading else (title,),
        content=text,
        content_hash="h",
    )
