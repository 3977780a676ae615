"""A made library of documents with known facts and readers, published straight to the index."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from kb_pipeline.flow.workspace import Workspace
from kb_pipeline.records import Chunk, DocumentEntry, DocumentSummary, PageBreak, Quoted
from kb_pipeline.search.base import IndexEntry
from kb_pipeline.settings import Settings

DATES = [f"2024-{month:02}-{day:02}" for month in range(1, 13) for day in (3, 17)]
TYPES = ("Manual", "Report", "Policy", "Invoice")
DEPARTMENTS = ("finance", "engineering", "support", "hr")
READERS: tuple[tuple[str, ...], ...] = (
    (),
    ("ann",),
    ("finance",),
    ("contoso",),
    ("group-hr", "group-it"),
    ("ann", "engineering"),
    ("nobody-here",),
)


@dataclass(frozen=True)
class Made:
    """A document with a section, a picture and a summary, whose words name it."""

    doc_id: str
    readers: tuple[str, ...] = ()
    document_type: str = "Manual"
    department: str = "support"
    upload_date: str = "2024-05-31"
    author: str = "Ann Lee"
    page_count: int = 3
    title: str = ""
    words: str = "the quarterly budget"
    filename: str = field(default="")

    @property
    def mark(self) -> str:
        """A word that stands nowhere else."""
        return f"sesame{self.doc_id.replace('-', '')}"

    def rows(self) -> Iterable[Chunk]:
        title = self.title or f"Guide {self.doc_id}"
        shared = {
            "article_id": self.doc_id,
            "title": title,
            "access_control_list": self.readers,
            "filename": self.filename or f"{self.doc_id}.pdf",
        }
        section = f"Open {self.mark} to see {self.words} of {title}."
        picture = f"A chart of {self.words}, {self.mark}."
        summary = f"{title} explains {self.words} with {self.mark}."
        yield _row(shared, 0, section, heading_path=(title, "Budget"), page_breaks=(PageBreak(offset=0, page=2),))
        yield _row(
            shared,
            1,
            picture,
            block_type="image",
            part_of=f"{self.doc_id}-0",
            image_urls=(f"{self.doc_id}/images/chart.png",),
            page_breaks=(PageBreak(offset=0, page=3),),
        )
        entry = DocumentEntry(
            filename=str(shared["filename"]),
            document_type=self.document_type,
            department=self.department,
            author=self.author,
            language="en",
            upload_date=self.upload_date,
            page_count=self.page_count,
            summary=DocumentSummary(
                brief=(Quoted(text=summary, page=1),), standard=((Quoted(text=summary), Quoted(text=section)),)
            ),
            headings=(Quoted(text="Budget", page=2),),
        )
        yield _row(shared, 2, f"{title}\n\n{summary}", block_type="document", document=entry)


def _row(shared: dict[str, object], number: int, content: str, **fields: object) -> Chunk:
    return Chunk.model_validate(
        {
            "id": f"{shared['article_id']}-{number}",
            "chunk_index": number,
            "section_header": "Budget",
            "heading_path": (str(shared["title"]),),
            "content": content,
            "content_hash": f"{shared['article_id']}-{number}",
            **shared,
            **fields,
        }
    )


def library(count: int = 200) -> list[Made]:
    """Documents with every combination of readers, and facts that repeat in cycles of their own."""
    return [
        Made(
            f"doc-{number:03}",
            readers=READERS[number % len(READERS)],
            document_type=TYPES[number % len(TYPES)],
            department=DEPARTMENTS[number // 3 % len(DEPARTMENTS)],
            upload_date=DATES[number * 5 % len(DATES)],
            author=("Ann Lee", "Bo O'Brien")[number % 2],
            page_count=number,
        )
        for number in range(count)
    ]


def publish(folder: Path, documents: Iterable[Made]) -> Settings:
    """A knowledge base of these documents."""
    settings = Settings(staging=str(folder / "staging"), home=str(folder / "home"), embedder="hashing")
    workspace = Workspace(settings)
    rows = [row for document in documents for row in document.rows()]
    passages = workspace.embedder.embed_passages([row.content for row in rows])
    articles: dict[str, list[IndexEntry]] = {}
    for row, passage in zip(rows, passages, strict=True):
        articles.setdefault(row.article_id, []).append(IndexEntry(row, (passage,)))
    workspace.index.publish(articles)
    workspace.catalog.switch(workspace.generation, at="2026-01-01T00:00:00+00:00")
    return settings
