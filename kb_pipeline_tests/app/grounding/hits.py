"""What a search found, as an answer's book takes it."""

from app.grounding.citations import CitationBook
from app.grounding.stream import Grounder
from kb_pipeline.records import Chunk, PageBreak, SearchHit


def hit(chunk_id: str, article_id: str, content: str = "", *images: str, source_url: str | None = None) -> SearchHit:
    """A hit in a chunk that shows these images."""
    chunk = Chunk(
        id=chunk_id,
        article_id=article_id,
        chunk_index=0,
        title=article_id.title(),
        section_header="Steps",
        heading_path=(article_id.title(), "Steps"),
        content=content,
        image_urls=tuple(f"{article_id}/images/{stem}.png" for stem in images),
        source_url=source_url,
        content_hash="h",
        converter="local-1",
        run_id="run-1",
    )
    return SearchHit(chunk=chunk, score=1.0, embedding_model="hashing")


def on_pages(chunk_id: str, filename: str, content: str, *breaks: tuple[int, int] | tuple[int, int, str]) -> SearchHit:
    """A hit in a document; each break is an offset in the content, the page that begins there, and its label."""
    found = hit(chunk_id, filename.partition(".")[0], content)
    pages = tuple(PageBreak(offset=at, page=page, label="".join(label)) for at, page, *label in breaks)
    return found.model_copy(
        update={"chunk": found.chunk.model_copy(update={"filename": filename, "page_breaks": pages})}
    )


def covering(confidence: float | None) -> SearchHit:
    """A hit that covers a question as well as that; ``None``: in an index that cannot tell."""
    scores = {"word_score": confidence, "weakest_word": confidence}
    return hit("1", "layers", "Crop it.").model_copy(update=scores)


def in_section(article_id: str, at: int, content: str = "Text.", *images: str, section: str = "Steps") -> SearchHit:
    """A hit in the passage that stands at this place of an article."""
    place = {"chunk_index": at, "section_header": section, "heading_path": (article_id.title(), section)}
    found = hit(f"{article_id}-{at}", article_id, content, *images)
    return found.model_copy(update={"chunk": found.chunk.model_copy(update=place)})


def book(*hits: SearchHit) -> CitationBook:
    """A book of these hits; without any, of three passages with images, links and an address."""
    made = CitationBook()
    made.add(
        hits
        or (
            hit("1", "layers", "See [GIMP](https://gimp.org/docs) or write to help@gimp.org.", "crop", "menu"),
            hit("2", "my printer", "Parts: https://print.example/a_(b).", "tray (1)", "menu"),
            hit("3", "toner", "Open the lid.", source_url="https://docs.example/toner"),
        )
    )
    return made


CROP = "/api/images/layers/images/crop.png"
MENU = "/api/images/layers/images/menu.png"
PRINTER_MENU = "/api/images/my%20printer/images/menu.png"
TRAY = "/api/images/my%20printer/images/tray%20%281%29.png"


def ground(text: str, citations: CitationBook) -> str:
    """A complete answer, checked against the passages."""
    grounder = Grounder(citations)
    return grounder.feed(text) + grounder.finish()
